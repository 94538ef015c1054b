package queryreparsed_test

import (
	"testing"

	queryreparsed "github.com/hone-go/hone/internal/diagnose/rules/query-reparsed"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, queryreparsed.Rule()) }
