package flushpermessage_test

import (
	"testing"

	flushpermessage "github.com/hone-go/hone/internal/diagnose/rules/flush-per-message"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, flushpermessage.Rule()) }
