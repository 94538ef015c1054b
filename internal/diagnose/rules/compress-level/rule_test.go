package compresslevel_test

import (
	"testing"

	compresslevel "github.com/hone-go/hone/internal/diagnose/rules/compress-level"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, compresslevel.Rule()) }
