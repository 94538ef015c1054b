package pointerperelement_test

import (
	"testing"

	pointerperelement "github.com/hone-go/hone/internal/diagnose/rules/pointer-per-element"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, pointerperelement.Rule()) }
