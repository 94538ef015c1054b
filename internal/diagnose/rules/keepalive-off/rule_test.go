package keepaliveoff_test

import (
	"testing"

	keepaliveoff "github.com/hone-go/hone/internal/diagnose/rules/keepalive-off"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, keepaliveoff.Rule()) }
