package concatloop_test

import (
	"testing"

	concatloop "github.com/hone-go/hone/internal/diagnose/rules/concat-loop"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, concatloop.Rule()) }
