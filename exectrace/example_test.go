package exectrace_test

import (
	"context"
	"fmt"
	"os"

	"github.com/hone-go/hone/exectrace"
)

// waits adds up how long goroutines waited, by reason. A fold needs nothing else: an event that
// ends a wait has the wait's start and reason.
type waits struct {
	count map[exectrace.Reason]int
	total map[exectrace.Reason]int64
}

func (w *waits) Events(t *exectrace.Trace, b *exectrace.Block) {
	for i := range b.Events {
		e := &b.Events[i]
		if e.From == exectrace.Waiting && e.To != e.From {
			w.count[e.Was]++
			w.total[e.Was] += e.Time - e.Since
		}
	}
}

// End counts the waits that last until the end of the trace.
func (w *waits) End(t *exectrace.Trace) {
	for _, g := range t.Live() {
		if g.State == exectrace.Waiting {
			w.total[g.Why] += t.Now() - g.Since
		}
	}
}

// A fold sees every event, in order, and adds up what it needs.
func Example() {
	f, err := os.Open("testdata/go1.23.4.trace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	w := &waits{count: map[exectrace.Reason]int{}, total: map[exectrace.Reason]int64{}}
	t, err := exectrace.Read(context.Background(), f, exectrace.Options{}, w)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("goroutines:", t.Info().Goroutines)
	fmt.Println("waits ended:", w.count[exectrace.WaitSleep], exectrace.WaitSleep)
	fmt.Println("waits ended:", w.count[exectrace.WaitChanReceive], exectrace.WaitChanReceive)
	// Output:
	// goroutines: 180
	// waits ended: 28 sleep
	// waits ended: 55 chan receive
}
