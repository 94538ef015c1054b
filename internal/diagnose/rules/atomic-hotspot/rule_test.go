package atomichotspot_test

import (
	"testing"

	atomichotspot "github.com/hone-go/hone/internal/diagnose/rules/atomic-hotspot"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, atomichotspot.Rule()) }
