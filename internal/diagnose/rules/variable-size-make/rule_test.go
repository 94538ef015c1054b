package variablesizemake_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	variablesizemake "github.com/hone-go/hone/internal/diagnose/rules/variable-size-make"
)

func TestRule(t *testing.T) { ruletest.Test(t, variablesizemake.Rule()) }
