package constantwork_test

import (
	"testing"

	constantwork "github.com/hone-go/hone/internal/diagnose/rules/constant-work"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, constantwork.Rule()) }
