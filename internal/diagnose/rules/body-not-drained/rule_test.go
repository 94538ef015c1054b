package bodynotdrained_test

import (
	"testing"

	bodynotdrained "github.com/hone-go/hone/internal/diagnose/rules/body-not-drained"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, bodynotdrained.Rule()) }
