package closurebyref_test

import (
	"testing"

	closurebyref "github.com/hone-go/hone/internal/diagnose/rules/closure-by-ref"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, closurebyref.Rule()) }
