package smallwrites_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	smallwrites "github.com/hone-go/hone/internal/diagnose/rules/small-writes"
)

func TestRule(t *testing.T) { ruletest.Test(t, smallwrites.Rule()) }
