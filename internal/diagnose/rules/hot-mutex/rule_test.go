package hotmutex_test

import (
	"testing"

	hotmutex "github.com/hone-go/hone/internal/diagnose/rules/hot-mutex"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, hotmutex.Rule()) }
