package wall_test

import (
	"slices"
	"testing"

	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

// TestCallersOfModules: waits in a module that the program depends on are reported with the lines
// that call it; those of the program's own lines, and of the module's own goroutines, have no
// caller.
func TestCallersOfModules(t *testing.T) {
	const lock = "sync.(*Mutex).Lock mutex.go:46;lib.(*Cache).Get /go/pkg/mod/lib@v1.2.3/cache.go:30;"
	data, err := tracetext.Assemble(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoCreate new_g=2 new_stack="main.f a.go:1"
GoCreate new_g=3 new_stack="main.f a.go:1"
GoCreate new_g=4 new_stack="main.f a.go:1"
GoCreate new_g=5 new_stack="main.f a.go:1"
GoStart g=2 g_seq=1
GoBlock reason_string="sync" stack="` + lock + `main.f a.go:7"
GoStart g=3 g_seq=1
GoBlock reason_string="sync" stack="` + lock + `main.g a.go:8"
GoStart g=4 g_seq=1
GoBlock reason_string="sync" stack="` + lock + `lib.loop /go/pkg/mod/lib@v1.2.3/cache.go:50"
GoStart g=5 g_seq=1
GoBlock reason_string="sync" stack="sync.(*Mutex).Lock mutex.go:46;main.f a.go:9"
GoUnblock dt=1000 g=2 g_seq=2
GoUnblock dt=1000 g=3 g_seq=2
GoUnblock dt=1000 g=4 g_seq=2
GoUnblock dt=1000 g=5 g_seq=2
`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int][]int{30: {8, 7}, 9: nil} // the longer wait first
	for _, w := range read(t, data).Blocking().Waits {
		var lines []int
		for _, c := range w.Callers {
			lines = append(lines, c.Line.Line)
			if c.Count != 1 || c.Seconds <= 0 || c.Seconds >= w.Seconds {
				t.Errorf("a caller of %v: %+v", w.Line, c)
			}
		}
		if callers, ok := want[w.Line.Line]; !ok || !slices.Equal(lines, callers) {
			t.Errorf("line %d is called at %v, want %v", w.Line.Line, lines, callers)
		}
		delete(want, w.Line.Line)
	}
	if len(want) != 0 {
		t.Errorf("no waits at %v", want)
	}
}
