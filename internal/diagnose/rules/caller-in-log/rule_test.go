package callerinlog_test

import (
	"testing"

	callerinlog "github.com/hone-go/hone/internal/diagnose/rules/caller-in-log"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, callerinlog.Rule()) }
