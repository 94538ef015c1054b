package deepequaltyped_test

import (
	"testing"

	deepequaltyped "github.com/hone-go/hone/internal/diagnose/rules/deepequal-typed"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, deepequaltyped.Rule()) }
