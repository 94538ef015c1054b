package jsontoany_test

import (
	"testing"

	jsontoany "github.com/hone-go/hone/internal/diagnose/rules/json-to-any"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, jsontoany.Rule()) }
