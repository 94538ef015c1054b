package timeformatnow_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	timeformatnow "github.com/hone-go/hone/internal/diagnose/rules/time-format-now"
)

func TestRule(t *testing.T) { ruletest.Test(t, timeformatnow.Rule()) }
