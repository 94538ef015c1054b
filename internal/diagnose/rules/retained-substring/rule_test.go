package retainedsubstring_test

import (
	"testing"

	retainedsubstring "github.com/hone-go/hone/internal/diagnose/rules/retained-substring"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, retainedsubstring.Rule()) }
