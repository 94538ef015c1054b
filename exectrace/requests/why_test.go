package requests

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// slowTail makes 1000 requests on a connection; every 50th waits for a lock.
func slowTail() *fake {
	f := newFake()
	g, holder := f.connection(), f.runner("main.hold")
	for i := range 1000 {
		f.arrive(g, peek)
		f.after(100_000).stop(g, "main.loop:12"+handler)
		f.after(1_000).start(g)
		if i%50 == 49 {
			f.after(5).block(g, exectrace.WaitSync, lock+" < main.(*store).get:41"+handler)
			f.after(7_000_000).wake(g, holder, "sync.(*Mutex).Unlock < main.(*store).put:58 < main.hold")
			f.after(2_000_000).start(g)
		}
		f.answer(g)
	}
	f.call(g, 10, peek)
	f.block(g, exectrace.WaitNetwork, peek)
	return f
}

func TestWhySlowRequestsAreSlow(t *testing.T) {
	res := slowTail().fold(Options{}).Result()
	if res.Count != 1000 || len(res.Routes) != 1 {
		t.Fatalf("%d requests, %d routes", res.Count, len(res.Routes))
	}
	want := "p99 is 9.08 ms, 8.98 ms more than the median: 78 % of the difference is waiting for a sync.Mutex" +
		" at main/code.go:41 (released at main/code.go:58), 22 % waiting for a processor after a wake-up (none was idle)"
	w := res.Routes[0].Why
	if got := w.Sentence(); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
	var difference float64
	for _, c := range w.Causes {
		difference += c.difference()
	}
	if math.Abs(difference-(w.SlowMean-w.MedianMean)) > 1 {
		t.Errorf("causes explain %g ns of %g", difference, w.SlowMean-w.MedianMean)
	}
	text, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || string(again) != string(text) {
		t.Errorf("what JSON says is read back as something else (%v)", err)
	}
}

func TestTheSameTraceGivesTheSameResult(t *testing.T) {
	var first []byte
	for range 3 {
		res, err := json.Marshal(slowTail().fold(Options{Paths: true}).Result())
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = res
		}
		for i := range min(len(res), len(first)) {
			if res[i] != first[i] {
				t.Fatalf("it differs from run to run:\n%s\n%s", around(first, i), around(res, i))
			}
		}
	}
}

func around(text []byte, i int) []byte { return text[max(0, i-200):min(len(text), i+100)] }

func TestSlowRequestsLikeTheOthers(t *testing.T) {
	f := newFake()
	g := f.connection()
	for range 100 {
		f.arrive(g, peek)
		f.after(100_000)
		f.answer(g)
	}
	w := f.fold(Options{}).Result().All.Why
	if got, want := w.Sentence(), "p99 is 100 µs, about the median (100 µs): nothing sets the slow requests apart"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	few := newFake()
	g = few.connection()
	few.arrive(g, peek)
	few.answer(g)
	if w := few.fold(Options{}).Result().All; w != nil && w.Why != nil {
		t.Errorf("one request is explained: %v", w.Why)
	}
}

func TestReadyWithAndWithoutIdleProcessors(t *testing.T) {
	f := newFake()
	proc := func(k exectrace.Kind, p int32, from, to exectrace.State) {
		f.put(exectrace.Event{Kind: k, P: p, From: from, To: to, G: nobody, By: nobody})
	}
	proc(exectrace.ProcStatus, 0, exectrace.Unknown, exectrace.Running)
	proc(exectrace.ProcStatus, 1, exectrace.Unknown, exectrace.Running)
	g := f.connection()
	f.arrive(g, firstRead)
	f.after(10).stop(g, "main.loop"+handler)
	f.after(100)
	proc(exectrace.ProcStop, 1, exectrace.Running, exectrace.Idle)
	f.after(300)
	proc(exectrace.ProcStart, 1, exectrace.Idle, exectrace.Running)
	f.after(20).start(g)
	f.answer(g)
	f.call(g, 10, peek)
	q := one(t, f)
	got := map[bool]int64{}
	for _, w := range q.Waits {
		if w.Part == ReadyPreempted {
			got[w.NoIdle] += w.Time
		}
	}
	if got[false] != 301 || got[true] != 122 {
		t.Errorf("ready for %d ns beside an idle processor, %d ns without; want 301 and 122", got[false], got[true])
	}
	sums(t, q)
}

func TestCPUSamplesByRoute(t *testing.T) {
	f := newFake()
	sample := func(g exectrace.GIndex, at string) {
		f.put(exectrace.Event{Kind: exectrace.CPUSample, G: g, By: g, Stack: f.stack(at)})
	}
	g, other := f.connection(), f.runner("main.other")
	f.arrive(g, firstRead)
	sample(g, "main.loop"+handler)
	c := f.create(g, "main.handle.func1", "main.handle:8")
	f.start(c)
	sample(c, "main.handle.func1")
	sample(other, "main.other")
	f.answer(g)
	sample(g, "main.loop"+handler) // after the response was written
	f.call(g, 10, peek)
	sample(c, "main.handle.func1") // outlives its request
	f.block(g, exectrace.WaitNetwork, peek)
	cpu := f.fold(Options{}).CPU()
	if cpu.Samples != 5 || cpu.Outside != 3 || len(cpu.Routes) != 1 {
		t.Fatalf("%+v", cpu)
	}
	if r := cpu.Routes[0]; r.Name != "main.handle" || r.Samples != 2 || r.PerRequest != 2 || r.Share != 0.4 {
		t.Errorf("%+v", r)
	}
}

func TestSlowestAreKept(t *testing.T) {
	res := slowTail().fold(Options{Slowest: 7}).Result()
	if len(res.Slowest) != 7 {
		t.Fatalf("%d are kept", len(res.Slowest))
	}
	for i, q := range res.Slowest {
		if q.Latency < 9_000_000 || i > 0 && q.Latency > res.Slowest[i-1].Latency {
			t.Errorf("place %d has %d ns", i, q.Latency)
		}
	}
}

func TestDurationsHaveThreeDigits(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		want string
	}{{0, "0 ns"}, {7, "7 ns"}, {999, "999 ns"}, {1000, "1.00 µs"}, {18_240, "18.2 µs"}, {999_600, "1.00 ms"}, {182_400_000, "182 ms"}, {61_000_000_000, "61.0 s"}} {
		if got := Duration(c.ns); got != c.want {
			t.Errorf("%d is %q, want %q", c.ns, got, c.want)
		}
	}
}

func TestEveryPartHasAName(t *testing.T) {
	seen := map[string]bool{}
	for p := range numParts {
		if name := p.String(); name == "" || seen[name] || strings.TrimSpace(doing(p, "")) == "" {
			t.Errorf("part %d is %q, %q", p, name, doing(p, ""))
		}
		seen[p.String()] = true
	}
}
