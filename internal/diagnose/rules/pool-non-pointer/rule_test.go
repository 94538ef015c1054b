package poolnonpointer_test

import (
	"testing"

	poolnonpointer "github.com/hone-go/hone/internal/diagnose/rules/pool-non-pointer"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, poolnonpointer.Rule()) }
