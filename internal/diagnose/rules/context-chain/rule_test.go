package contextchain_test

import (
	"testing"

	contextchain "github.com/hone-go/hone/internal/diagnose/rules/context-chain"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, contextchain.Rule()) }
