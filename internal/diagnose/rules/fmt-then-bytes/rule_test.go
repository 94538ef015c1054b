package fmtthenbytes_test

import (
	"testing"

	fmtthenbytes "github.com/hone-go/hone/internal/diagnose/rules/fmt-then-bytes"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, fmtthenbytes.Rule()) }
