package bufferthroughinterface_test

import (
	"testing"

	bufferthroughinterface "github.com/hone-go/hone/internal/diagnose/rules/buffer-through-interface"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, bufferthroughinterface.Rule()) }
