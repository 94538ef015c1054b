package consterror_test

import (
	"testing"

	consterror "github.com/hone-go/hone/internal/diagnose/rules/const-error"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, consterror.Rule()) }
