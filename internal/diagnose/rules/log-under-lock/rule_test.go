package logunderlock_test

import (
	"testing"

	logunderlock "github.com/hone-go/hone/internal/diagnose/rules/log-under-lock"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, logunderlock.Rule()) }
