package busyspin_test

import (
	"testing"

	busyspin "github.com/hone-go/hone/internal/diagnose/rules/busy-spin"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, busyspin.Rule()) }
