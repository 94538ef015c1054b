package sprintfsimple_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	sprintfsimple "github.com/hone-go/hone/internal/diagnose/rules/sprintf-simple"
)

func TestRule(t *testing.T) { ruletest.Test(t, sprintfsimple.Rule()) }
