package quadraticinsert_test

import (
	"testing"

	quadraticinsert "github.com/hone-go/hone/internal/diagnose/rules/quadratic-insert"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, quadraticinsert.Rule()) }
