package sscansimple_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	sscansimple "github.com/hone-go/hone/internal/diagnose/rules/sscan-simple"
)

func TestRule(t *testing.T) { ruletest.Test(t, sscansimple.Rule()) }
