package binaryreflect_test

import (
	"testing"

	binaryreflect "github.com/hone-go/hone/internal/diagnose/rules/binary-reflect"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, binaryreflect.Rule()) }
