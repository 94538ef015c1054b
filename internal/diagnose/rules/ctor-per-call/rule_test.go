package ctorpercall_test

import (
	"testing"

	ctorpercall "github.com/hone-go/hone/internal/diagnose/rules/ctor-per-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, ctorpercall.Rule()) }
