package rules_test

import (
	"testing"

	fewworkers "github.com/hone-go/hone/internal/diagnose/rules/few-workers"
)

func TestFewWorkersCaught(t *testing.T) {
	for _, archive := range []string{"caught", "lanes", "collector"} {
		queueCaught(t, fewworkers.Rule(), "few-workers/testdata/"+archive+".txtar")
	}
}

func TestFewWorkersNearMiss(t *testing.T) {
	queueNearMiss(t, fewworkers.Rule(), "few-workers/testdata/nearmiss.txtar", "few-workers/testdata/computes.txtar", "few-workers/testdata/even.txtar", "few-workers/testdata/news.txtar",
		"semaphore-wait/testdata/caught.txtar") // which another rule finds there
}
