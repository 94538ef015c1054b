package wall_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/wall"
)

func read(t *testing.T, data []byte) *wall.Fold {
	t.Helper()
	var f wall.Fold
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

// busyProgram waits for a little of everything that goroutines can wait for.
func busyProgram() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	items := make(chan int)
	for range 8 {
		wg.Go(func() {
			for n := range items {
				mu.Lock()
				runtime.KeepAlive(spin(n))
				mu.Unlock()
			}
		})
	}
	for i := range 400 {
		items <- i
	}
	close(items)
	wg.Wait()
	time.Sleep(2 * time.Millisecond)
}

func spin(n int) (sum int) {
	for i := range n * 100 {
		sum += i * i
	}
	return sum
}

// TestPartsSumToLifetime asserts that each nanosecond of each goroutine is in exactly one part.
func TestPartsSumToLifetime(t *testing.T) {
	stuck := make(chan int)
	go func() { <-stuck }() // waits during the whole trace, and when it ends
	defer close(stuck)
	f := read(t, tracetest.Record(t, busyProgram))
	g := f.Goroutines()
	if len(g.Groups) < 3 {
		t.Fatalf("%d groups", len(g.Groups))
	}
	var all float64
	for _, group := range g.Groups {
		var sum float64
		for _, p := range group.Parts {
			sum += p.Seconds
		}
		all += sum
		if math.Abs(sum-group.Seconds) > 1e-9 {
			t.Errorf("%s: parts are %.9f s, the lifetime %.9f s", group.Function, sum, group.Seconds)
		}
	}
	var total float64
	for _, p := range g.Total {
		total += p.Seconds
	}
	if math.Abs(total-all) > 1e-6 {
		t.Errorf("total is %.9f s, the groups' sum %.9f s", total, all)
	}
}

// TestCountsWhatTheProgramDid asserts counts that the program determines.
func TestCountsWhatTheProgramDid(t *testing.T) {
	f := read(t, tracetest.Record(t, busyProgram))
	var spawned *wall.Spawn
	for _, s := range f.Spawns() {
		if s.Line.Function == "github.com/hone-go/hone/exectrace/wall_test.busyProgram" {
			spawned = &s
		}
	}
	if spawned == nil || spawned.Created != 8 || spawned.Ended != 8 {
		t.Errorf("the go statement of busyProgram: %+v, want 8 created, 8 ended", spawned)
	}
	b := f.Blocking()
	kinds := map[string]bool{}
	for _, l := range b.Locks {
		kinds[l.Kind] = true
	}
	if !kinds["waitgroup"] {
		t.Errorf("locks: %v, want a waitgroup", kinds)
	}
	var slept bool
	for _, w := range b.Waits {
		if w.Reason == "sleep" && w.Line.Function == "github.com/hone-go/hone/exectrace/wall_test.busyProgram" {
			slept = true
			// Shorter than 2 ms if the thread loses its CPU between the call and the wait.
			if w.Count != 1 || w.Seconds <= 0 {
				t.Errorf("sleep: %d times, %.4f s", w.Count, w.Seconds)
			}
		}
	}
	if !slept {
		t.Error("the sleep is missing")
	}
	if len(b.Handoffs) == 0 {
		t.Error("no hand-off over the channel")
	}
}

// TestOpenWaitsCount asserts that a goroutine that is stuck when the trace ends is counted.
func TestOpenWaitsCount(t *testing.T) {
	stuck := make(chan int)
	data := tracetest.Record(t, func() {
		go waitFor(stuck)
		for !receives("wall_test.waitFor(") {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(5 * time.Millisecond)
	})
	close(stuck)
	for _, w := range read(t, data).Blocking().Waits {
		if w.Open == 1 && w.Reason == "chan receive" && w.Seconds > 0.004 {
			return
		}
	}
	t.Error("the goroutine that still waits is missing")
}

func waitFor(stuck <-chan int) { <-stuck }

// receives reports whether a goroutine waits for a channel in a function, as stacks name it.
func receives(function string) bool {
	all := make([]byte, 1<<20)
	for one := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(one, "[chan receive") && strings.Contains(one, function) {
			return true
		}
	}
	return false
}

// TestMutexConvoy asserts that a lock that everybody queues for is reported, with the line that
// unlocks it, and that a lock without a queue is not.
func TestMutexConvoy(t *testing.T) {
	convoy := func(workers int) *wall.Blocking {
		return read(t, tracetest.Record(t, func() {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for range 60 {
						mu.Lock()
						time.Sleep(100 * time.Microsecond)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
		})).Blocking()
	}
	var found bool
	for _, l := range convoy(8).Locks {
		if l.Kind == "mutex" && l.Convoy {
			found = true
			if len(l.Holders) == 0 || l.Holders[0].Line.Line == l.Waiters[0].Line.Line {
				t.Errorf("holders %+v, waiters %+v: want the line of Unlock, and that of Lock", l.Holders, l.Waiters)
			}
			if l.Queue < 2 || l.Longest < 4 {
				t.Errorf("mean queue %.1f, longest %d, with 8 workers that do nothing else", l.Queue, l.Longest)
			}
		}
	}
	if !found {
		t.Error("8 workers at one mutex: no convoy")
	}
	for _, l := range convoy(1).Locks {
		if l.Convoy {
			t.Errorf("one worker: convoy %+v", l)
		}
	}
}

// TestProfilesAgree asserts that the profiles show the same as the views.
func TestProfilesAgree(t *testing.T) {
	f := read(t, tracetest.Record(t, busyProgram))
	calls, err := f.Profile(wall.Calls)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := float64(calls.Total(1))/1e9, f.Syscalls().Seconds; math.Abs(got-want) > 1e-6 {
		t.Errorf("system calls: profile %.9f s, view %.9f s", got, want)
	}
	sched, err := f.Profile(wall.Latency)
	if err != nil {
		t.Fatal(err)
	}
	// Only the view has what has no stack (a goroutine that was ready when the trace started),
	// which may be most of it: the view shows it without a line.
	view := f.Sched()
	var want float64
	for _, l := range view.Lines {
		if l.Line != (exectrace.Line{}) {
			want += l.Seconds
		}
	}
	if want == 0 {
		t.Errorf("no line of the view %+v is known", view)
	}
	if got := float64(sched.Total(1)) / 1e9; math.Abs(got-want) > 1e-6 {
		t.Errorf("latency: profile %.9f s, known lines of the view %.9f s", got, want)
	}
}

// TestProfileOfAllTime asserts that the profile of goroutines has each group's lifetime below the
// function that it started with, and each kind of time.
func TestProfileOfAllTime(t *testing.T) {
	f := read(t, tracetest.Record(t, busyProgram))
	p, err := f.Profile(wall.Time)
	if err != nil {
		t.Fatal(err)
	}
	byRoot, byState := map[string]int64{}, map[string]int64{}
	for i, ns := range p.Values(1) {
		stack := p.Stack(i)
		lines := p.Locations[stack[len(stack)-1]].Lines
		byRoot[p.Functions[lines[len(lines)-1].Func].Name] += ns
		for _, l := range p.Labels(i) {
			if l.Key == "state" {
				byState[l.Str] += ns
			}
		}
	}
	g := f.Goroutines()
	compared := 0
	for _, group := range g.Groups {
		if ns, ok := byRoot[group.Function]; ok {
			compared++
			if math.Abs(float64(ns)/1e9-group.Seconds) > 1e-9 {
				t.Errorf("%s: profile %d ns, lifetime %.9f s", group.Function, ns, group.Seconds)
			}
		}
	}
	if compared < 3 || compared < len(g.Groups)-2 { // that of main.main is below runtime.main's
		t.Errorf("%d of %d groups are in the profile", compared, len(g.Groups))
	}
	parts := map[string]float64{}
	for _, x := range g.Total {
		parts[x.What] += x.Seconds
	}
	for what, want := range parts {
		if got := float64(byState[what]) / 1e9; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: profile %.9f s, view %.9f s", what, got, want)
		}
	}
}

// TestPollsSleepAgain distinguishes a loop that sleeps and polls from goroutines that sleep once
// before each thing that they wait for, and from goroutines that work after each sleep.
func TestPollsSleepAgain(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "ticks")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name  string
		run   func()
		polls bool
	}{
		{"a loop that looks again", func() {
			for range 40 {
				time.Sleep(100 * time.Microsecond)
			}
		}, true},
		{"a worker that sleeps once for each job", func() {
			jobs, done := make(chan int), make(chan int)
			go func() {
				for range jobs {
					time.Sleep(100 * time.Microsecond)
					done <- 1
				}
			}()
			for i := range 40 {
				jobs <- i
				<-done
			}
			close(jobs)
		}, false},
		{"ticks for a goroutine that waits", func() {
			ticks, done := make(chan int, 1), make(chan int)
			go func() {
				for range ticks {
				}
				close(done)
			}()
			for i := range 40 {
				time.Sleep(100 * time.Microsecond)
				ticks <- i
			}
			close(ticks)
			<-done
		}, false},
		{"lines written at a pace", func() {
			for range 40 {
				time.Sleep(100 * time.Microsecond)
				fmt.Fprintln(file, "tick")
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			polls := read(t, tracetest.Record(t, c.run)).Blocking().Polls
			switch {
			case !c.polls && len(polls) != 0:
				t.Errorf("polls: %+v", polls)
			case c.polls && (len(polls) != 1 || polls[0].Count != 40):
				t.Errorf("no poll of 40 sleeps: %+v", polls)
			}
		})
	}
}

// TestFinalizersAreThePrograms distinguishes what finalizers wait for from what the runtime's
// goroutine does between them.
func TestFinalizersAreThePrograms(t *testing.T) {
	type object struct{ next *object }
	ran := make(chan bool)
	f := read(t, tracetest.Record(t, func() {
		o := &object{}
		o.next = &object{}
		runtime.SetFinalizer(o, func(*object) {
			time.Sleep(3 * time.Millisecond)
			close(ran)
		})
		o = nil
		for {
			runtime.GC()
			select {
			case <-ran:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}))
	var slept float64
	for _, w := range f.Blocking().Waits {
		if w.Reason == "sleep" && strings.Contains(w.Line.Function, "TestFinalizersAreThePrograms") {
			slept += w.Seconds
		}
		if w.Line.OfRuntime() {
			t.Errorf("the runtime's wait at %s: %s, %.6f s", w.Line, w.Reason, w.Seconds)
		}
	}
	if slept <= 0 { // a wait starts a little after the call, which may be preempted before
		t.Error("blocking has nothing of the finalizer's sleep")
	}
	for _, g := range f.Goroutines().Groups {
		if want := strings.HasPrefix(g.Function, "runtime"); g.Runtime != want {
			t.Errorf("%s: the runtime's: %t", g.Function, g.Runtime)
		}
	}
}

func sleeper()  { time.Sleep(2 * time.Millisecond) }
func receiver() { <-time.After(2 * time.Millisecond) }

// TestFunctionsOfWaitGroupGo distinguishes goroutines that sync.WaitGroup.Go started, which all
// start with the same closure.
func TestFunctionsOfWaitGroupGo(t *testing.T) {
	f := read(t, tracetest.Record(t, func() {
		before := runtime.NumGoroutine()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(sleeper)
			wg.Go(receiver)
			wg.Go(func() {})
		}
		wg.Wait()
		for runtime.NumGoroutine() > before {
			runtime.Gosched() // Wait returns before the last goroutine has exited
		}
	}))
	const pkg = "github.com/hone-go/hone/exectrace/wall_test."
	reasons := map[string]string{pkg + "sleeper": "sleep", pkg + "receiver": "chan receive", "sync.(*WaitGroup).Go.func1 at wall/fold_test.go": ""}
	for _, g := range f.Goroutines().Groups {
		name := g.Function
		if i := strings.LastIndex(name, ".go:"); i > 0 {
			name = name[:i+len(".go")]
		}
		reason, ok := reasons[name]
		if !ok {
			if strings.Contains(name, "WaitGroup") {
				t.Errorf("a group of %q", g.Function)
			}
			continue
		}
		delete(reasons, name)
		if g.Created != 3 || g.Ended != 3 || len(g.Spawns) != 1 {
			t.Errorf("%s: %d created, %d ended, started at %+v", g.Function, g.Created, g.Ended, g.Spawns)
		}
		waited := slices.ContainsFunc(g.Parts, func(p wall.Part) bool { return p.What == "blocked" && p.Why == reason })
		if waited != (reason != "") {
			t.Errorf("%s: waited for %q: %t", g.Function, reason, waited)
		}
	}
	if len(reasons) > 0 {
		t.Errorf("no group of %v", reasons)
	}
}
