package parallelism

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
)

// legal generates random legal sequences of events of a few goroutines.
type legal struct {
	*rand.Rand
	now    int64
	states [8]exectrace.State
	idle   [4]bool
	assist [8]bool
	stacks int
}

// next lists the transitions that a goroutine may make.
var next = map[exectrace.State][]struct {
	kind exectrace.Kind
	to   exectrace.State
}{
	exectrace.Unknown:  {{exectrace.GoCreate, exectrace.Runnable}, {exectrace.GoStatus, exectrace.Running}, {exectrace.GoStatus, exectrace.Waiting}},
	exectrace.Runnable: {{exectrace.GoStart, exectrace.Running}, {exectrace.GoStart, exectrace.Running}, {exectrace.GoSwitch, exectrace.Running}},
	exectrace.Running: {{exectrace.GoBlock, exectrace.Waiting}, {exectrace.GoStop, exectrace.Runnable},
		{exectrace.GoSyscallBegin, exectrace.Syscall}, {exectrace.GoDestroy, exectrace.Unknown}, {exectrace.GoSwitch, exectrace.Waiting}},
	exectrace.Syscall: {{exectrace.GoSyscallEnd, exectrace.Running}, {exectrace.GoSyscallEndLost, exectrace.Runnable}, {exectrace.GoDestroySyscall, exectrace.Unknown}},
	exectrace.Waiting: {{exectrace.GoUnblock, exectrace.Runnable}},
}

func (l *legal) event() exectrace.Event {
	l.now += 1 + l.Int64N(1<<(8+l.IntN(14)))
	e := exectrace.Event{Time: l.now, Since: l.Int64N(l.now), G: exectrace.GIndex(l.IntN(len(l.states))), P: l.Int32N(4)}
	switch rare := l.IntN(200); {
	case rare == 0:
		e.Kind, e.Value = exectrace.ProcsChange, uint64(1+l.IntN(4))
	case rare < 4:
		e.Kind = exectrace.GCBegin + exectrace.Kind(l.IntN(2))
	case rare < 8 && l.assist[e.G]:
		e.Kind = exectrace.GCMarkAssistEnd
		if l.IntN(3) == 0 { // it is still open when a generation starts
			e.Kind = exectrace.GCMarkAssistActive
		}
		l.assist[e.G] = e.Kind == exectrace.GCMarkAssistActive
	case rare < 8:
		e.Kind = exectrace.GCMarkAssistBegin
		l.assist[e.G] = true
	case rare < 20:
		e.Kind, e.To = exectrace.ProcStart, exectrace.Running
		if l.idle[e.P] = !l.idle[e.P]; l.idle[e.P] {
			e.Kind, e.To = exectrace.ProcStop, exectrace.Idle
		}
	case rare == 20 && l.IntN(20) == 0:
		e.Kind = exectrace.Gap
		l.states, l.assist = [8]exectrace.State{}, [8]bool{}
	default:
		from := &l.states[e.G]
		if *from == exectrace.Running {
			e.P = int32(e.G)
		}
		to := next[*from][l.IntN(len(next[*from]))]
		e.Kind, e.From, e.To, e.Stack = to.kind, *from, to.to, exectrace.StackID(l.IntN(l.stacks))
		if *from = to.to; to.to == exectrace.Unknown {
			e.To = exectrace.Gone
			l.assist[e.G] = false
		}
	}
	return e
}

// booked sums times event by event, directly by their definitions.
type booked struct {
	now, held, serial         int64
	ran, latest               int64 // the program's own work; since the last cycle
	marking                   bool
	busy                      map[int]int64
	full, draining            bool
	started, since, lost      int64
	regions, parallel, wasted int64
}

func (b *booked) pass(f *Fold, assist [8]bool, now int64) {
	d, from := now-b.now, b.now
	b.now = now
	running, lacking := f.running, f.running+f.workers < f.procs
	b.busy[running] += d
	works := running
	for g, helps := range assist {
		if helps && f.runs(exectrace.GIndex(g)) {
			works--
		}
	}
	b.latest += int64(works) * d
	if f.ready > 0 && lacking {
		b.held += d
	}
	if f.alone() {
		b.serial += d
	}
	switch {
	case f.procs < 2:
	case !lacking || running > 1 && f.ready > 0:
		if !b.full {
			b.full, b.started = true, from
		}
		b.draining, b.lost = false, 0
	case b.full:
		if !b.draining {
			b.draining, b.since = true, from
		}
		if running > 1 {
			b.lost += int64(f.procs-running-f.workers) * d
			return
		}
		if b.since-b.started >= minRegion {
			b.regions++
			b.parallel += from - b.started
			b.wasted += b.lost
		}
		b.full, b.draining, b.lost = false, false, 0
	}
}

// see takes an event after pass. Work since the last cycle is dropped at a gap.
func (b *booked) see(k exectrace.Kind) {
	switch {
	case k == exectrace.Gap:
		b.full, b.draining, b.lost = false, false, 0
		b.latest, b.marking = 0, false
	case k == exectrace.GCBegin:
		b.marking = true
	case k == exectrace.GCEnd && b.marking:
		b.ran += b.latest
		b.latest, b.marking = 0, false
	}
}

// checker compares at the end of a trace; random events use the trace's goroutines and stacks.
type checker struct{ *testing.T }

func (checker) Events(*exectrace.Trace, *exectrace.Block) {}

// End gives the same events to a fold in blocks, and one by one to a fold that takes each by move.
func (c checker) End(t *exectrace.Trace) {
	for seed := range uint64(20) {
		l := &legal{Rand: rand.New(rand.NewPCG(seed, 1)), stacks: t.Stacks()}
		var fast, slow Fold
		want := booked{busy: map[int]int64{}}
		for range 20 {
			events := make([]exectrace.Event, 1000)
			for i := range events {
				assist := l.assist
				events[i] = l.event()
				want.pass(&slow, assist, events[i].Time)
				want.see(events[i].Kind)
				if g := events[i].G; int(g) < len(slow.gs) {
					slow.gs[g].state |= foreign
				}
				slow.Events(t, &exectrace.Block{Events: events[i : i+1]})
			}
			fast.Events(t, &exectrace.Block{Events: events})
		}
		fast.record()
		slow.record()
		fast.settle()
		slow.settle()
		c.same(seed, &fast, &slow)
		c.booked(seed, &fast, &want)
	}
}

func (c checker) same(seed uint64, fast, slow *Fold) {
	c.Helper()
	a, b := *fast, *slow
	for _, f := range []*Fold{&a, &b} { // how they were computed may differ
		f.gs, f.cells, f.version = nil, nil, 0
		f.waits, f.latency = [2 * chunk]int64{}, [2][2 * chunk]int64{}
	}
	if !reflect.DeepEqual(a, b) {
		c.Errorf("seed %d: in blocks\n%+v\none by one\n%+v", seed, a, b)
	}
}

func (c checker) booked(seed uint64, f *Fold, want *booked) {
	c.Helper()
	busy := map[int]int64{}
	for k, d := range f.busy {
		busy[k] = d
	}
	maps.DeleteFunc(busy, func(_ int, d int64) bool { return d == 0 })
	if !maps.Equal(busy, want.busy) || f.held != want.held || f.serialTotal != want.serial {
		c.Errorf("seed %d: running %v, held %d, serial %d; want %v, %d, %d", seed, busy, f.held, f.serialTotal, want.busy, want.held, want.serial)
	}
	ran := f.marking.now[0].ran + f.marking.now[1].ran
	for _, g := range f.marking.groups {
		ran += g[0].ran + g[1].ran
	}
	if ran != want.ran+want.latest {
		c.Errorf("seed %d: the program's own work took %d ns, want %d", seed, ran, want.ran+want.latest)
	}
	if r := &f.tail; r.regions == 0 || r.regions != want.regions || r.parallel != want.parallel || r.wasted != want.wasted {
		c.Errorf("seed %d: %d regions of %d ns, %d ns lost; want %d, %d, %d", seed, r.regions, r.parallel, r.wasted, want.regions, want.parallel, want.wasted)
	}
}

// TestTurnsDoWhatMoveDoes asserts that both ways to take an event give the same result, and that
// the times equal those summed at each event.
func TestTurnsDoWhatMoveDoes(t *testing.T) {
	data := tracetest.Record(t, func() {})
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, checker{t}); err != nil {
		t.Fatal(err)
	}
}
