package largecopy_test

import (
	"testing"

	largecopy "github.com/hone-go/hone/internal/diagnose/rules/large-copy"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, largecopy.Rule()) }
