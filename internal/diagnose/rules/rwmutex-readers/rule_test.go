package rwmutexreaders_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	rwmutexreaders "github.com/hone-go/hone/internal/diagnose/rules/rwmutex-readers"
)

func TestRule(t *testing.T) { ruletest.Test(t, rwmutexreaders.Rule()) }
