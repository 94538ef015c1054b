package rules_test

import (
	"testing"

	falsesharing "github.com/hone-go/hone/internal/diagnose/rules/false-sharing"
)

func TestFalseSharingPrograms(t *testing.T) { hints(t, falsesharing.Rule()) }
