package timerinloop_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	timerinloop "github.com/hone-go/hone/internal/diagnose/rules/timer-in-loop"
)

func TestRule(t *testing.T) { ruletest.Test(t, timerinloop.Rule()) }
