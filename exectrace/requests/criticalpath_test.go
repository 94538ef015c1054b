package requests

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"pgregory.net/rapid"
)

// story formats a path's segments: "100 running 70; 101 runnable: woken 20".
func story(p *Path) string {
	var parts []string
	for _, s := range p.Segments {
		text := fmt.Sprintf("%d %v %d", s.Goroutine, s.Part, s.Time)
		if s.Request != 0 {
			text += fmt.Sprintf(" of request %d", s.Request)
		}
		if s.Lost {
			text += " lost"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// contiguous checks that a path covers the time from its start to its end.
func contiguous(t failer, p *Path) {
	t.Helper()
	at, sum := p.Begin, int64(0)
	for _, s := range p.Segments {
		if p.LeftOut == 0 && s.Begin != at {
			t.Errorf("a segment begins at %d, the one before ended at %d", s.Begin, at)
		}
		at = s.Begin + s.Time
	}
	count := 0
	for _, s := range p.Steps {
		sum += s.Time
		count += s.Count
	}
	for _, s := range p.stretches {
		sum -= s.ns
		count -= int(s.n)
	}
	if sum != 0 || count != 0 {
		t.Errorf("the steps have %d ns and %d segments more than the profile", sum, count)
	}
	for _, s := range p.Steps {
		sum += s.Time
	}
	if sum != p.Length || p.LeftOut == 0 && at != p.Begin+p.Length {
		t.Errorf("a path of %d ns sums to %d and ends %d after its begin", p.Length, sum, at-p.Begin)
	}
}

// task starts a request that is a user task, so that its path has no frames of net/http.
func (f *fake) task(g exectrace.GIndex, id uint64) {
	f.mark(exectrace.TaskBegin, g, id, "main.job:1", "job")
}
func (f *fake) taskEnd(g exectrace.GIndex, id uint64) {
	f.mark(exectrace.TaskEnd, g, id, "main.job:9", "")
}

func (f *fake) runner(entry string) exectrace.GIndex {
	g := f.create(nobody, entry, "")
	f.start(g)
	return g
}

func pathOf(t *testing.T, f *fake, id int64) *Path {
	t.Helper()
	for _, q := range f.fold(Options{Paths: true, PathRecords: 1 << 10}).Result().Slowest {
		if q.ID == id {
			contiguous(t, q.Path)
			return q.Path
		}
	}
	t.Fatalf("request %d is not there", id)
	return nil
}

func TestPathGoesThroughAWorker(t *testing.T) {
	f := newFake()
	g, w := f.runner("main.job"), f.runner("main.worker")
	f.block(w, exectrace.WaitChanReceive, "runtime.chanrecv1 < main.worker:5")
	f.after(100)
	f.task(g, 1)
	f.after(10).wake(w, g, "runtime.chansend1 < main.job:3")
	f.after(5).block(g, exectrace.WaitChanReceive, "runtime.chanrecv1 < main.job:4")
	f.after(30).start(w)
	f.after(200).wake(g, w, "runtime.chansend1 < main.worker:7")
	f.after(40).start(g)
	f.after(8).taskEnd(g, 1)
	// The worker was woken by the request before that request blocked: its wait for a processor
	// counts from then.
	want := "100 running 11; 101 runnable: woken 37; 101 running 201; 100 runnable: woken 41; 100 running 9"
	if got := story(pathOf(t, f, 1)); got != want {
		t.Errorf("path is\n%s\nwant\n%s", got, want)
	}
}

func TestPathGoesThroughAChild(t *testing.T) {
	f := newFake()
	g := f.runner("main.job")
	f.task(g, 1)
	f.after(10)
	c := f.create(g, "main.job.func1", "main.job:3")
	f.after(5).block(g, exectrace.WaitSync, "sync.(*WaitGroup).Wait < main.job:4")
	f.after(30).start(c)
	f.after(50).block(c, exectrace.WaitNetwork, "net.(*conn).Read < main.job.func1:6")
	f.after(500).wake(c, nobody, "")
	f.after(6).start(c)
	f.after(7).wake(g, c, "sync.(*WaitGroup).Done < main.job.func1:7")
	f.after(1).start(g)
	f.taskEnd(g, 1)
	want := "100 running 11; 101 runnable: created 37; 101 running 51; 101 network 501; 101 runnable: woken 7; 101 running 8; 100 runnable: woken 2; 100 running 1"
	p := pathOf(t, f, 1)
	if got := story(p); got != want {
		t.Errorf("path is\n%s\nwant\n%s", got, want)
	}
	if got, want := p.Sentence(), "618 ns: 81 % main.job.func1 waiting for the network at main/code.go:6, 8 % main.job.func1 running up to main/code.go:6, 6 % waiting for a processor after its creation (created at main/code.go:3)"; got != want {
		t.Errorf("in words\n%s\nwant\n%s", got, want)
	}
}

func TestPathStopsAtAnotherRequest(t *testing.T) {
	f := newFake()
	a, b := f.runner("main.job"), f.runner("main.job")
	f.task(a, 1)
	f.task(b, 2)
	f.after(10).block(a, exectrace.WaitSync, lock+" < main.job:4")
	f.after(300).wake(a, b, "sync.(*Mutex).Unlock < main.job:6")
	f.after(20).start(a)
	f.taskEnd(a, 1)
	f.taskEnd(b, 2)
	p := pathOf(t, f, 1)
	if got, want := story(p), "100 running 12; 100 sync 301 of request 2; 100 runnable: woken 21; 100 running 1"; got != want {
		t.Errorf("path is\n%s\nwant\n%s", got, want)
	}
	if got := p.Steps[0].Text(); got != "main.job waiting for a sync.Mutex at main/code.go:4 (held by request 2, at main/code.go:6)" {
		t.Errorf("in words: %s", got)
	}
}

// The path follows the holder of a lock back to where the wait for the lock started, no further.
func TestPathReturnsToTheWaiter(t *testing.T) {
	f := newFake()
	g, h := f.runner("main.job"), f.runner("main.flush")
	f.task(g, 1)
	f.after(10).call(h, 40, "syscall.Write < main.flush:2")
	f.after(10).block(g, exectrace.WaitSync, lock+" < main.job:4")
	f.after(5).call(h, 60, "syscall.Write < main.flush:3")
	f.after(5).wake(g, h, "sync.(*Mutex).Unlock < main.flush:4")
	f.start(g)
	f.taskEnd(g, 1)
	want := "100 running 63; 101 running 6; 101 syscall 61; 101 running 6; 100 runnable: woken 1; 100 running 1"
	if got := story(pathOf(t, f, 1)); got != want {
		t.Errorf("path is\n%s\nwant\n%s", got, want)
	}
}

func TestPathSaysWhatItHasLost(t *testing.T) {
	f := newFake()
	g := f.runner("main.job")
	f.task(g, 1)
	for range 3000 {
		f.after(10).call(g, 10, "syscall.Write < main.job:3")
	}
	f.taskEnd(g, 1)
	p := pathOf(t, f, 1)
	if first := p.Segments[0]; !first.Lost || first.Begin != p.Begin {
		t.Errorf("begins with %+v", first)
	}
}

func TestPathOfARequestThatIsStuck(t *testing.T) {
	f := newFake()
	g := f.runner("main.job")
	f.task(g, 1)
	f.after(10).block(g, exectrace.WaitSync, lock+" < main.job:4")
	f.after(300)
	res := f.fold(Options{Paths: true}).Result()
	q := find(t, res, 1)
	if q == nil {
		t.Fatal("it is not kept")
	}
	contiguous(t, q.Path)
	if got, want := story(q.Path), "100 running 11; 100 sync 301"; got != want {
		t.Errorf("path is %s, want %s", got, want)
	}
}

// happen makes random events on a few connections, the first of which is the main goroutine's.
func (f *fake) happen(t *rapid.T) {
	stacks := []string{peek, firstRead, lock + handler, "runtime.chanrecv1" + handler, "main.read" + handler, flush, abort, "main.other", ""}
	reasons := []exectrace.Reason{exectrace.WaitNetwork, exectrace.WaitSync, exectrace.WaitChanReceive, exectrace.WaitSleep, exectrace.WaitCond, exectrace.WaitGCAssist}
	var gs []exectrace.GIndex
	for range rapid.IntRange(2, 5).Draw(t, "goroutines") {
		gs = append(gs, f.connection())
	}
	f.gs[gs[0]].ID = 1
	runs := func(g exectrace.GIndex) bool { return f.gs[g].State == exectrace.Running }
	for range rapid.IntRange(50, 400).Draw(t, "events") {
		f.after(rapid.Int64Range(0, 50).Draw(t, "time"))
		g := rapid.SampledFrom(gs).Draw(t, "goroutine")
		at := rapid.SampledFrom(stacks).Draw(t, "stack")
		switch f.gs[g].State {
		case exectrace.Running:
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				f.stop(g, at)
			case 1, 2:
				f.block(g, rapid.SampledFrom(reasons).Draw(t, "why"), at)
			case 3:
				f.gs[f.create(g, "net/http.(*connReader).backgroundRead", background)].State = exectrace.Waiting
			case 4:
				f.mark(exectrace.GCMarkAssistBegin, g, 0, "", "")
			case 5:
				f.mark(exectrace.GCMarkAssistEnd, g, 0, "", "")
			case 6:
				f.put(exectrace.Event{Kind: rapid.SampledFrom([]exectrace.Kind{exectrace.STWBegin, exectrace.STWEnd}).Draw(t, "world"), G: nobody, By: nobody, P: -1})
			case 7:
				f.put(exectrace.Event{Kind: exectrace.ProcStop, From: exectrace.Running, To: rapid.SampledFrom([]exectrace.State{exectrace.Idle, exectrace.Running}).Draw(t, "processor"), G: nobody, By: nobody})
			default:
				f.enter(g, at)
			}
		case exectrace.Runnable:
			f.start(g)
		case exectrace.Syscall:
			if rapid.Bool().Draw(t, "lost") {
				f.lose(g)
			} else {
				f.leave(g)
			}
		case exectrace.Waiting:
			by := rapid.SampledFrom(gs).Draw(t, "waker")
			if runs(by) {
				f.wake(g, by, at)
			} else {
				f.wake(g, nobody, "")
			}
		case exectrace.Gone:
		}
	}
}

// TestRunPathByParts: the path of the run is the same when few spells are kept at a time and the
// trace is read again for earlier ones.
func TestRunPathByParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFake()
		f.happen(t)
		want := f.fold(Options{Paths: true}).RunPath()
		contiguous(t, want)
		few := f.fold(Options{Paths: true, PathRecords: rapid.SampledFrom([]int{1, 64}).Draw(t, "records")})
		readings := 0
		for part := few.Earlier(); part != nil; part = few.Earlier() {
			if f.run(part, 7); readings > len(f.events) {
				t.Fatal("it does not come to an end")
			}
			readings++
		}
		got := few.RunPath()
		contiguous(t, got)
		if few.run.gaps == 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("after %d readings more it is\n%s\nwant\n%s", readings, story(got), story(want))
		}
	})
}

// TestRequestPathByParts: the same holds for the path of a request.
func TestRequestPathByParts(t *testing.T) {
	f := newFake()
	g, w := f.runner("main.job"), f.runner("main.worker")
	f.task(g, 1)
	for range 500 {
		f.block(w, exectrace.WaitChanReceive, "runtime.chanrecv1 < main.worker:5")
		f.after(10).wake(w, g, "runtime.chansend1 < main.job:3")
		f.after(5).block(g, exectrace.WaitChanReceive, "runtime.chanrecv1 < main.job:4")
		f.after(30).start(w)
		f.after(200).wake(g, w, "runtime.chansend1 < main.worker:7")
		f.after(40).start(g)
	}
	f.after(8).taskEnd(g, 1)
	f.task(g, 2)
	f.taskEnd(g, 2)
	want := find(t, f.fold(Options{Paths: true}).Result(), 1).Path
	few := Options{Paths: true, PathRecords: 128}
	if p := find(t, f.fold(few).Result(), 1).Path; !p.Lost() {
		t.Fatal("nothing is lost")
	}
	few.PathOf = 1
	fold := f.fold(few)
	if !fold.Done() {
		t.Error("it reads on behind the request")
	}
	for part := fold.Earlier(); part != nil; part = fold.Earlier() {
		f.run(part, 7)
	}
	if got := fold.RunPath(); !reflect.DeepEqual(got, want) || got.Lost() {
		t.Errorf("it is\n%s\nwant\n%s", story(got), story(want))
	}
}

// Whatever happens on connections, times and paths add up.
func TestTimesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFake()
		f.happen(t)
		fold := f.fold(Options{Paths: true, PathRecords: rapid.SampledFrom([]int{1, 1 << 12}).Draw(t, "records"), Slowest: 1000})
		res := fold.Result()
		if int(res.Count) != len(res.Slowest) {
			t.Errorf("%d requests, but %d are kept", res.Count, len(res.Slowest))
		}
		for _, q := range res.Slowest {
			sums(t, q)
			contiguous(t, q.Path)
		}
		for _, q := range res.Open {
			sums(t, q)
			contiguous(t, q.Path)
		}
		var routes int64
		for _, r := range res.Routes {
			routes += r.Time
		}
		if res.All != nil && routes != res.All.Time {
			t.Errorf("routes take %d ns, all requests %d", routes, res.All.Time)
		}
	})
}
