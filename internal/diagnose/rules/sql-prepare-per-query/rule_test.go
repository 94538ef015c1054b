package sqlprepareperquery_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	sqlprepareperquery "github.com/hone-go/hone/internal/diagnose/rules/sql-prepare-per-query"
)

func TestRule(t *testing.T) { ruletest.Test(t, sqlprepareperquery.Rule()) }
