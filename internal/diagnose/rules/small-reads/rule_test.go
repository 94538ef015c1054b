package smallreads_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	smallreads "github.com/hone-go/hone/internal/diagnose/rules/small-reads"
)

func TestRule(t *testing.T) { ruletest.Test(t, smallreads.Rule()) }
