package wall_test

import (
	"testing"

	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

// TestCollectorIsNotALock has three goroutines wait at one line, two of them to start a collection,
// which the tracer reports with the same reason as a lock.
func TestCollectorIsNotALock(t *testing.T) {
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

// TestCollectorIsNotAChannel has a goroutine wait for a channel of the runtime while it starts a
// collection.
func TestCollectorIsNotAChannel(t *testing.T) {
	const start = `"runtime.chanrecv1 chan.go:506;runtime.gcBgMarkStartWorkers mgc.go:1417;runtime.gcStart mgc.go:752;runtime.mallocgc malloc.go:1064;main.f a.go:7"`
	const own = `"runtime.chanrecv1 chan.go:506;main.f a.go:8"`
	data, err := tracetext.Assemble(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoCreate new_g=2 new_stack="main.f a.go:1"
GoCreate new_g=3 new_stack="main.g a.go:20"
GoStart g=2 g_seq=1
GoBlock reason_string="chan receive" stack=` + start + `
GoStart g=3 g_seq=1
GoUnblock g=2 g_seq=2 stack="main.g a.go:21"
GoBlock reason_string="sleep" stack="main.g a.go:22"
GoStart g=2 g_seq=3
GoBlock reason_string="chan receive" stack=` + own + `
GoUnblock g=3 g_seq=2
GoStart g=3 g_seq=3
GoUnblock g=2 g_seq=4 stack="main.g a.go:23"
`)
	if err != nil {
		t.Fatal(err)
	}
	b := read(t, data).Blocking()
	objects := map[int]string{}
	for _, w := range b.Waits {
		if w.Reason == "chan receive" {
			objects[w.Line.Line] = w.Object
		}
	}
	if len(objects) != 2 || objects[7] != "collector" || objects[8] != "" {
		t.Errorf("waits over channels: %v, want that at 7 for the collector", objects)
	}
	if len(b.Handoffs) != 1 || b.Handoffs[0].Waiter.Line != 8 {
		t.Errorf("hand-offs %+v, want the program's own", b.Handoffs)
	}
}
