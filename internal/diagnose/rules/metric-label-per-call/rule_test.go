package metriclabelpercall_test

import (
	"testing"

	metriclabelpercall "github.com/hone-go/hone/internal/diagnose/rules/metric-label-per-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, metriclabelpercall.Rule()) }
