package mapgrowth_test

import (
	"testing"

	mapgrowth "github.com/hone-go/hone/internal/diagnose/rules/map-growth"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, mapgrowth.Rule()) }
