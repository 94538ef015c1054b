package poolmiss_test

import (
	"testing"

	poolmiss "github.com/hone-go/hone/internal/diagnose/rules/pool-miss"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, poolmiss.Rule()) }
