package sqlopenpercall_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	sqlopenpercall "github.com/hone-go/hone/internal/diagnose/rules/sql-open-per-call"
)

func TestRule(t *testing.T) { ruletest.Test(t, sqlopenpercall.Rule()) }
