package readallknownsize_test

import (
	"testing"

	readallknownsize "github.com/hone-go/hone/internal/diagnose/rules/readall-known-size"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, readallknownsize.Rule()) }
