package regexpsimple_test

import (
	"testing"

	regexpsimple "github.com/hone-go/hone/internal/diagnose/rules/regexp-simple"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, regexpsimple.Rule()) }
