package literalpercall_test

import (
	"testing"

	literalpercall "github.com/hone-go/hone/internal/diagnose/rules/literal-per-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, literalpercall.Rule()) }
