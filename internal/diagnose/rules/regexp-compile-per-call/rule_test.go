package regexpcompilepercall_test

import (
	"testing"

	regexpcompilepercall "github.com/hone-go/hone/internal/diagnose/rules/regexp-compile-per-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, regexpcompilepercall.Rule()) }
