package workunittoosmall_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	workunittoosmall "github.com/hone-go/hone/internal/diagnose/rules/work-unit-too-small"
)

func TestRule(t *testing.T) { ruletest.TestTraced(t, workunittoosmall.Rule()) }
