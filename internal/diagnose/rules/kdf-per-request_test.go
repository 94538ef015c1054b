package rules_test

import (
	"testing"

	kdfperrequest "github.com/hone-go/hone/internal/diagnose/rules/kdf-per-request"
)

func TestKDFPerRequestReports(t *testing.T) { hints(t, kdfperrequest.Rule()) }
