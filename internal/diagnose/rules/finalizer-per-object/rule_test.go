package finalizerperobject_test

import (
	"testing"

	finalizerperobject "github.com/hone-go/hone/internal/diagnose/rules/finalizer-per-object"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, finalizerperobject.Rule()) }
