package formatthenappend_test

import (
	"testing"

	formatthenappend "github.com/hone-go/hone/internal/diagnose/rules/format-then-append"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, formatthenappend.Rule()) }
