package logargsboxed_test

import (
	"testing"

	logargsboxed "github.com/hone-go/hone/internal/diagnose/rules/log-args-boxed"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, logargsboxed.Rule()) }
