package wall_test

import (
	"testing"

	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

// TestHolderOfAQueue has three goroutines queue for a lock that a fourth one holds for long. Each
// is woken by the one before it, which held the lock for an instant.
func TestHolderOfAQueue(t *testing.T) {
	const lock = `"sync.(*Mutex).Lock mutex.go:46;main.f a.go:7"`
	const unlock = `"sync.(*Mutex).Unlock mutex.go:60;main.f a.go:9"`
	data, err := tracetext.Assemble(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoCreate new_g=2 new_stack="main.f a.go:1"
GoCreate new_g=3 new_stack="main.f a.go:1"
GoCreate new_g=4 new_stack="main.f a.go:1"
GoCreate new_g=5 new_stack="main.long a.go:20"
GoStart g=2 g_seq=1
GoBlock reason_string="sync" stack=` + lock + `
GoStart g=3 g_seq=1
GoBlock reason_string="sync" stack=` + lock + `
GoStart g=4 g_seq=1
GoBlock reason_string="sync" stack=` + lock + `
GoStart g=5 g_seq=1
GoUnblock dt=10000 g=2 g_seq=2 stack="sync.(*Mutex).Unlock mutex.go:60;main.long a.go:25"
GoBlock reason_string="sleep" stack="main.long a.go:22"
GoStart g=2 g_seq=3
GoUnblock dt=10 g=3 g_seq=2 stack=` + unlock + `
GoBlock reason_string="sleep" stack="main.f a.go:10"
GoStart g=3 g_seq=3
GoUnblock dt=10 g=4 g_seq=2 stack=` + unlock + `
`)
	if err != nil {
		t.Fatal(err)
	}
	b := read(t, data).Blocking()
	if len(b.Locks) != 1 || len(b.Locks[0].Holders) != 2 {
		t.Fatalf("locks %+v, want one with two holders", b.Locks)
	}
	l := b.Locks[0]
	if h := l.Holders[0]; h.Line.Line != 25 || h.Count != 1 || h.Seconds < 30000e-9 {
		t.Errorf("the first holder is %+v, want line 25, for which all three waited", h)
	}
	if h := l.Holders[1]; h.Line.Line != 9 || h.Count != 2 || h.Seconds > 100e-9 {
		t.Errorf("the second holder is %+v, want line 9, which ended two waits and held the lock for an instant", h)
	}
	if sum := l.Holders[0].Seconds + l.Holders[1].Seconds; sum < 0.999*l.Seconds || sum > 1.001*l.Seconds {
		t.Errorf("the holders' times add up to %g, want %g", sum, l.Seconds)
	}
}

// TestHolderThatWaits has two goroutines queue for a lock whose holder waits for another lock
// meanwhile. The second one is woken by the first, which held the lock for an instant.
func TestHolderThatWaits(t *testing.T) {
	const lock = `"sync.(*Mutex).Lock mutex.go:46;main.f a.go:7"`
	const unlock = `"sync.(*Mutex).Unlock mutex.go:60;main.f a.go:9"`
	data, err := tracetext.Assemble(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoCreate new_g=2 new_stack="main.f a.go:1"
GoCreate new_g=3 new_stack="main.f a.go:1"
GoCreate new_g=5 new_stack="main.long a.go:20"
GoCreate new_g=6 new_stack="main.inner a.go:30"
GoStart g=2 g_seq=1
GoBlock reason_string="sync" stack=` + lock + `
GoStart g=3 g_seq=1
GoBlock reason_string="sync" stack=` + lock + `
GoStart g=5 g_seq=1
GoBlock reason_string="sync" stack="sync.(*Mutex).Lock mutex.go:46;main.long a.go:23"
GoStart g=6 g_seq=1
GoUnblock dt=10000 g=5 g_seq=2 stack="sync.(*Mutex).Unlock mutex.go:60;main.inner a.go:35"
GoBlock reason_string="sleep" stack="main.inner a.go:36"
GoStart g=5 g_seq=3
GoUnblock dt=10 g=2 g_seq=2 stack="sync.(*Mutex).Unlock mutex.go:60;main.long a.go:25"
GoBlock reason_string="sleep" stack="main.long a.go:26"
GoStart g=2 g_seq=3
GoUnblock dt=10 g=3 g_seq=2 stack=` + unlock + `
GoBlock reason_string="sleep" stack="main.f a.go:10"
`)
	if err != nil {
		t.Fatal(err)
	}
	b := read(t, data).Blocking()
	if len(b.Locks) != 2 || len(b.Locks[0].Holders) != 2 {
		t.Fatalf("locks %+v, want two, the first with two holders", b.Locks)
	}
	if h := b.Locks[0].Holders[0]; h.Line.Line != 25 || h.Count != 1 || h.Seconds < 20000e-9 {
		t.Errorf("the first holder is %+v, want line 25, for which both waited", h)
	}
}
