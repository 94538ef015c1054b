package deferinloop_test

import (
	"testing"

	deferinloop "github.com/hone-go/hone/internal/diagnose/rules/defer-in-loop"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, deferinloop.Rule()) }
