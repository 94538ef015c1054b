package heavyctorpercall_test

import (
	"testing"

	heavyctorpercall "github.com/hone-go/hone/internal/diagnose/rules/heavy-ctor-per-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, heavyctorpercall.Rule()) }
