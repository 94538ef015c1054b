package headerkeyform_test

import (
	"testing"

	headerkeyform "github.com/hone-go/hone/internal/diagnose/rules/header-key-form"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, headerkeyform.Rule()) }
