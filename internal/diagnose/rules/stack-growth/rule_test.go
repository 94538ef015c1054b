package stackgrowth_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	stackgrowth "github.com/hone-go/hone/internal/diagnose/rules/stack-growth"
)

func TestRule(t *testing.T) { ruletest.Test(t, stackgrowth.Rule()) }
