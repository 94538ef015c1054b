package rules_test

import (
	"testing"

	fewworkers "github.com/hone-go/hone/internal/diagnose/rules/few-workers"
)

func TestFewWorkersCaught(t *testing.T) {
	queueCaught(t, fewworkers.Rule(), "few-workers/testdata/caught.txtar")
}

func TestFewWorkersNearMiss(t *testing.T) {
	queueNearMiss(t, fewworkers.Rule(), "few-workers/testdata/nearmiss.txtar", "few-workers/testdata/computes.txtar",
		"semaphore-wait/testdata/caught.txtar") // which another rule finds there
}
