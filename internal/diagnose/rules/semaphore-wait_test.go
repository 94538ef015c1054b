package rules_test

import (
	"testing"

	semaphorewait "github.com/hone-go/hone/internal/diagnose/rules/semaphore-wait"
)

func TestSemaphoreWaitCaught(t *testing.T) {
	for _, name := range []string{"caught", "methods", "tokens", "pool"} {
		t.Run(name, func(t *testing.T) { queueCaught(t, semaphorewait.Rule(), "semaphore-wait/testdata/"+name+".txtar") })
	}
}

func TestSemaphoreWaitNearMiss(t *testing.T) {
	queueNearMiss(t, semaphorewait.Rule(), "semaphore-wait/testdata/nearmiss.txtar", "semaphore-wait/testdata/news.txtar",
		"semaphore-wait/testdata/full.txtar", "semaphore-wait/testdata/mailbox.txtar", "semaphore-wait/testdata/underway.txtar", "pool-wait/testdata/caught.txtar") // another rule finds the last one there
}
