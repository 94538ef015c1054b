package stringbytescopy_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	stringbytescopy "github.com/hone-go/hone/internal/diagnose/rules/string-bytes-copy"
)

func TestRule(t *testing.T) { ruletest.Test(t, stringbytescopy.Rule()) }
