package foldcompare_test

import (
	"testing"

	foldcompare "github.com/hone-go/hone/internal/diagnose/rules/fold-compare"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, foldcompare.Rule()) }
