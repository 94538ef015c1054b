package replacerpercall_test

import (
	"testing"

	replacerpercall "github.com/hone-go/hone/internal/diagnose/rules/replacer-per-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, replacerpercall.Rule()) }
