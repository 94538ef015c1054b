package slicegrowth_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	slicegrowth "github.com/hone-go/hone/internal/diagnose/rules/slice-growth"
)

func TestRule(t *testing.T) { ruletest.Test(t, slicegrowth.Rule()) }
