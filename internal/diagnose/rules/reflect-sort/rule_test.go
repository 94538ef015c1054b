package reflectsort_test

import (
	"testing"

	reflectsort "github.com/hone-go/hone/internal/diagnose/rules/reflect-sort"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, reflectsort.Rule()) }
