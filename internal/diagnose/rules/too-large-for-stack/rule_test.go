package toolargeforstack_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	toolargeforstack "github.com/hone-go/hone/internal/diagnose/rules/too-large-for-stack"
)

func TestRule(t *testing.T) { ruletest.Test(t, toolargeforstack.Rule()) }
