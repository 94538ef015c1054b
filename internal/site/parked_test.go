package site

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
)

// TestWaiting: goroutines are counted by the line of a module, with the most common wait and start.
func TestWaiting(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "goroutine", Unit: "count"})
	frame := func(function, file string, line int64) profile.FrameSpec {
		return profile.FrameSpec{Function: function, File: file, Line: line}
	}
	park := frame("runtime.gopark", "/go/src/runtime/proc.go", 5)
	send, recv := frame("runtime.chansend1", "/go/src/runtime/chan.go", 6), frame("runtime.chanrecv1", "/go/src/runtime/chan.go", 7)
	exit := frame("runtime.goexit", "/go/src/runtime/asm.s", 1)
	work, start := frame("main.work", "/src/app/a.go", 10), frame("main.main.func1", "/src/app/a.go", 3)
	b.Add([]profile.FrameSpec{park, send, work, start, exit}, 70)
	b.Add([]profile.FrameSpec{park, recv, work, frame("main.other", "/src/app/a.go", 4), exit}, 5)
	b.Add([]profile.FrameSpec{park, recv, frame("main.main", "/src/app/a.go", 1)}, 1)
	b.Add([]profile.FrameSpec{park, frame("runtime.bgsweep", "/go/src/runtime/mgcsweep.go", 5)}, 1)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Waiting(t.Context(), testIndex(t), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Function != "main.work" || got[0].Line != 10 || got[0].Count != 75 || got[0].Start.Function != "main.main.func1" || got[1].Count != 1 {
		t.Errorf("%+v", got)
	}
	if d := cmp.Diff([]string{"runtime.gopark", "runtime.chansend1"}, got[0].Wait); d != "" {
		t.Errorf("wait (-want +got):\n%s", d)
	}
	if got, err := Waiting(t.Context(), testIndex(t), nil); len(got) > 0 || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOpenBodies: a client's connection waits for a body in a select, and for the next response at
// the network.
func TestOpenBodies(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "goroutine", Unit: "count"})
	frame := func(function string) profile.FrameSpec {
		return profile.FrameSpec{Function: function, File: "/go/src/net/http/transport.go", Line: 5}
	}
	park, read, exit := frame("runtime.gopark"), frame("net/http.(*persistConn).readLoop"), frame("runtime.goexit")
	b.Add([]profile.FrameSpec{park, frame("runtime.selectgo"), read, exit}, 40)
	b.Add([]profile.FrameSpec{park, frame("internal/poll.runtime_pollWait"), frame("bufio.(*Reader).Peek"), read, exit}, 3)
	b.Add([]profile.FrameSpec{park, frame("runtime.selectgo"), frame("net/http.(*persistConn).writeLoop"), exit}, 43)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := OpenBodies(t.Context(), testIndex(t), p); n != 40 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := OpenBodies(t.Context(), testIndex(t), nil); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
