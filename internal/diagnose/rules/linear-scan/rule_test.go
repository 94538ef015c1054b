package linearscan_test

import (
	"testing"

	linearscan "github.com/hone-go/hone/internal/diagnose/rules/linear-scan"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, linearscan.Rule()) }
