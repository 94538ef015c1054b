package templateparsepercall_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	templateparsepercall "github.com/hone-go/hone/internal/diagnose/rules/template-parse-per-call"
)

func TestRule(t *testing.T) { ruletest.Test(t, templateparsepercall.Rule()) }
