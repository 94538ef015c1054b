package wall_test

import (
	"math"
	"testing"

	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

// TestWakingsAreByWhoEndedTheWait has one line of main.g end the waits at two lines of main.f, a
// timer end a third, and leaves a fourth open.
func TestWakingsAreByWhoEndedTheWait(t *testing.T) {
	data, err := tracetext.Assemble(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoCreate new_g=2 new_stack="main.f a.go:1"
GoCreate new_g=3 new_stack="main.f a.go:1"
GoCreate new_g=4 new_stack="main.f a.go:1"
GoCreate new_g=5 new_stack="main.f a.go:1"
GoCreate new_g=6 new_stack="main.g a.go:2"
GoStart g=2 g_seq=1
GoBlock reason_string="chan receive" stack="main.f a.go:7"
GoStart g=3 g_seq=1
GoBlock reason_string="chan receive" stack="main.f a.go:8"
GoStart g=4 g_seq=1
GoBlock reason_string="sleep" stack="main.f a.go:9"
GoStart g=5 g_seq=1
GoBlock reason_string="chan receive" stack="main.f a.go:10"
GoUnblock dt=500 g=4 g_seq=2
GoStart g=6 g_seq=1
GoUnblock dt=1000 g=2 g_seq=2 stack="main.g a.go:20"
GoUnblock dt=1000 g=3 g_seq=2 stack="main.g a.go:20"
GoDestroy dt=10
`)
	if err != nil {
		t.Fatal(err)
	}
	f := read(t, data)
	w := f.Wakings()
	if len(w.Wakings) != 2 {
		t.Fatalf("%d wakers, want main.g and nobody: %+v", len(w.Wakings), w.Wakings)
	}
	g, nobody := w.Wakings[0], w.Wakings[1]
	if g.Line.Function != "main.g" || g.Line.Line != 20 || g.Count != 2 || len(g.Woken) != 2 || g.Woken[0].Line.Line != 8 {
		t.Errorf("main.g at line 20 ended two waits, the longer one at line 8: %+v", g)
	}
	if nobody.Line.Function != "" || nobody.Count != 1 || nobody.Woken[0].Reason != "sleep" {
		t.Errorf("the sleep ended by itself: %+v", nobody)
	}
	if w.OpenCount != 1 || w.OpenSeconds <= 0 {
		t.Errorf("one wait was open: %d, %g s", w.OpenCount, w.OpenSeconds)
	}
	all, sum := 0.0, w.OpenSeconds
	for _, x := range f.Blocking().Waits {
		all += x.Seconds
	}
	for _, x := range w.Wakings {
		sum += x.Seconds
	}
	if math.Abs(all-sum) > 1e-12 {
		t.Errorf("wakings and open waits sum to %g s, waits to %g s", sum, all)
	}
}
