package randsourcepercall_test

import (
	"testing"

	randsourcepercall "github.com/hone-go/hone/internal/diagnose/rules/rand-source-per-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, randsourcepercall.Rule()) }
