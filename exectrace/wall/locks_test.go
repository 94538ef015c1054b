package wall_test

import (
	"testing"

	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

// TestCollectorIsNoLock has three goroutines wait at one line, two of them to begin a collection, for which the
// tracer has the same word as for a lock.
func TestCollectorIsNoLock(t *testing.T) {
	const mutex = `"sync.(*Mutex).Lock mutex.go:46;main.f a.go:7"`
	const gc = `"runtime.semacquire sema.go:192;runtime.gcStart mgc.go:678;runtime.mallocgc malloc.go:1064;main.f a.go:7"`
	data, err := tracetext.Assemble(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoCreate new_g=2 new_stack="main.f a.go:1"
GoCreate new_g=3 new_stack="main.f a.go:1"
GoCreate new_g=4 new_stack="main.f a.go:1"
GoStart g=2 g_seq=1
GoBlock reason_string="sync" stack=` + gc + `
GoStart g=3 g_seq=1
GoBlock reason_string="sync" stack=` + mutex + `
GoStart g=4 g_seq=1
GoBlock reason_string="sync" stack=` + gc + `
GoUnblock dt=1000 g=2 g_seq=2
GoUnblock g=3 g_seq=2
GoUnblock g=4 g_seq=2
`)
	if err != nil {
		t.Fatal(err)
	}
	b := read(t, data).Blocking()
	counts := map[string]int64{}
	for _, w := range b.Waits {
		if w.Line.Line != 7 || w.Reason != "sync" {
			t.Errorf("a wait for %s at %v", w.Reason, w.Line)
		}
		counts[w.Object] += w.Count
	}
	if len(counts) != 2 || counts["mutex"] != 1 || counts["collector"] != 2 {
		t.Errorf("waits for %v, want one for a mutex and two for the collector", counts)
	}
	if len(b.Locks) != 1 {
		t.Fatalf("%d locks, want the mutex: %+v", len(b.Locks), b.Locks)
	}
	if l := b.Locks[0]; l.Kind != "mutex" || l.Count != 1 || l.Longest != 1 || l.Crowded != 0 || l.Seconds != 1003e-9 {
		t.Errorf("a lock is %+v, want a mutex that one goroutine waited 1003 ns for", l)
	}
}
