package runtimework_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/runtimework"
)

func mains(f profile.Function) bool { return strings.HasPrefix(f.Name, "main.") }

func TestRuntimeWorkIsChargedToTheLineThatCausedIt(t *testing.T) {
	for _, c := range []struct {
		stack string // leaf first; the lines are numbered from 1
		work  runtimework.Kind
		line  string
	}{
		{"main.a main.main", runtimework.None, ""},
		{"strings.Index main.a", runtimework.None, ""},
		{"internal/bytealg.IndexByte strings.Index main.a", runtimework.None, ""},
		{"runtime.mallocgcSmallNoscan runtime.mallocgc runtime.growslice main.a main.main", runtimework.Allocation, "main.a:4"},
		{"runtime.memclrNoHeapPointers runtime.mallocgc runtime.makeslice main.a", runtimework.Allocation, "main.a:4"},
		{"runtime.memclrNoHeapPointers main.a", runtimework.Copying, "main.a:2"},
		{"runtime.memmove runtime.growslice bytes.growSlice main.a", runtimework.Copying, "main.a:4"},
		{"runtime.scanobject runtime.gcDrain runtime.gcAssistAlloc.func2 runtime.systemstack runtime.gcAssistAlloc runtime.mallocgc main.a", runtimework.Collection, "main.a:7"},
		{"runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker", runtimework.Collection, ""},
		{"runtime.futex runtime.notesleep runtime.stopm runtime.findRunnable runtime.schedule runtime.mcall", runtimework.Scheduling, ""},
		{"runtime.futex runtime.futexwakeup runtime.notewakeup runtime.startm runtime.ready runtime.semrelease1 sync.(*Mutex).Unlock main.a", runtimework.Scheduling, "main.a:8"},
		{"runtime.memhash64 internal/runtime/maps.(*Map).getWithKey runtime.mapaccess1 main.a", runtimework.Maps, "main.a:4"},
		{"runtime.procyield sync.(*Mutex).Lock main.a", runtimework.Locks, "main.a:3"},
		{"internal/runtime/syscall/linux.Syscall6 syscall.write internal/poll.(*FD).Write os.(*File).Write main.a", runtimework.SystemCalls, "main.a:5"},
		{"internal/runtime/syscall/linux.Syscall6 syscall.write net.(*netFD).Write net/http.(*conn).serve", runtimework.SystemCalls, "net.(*netFD).Write:3"},
		{"runtime.copystack runtime.newstack runtime.morestack main.a", runtimework.StackGrowth, "main.a:4"},
		{"runtime.convT main.a", runtimework.Other, "main.a:2"},
		{"runtime.sendFile main.a", runtimework.Other, "main.a:2"}, // not runtime.send
		// Only what is below the first frame outside of the runtime counts.
		{"main.b runtime.mallocgc main.a", runtimework.None, ""},
	} {
		b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
		var stack []profile.FrameSpec
		for i, f := range strings.Fields(c.stack) {
			stack = append(stack, profile.FrameSpec{Function: f, File: "x.go", Line: int64(i + 1)})
		}
		b.Add(stack, 10)
		p, err := b.Profile()
		if err != nil {
			t.Fatal(err)
		}
		got, err := runtimework.Of(p, 0, mains)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Groups) != 1 || got.Groups[0].Work != c.work || got.Groups[0].Value != 10 || got.Total != 10 {
			t.Errorf("%s: %+v, want %s", c.stack, got.Groups, c.work)
			continue
		}
		name, line, _ := strings.Cut(c.line, ":")
		switch rows := got.Groups[0].Rows; {
		case c.work == runtimework.None:
			if len(rows) != 0 {
				t.Errorf("%s: rows %v", c.stack, rows)
			}
		case len(rows) != 1 || rows[0].Name != name || name != "" && string(rune('0'+rows[0].Line)) != line:
			t.Errorf("%s: charged to %v, want %s", c.stack, rows, c.line)
		}
	}
}

func TestRuntimeWorkAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := profiletest.Drawn(t, "profile")
		got, err := runtimework.Of(p, 1, mains)
		if err != nil {
			t.Fatal(err)
		}
		if want := float64(p.Total(0)); math.Abs(got.Samples-want) > 1e-6*want {
			t.Errorf("%g samples, want %g", got.Samples, want)
		}
		var all int64
		for i, g := range got.Groups {
			all += g.Value
			if i > 0 && g.Value > got.Groups[i-1].Value {
				t.Errorf("order: %v", got.Groups)
			}
			var rows int64
			for _, r := range g.Rows {
				rows += r.Value
			}
			if g.Work != runtimework.None && rows != g.Value {
				t.Errorf("%s: rows add up to %d of %d", g.Work, rows, g.Value)
			}
		}
		if all != got.Total || all != p.Total(1) {
			t.Errorf("groups add up to %d, total %d of %d", all, got.Total, p.Total(1))
		}
	})
}

func BenchmarkRuntimeWork(b *testing.B) {
	p := profiletest.Decoded(b, profiletest.Walks(b, 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := runtimework.Of(p, 1, func(profile.Function) bool { return true }); err != nil {
			b.Fatal(err)
		}
	}
}
