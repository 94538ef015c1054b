package loopinvariantcall_test

import (
	"testing"

	loopinvariantcall "github.com/hone-go/hone/internal/diagnose/rules/loop-invariant-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, loopinvariantcall.Rule()) }
