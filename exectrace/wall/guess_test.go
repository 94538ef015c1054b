package wall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

// TestInterruptedGoroutines: a goroutine from before the trace gets its name from the first stack
// that includes the function it started with, even a stack of a wake-up. Without such a stack, the
// best available one names it.
func TestInterruptedGoroutines(t *testing.T) {
	const hash = `"runtime.asyncPreempt2 preempt.go:9;runtime.asyncPreempt preempt.s:9;main.hash h.go:5"`
	const deep = `"runtime.asyncPreempt2 preempt.go:9;runtime.asyncPreempt preempt.s:9;main.hash h.go:5;main.block h.go:15;main.file h.go:25;main.worker h.go:35"`
	const sent = `"runtime.chansend1 chan.go:161;main.worker h.go:36"`
	for _, c := range []struct{ name, then, want string }{
		{"it blocks later", `GoBlock dt=10 reason_string="chan send" stack=` + sent, "main.worker"},
		{"it wakes another", "GoUnblock dt=10 g=3 g_seq=1 stack=" + sent + "\nGoDestroy dt=10", "main.worker"},
		{"it is interrupted with its callers", `GoStop dt=10 reason_string="preempted" stack=` + deep, "main.worker"},
		{"there is nothing better", `GoStop dt=10 reason_string="preempted" stack=` + hash, "main.hash"},
		{"it ends", "GoDestroy dt=10", "main.hash"},
	} {
		data, err := tracetext.Assemble(fmt.Sprintf(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoStatus g=2 m=1 gstatus=2
GoStatus g=3 m=0 gstatus=4
GoStop dt=1000 reason_string="preempted" stack=%[1]s
GoStart dt=10 g=2 g_seq=1
GoStop dt=1000 reason_string="preempted" stack=%[1]s
GoStart dt=10 g=2 g_seq=2
%[2]s
`, hash, c.then))
		if err != nil {
			t.Fatal(err)
		}
		var seen bool
		for _, g := range read(t, data).Goroutines().Groups {
			if g.Found == 0 {
				t.Errorf("%s: a group of nobody: %+v", c.name, g)
			}
			if g.Function == "(unknown)" || g.Function == "" { // goroutine 3
				continue
			}
			seen = true
			var sum float64
			for _, p := range g.Parts {
				sum += p.Seconds
			}
			if g.Function != c.want || g.Found != 1 || sum < g.Seconds-1e-12 || sum > g.Seconds+1e-12 {
				t.Errorf("%s: %+v, want one of %s whose parts are its time", c.name, g, c.want)
			}
		}
		if !seen {
			t.Errorf("%s: no group has a name", c.name)
		}
	}
}

// TestPreemptedAtManyPlaces: a goroutine without a complete stack keeps its time, at however many
// instructions it is preempted, each with a stack of its own.
func TestPreemptedAtManyPlaces(t *testing.T) {
	const places = 300
	var text strings.Builder
	text.WriteString("trace 26\ngeneration 1\nthread 1 time=100\nProcStatus p=0 pstatus=1\nGoStatus g=2 m=1 gstatus=2\n")
	for i := range places {
		fmt.Fprintf(&text, `GoStop dt=1000 reason_string="preempted" stack="runtime.asyncPreempt2 preempt.go:9;runtime.asyncPreempt preempt.s:9;main.hash h.go:%d"
GoStart dt=10 g=2 g_seq=%d
`, i+1, i+1)
	}
	data, err := tracetext.Assemble(text.String())
	if err != nil {
		t.Fatal(err)
	}
	groups := read(t, data).Goroutines().Groups
	if len(groups) != 1 || groups[0].Function != "main.hash" || groups[0].Found != 1 {
		t.Fatalf("%+v, want one group of main.hash", groups)
	}
	var sum float64
	for _, p := range groups[0].Parts {
		sum += p.Seconds
	}
	if g := groups[0]; sum < g.Seconds-1e-12 || sum > g.Seconds+1e-12 {
		t.Errorf("parts of %v s, a lifetime of %v s", sum, g.Seconds)
	}
}
