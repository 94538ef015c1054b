package stackinerrors_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	stackinerrors "github.com/hone-go/hone/internal/diagnose/rules/stack-in-errors"
)

func TestRule(t *testing.T) { ruletest.Test(t, stackinerrors.Rule()) }
