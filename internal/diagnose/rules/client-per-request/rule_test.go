package clientperrequest_test

import (
	"testing"

	clientperrequest "github.com/hone-go/hone/internal/diagnose/rules/client-per-request"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, clientperrequest.Rule()) }
