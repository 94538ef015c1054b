package runeslicerange_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	runeslicerange "github.com/hone-go/hone/internal/diagnose/rules/rune-slice-range"
)

func TestRule(t *testing.T) { ruletest.Test(t, runeslicerange.Rule()) }
