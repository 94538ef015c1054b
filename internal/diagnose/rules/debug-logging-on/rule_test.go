package debugloggingon_test

import (
	"testing"

	debugloggingon "github.com/hone-go/hone/internal/diagnose/rules/debug-logging-on"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, debugloggingon.Rule()) }
