package unbufferedlog_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	unbufferedlog "github.com/hone-go/hone/internal/diagnose/rules/unbuffered-log"
)

func TestRule(t *testing.T) { ruletest.Test(t, unbufferedlog.Rule()) }
