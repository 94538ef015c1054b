package analysis

import (
	"fmt"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Remark is a sentence about something that stands out.
type Remark struct {
	// Topic is the subject: serial, work-unit, handoff, convoy, scheduler, wakeup, gc, stop,
	// polling, spinning, leak, tail, p99, hazard.
	Topic string          `json:"topic"`
	Text  string          `json:"text"`
	Line  *exectrace.Line `json:"line,omitempty"`
	// View is the name of the analysis with more details.
	View string `json:"view,omitempty"`
}

// Thresholds for a remark. Values below them are normal. A remark points to a view; the rules that
// rank findings have their own thresholds.
const (
	serialShare    = 0.5   // of the time with something running
	smallUnit      = 10e-6 // seconds that a goroutine runs: starting and ending it costs about a tenth of that
	manySpawns     = 1000  // a second
	spawnCost      = 1e-6  // seconds to start and end a goroutine, about
	spawnShare     = 0.01  // of the time that goroutines ran: less is not worth a remark
	smallWork      = 2e-6  // seconds between hand-offs: about what two switches cost
	manyHandoffs   = 5000  // a second
	handoffCost    = 1e-6  // seconds, for both sides
	costlyHandoffs = 0.1   // of the time that goroutines ran
	longLatency    = 1e-3  // seconds at p99 from ready to running
	manyWakes      = 1000  // a second, of processors that were idle
	slowWake       = 2e-6  // mean seconds: a goroutine on the waker's own processor would start sooner
	muchWaking     = 0.3   // of the time that goroutines ran, and
	oftenWaking    = 0.2   // of the trace
	muchReady      = 0.1   // of the time of goroutines that run or are ready
	muchGC         = 0.25  // of the time, with a garbage collection in progress
	lowUtilization = 0.5   // in the worst 10 ms
	longStop       = 5e-3  // seconds
	manyPolls      = 100   // a second, by one line
	manyYields     = 50e3  // a second, at one line: at most 20 µs of work for each, on one processor
	manyLeft       = 1000  // goroutines of one go statement that did not end
	denseEvents    = 500e3 // events per second and processor: about 100 ns each, 5 % of the CPU time
	wasteful       = 0.15  // of the time of parallel regions, lost at their end
	minRegions     = 0.2   // of the trace, in such regions
)

func (r *Results) remarks() []Remark {
	var out []Remark
	for _, f := range []func() []Remark{
		r.tail, r.serial, r.units, r.handoffs, r.convoys, r.scheduler, r.wakes, r.collections, r.stops, r.tails, r.polls, r.yields, r.leaks, r.hazards,
	} {
		out = append(out, f()...)
	}
	return out
}

func remark(topic, view string, line exectrace.Line, format string, args ...any) Remark {
	m := Remark{Topic: topic, View: view, Text: fmt.Sprintf(format, args...)}
	if line != (exectrace.Line{}) {
		m.Line = &line
	}
	return m
}

func (r *Results) serial() []Remark {
	p := r.Parallelism
	if p.Procs < 2 || p.Length == 0 || len(p.Running) == 0 {
		return nil
	}
	active := p.Length - p.Running[0]
	if active <= 0 || p.Serial.Seconds < serialShare*active || active < p.Length/2 {
		return nil
	}
	if len(p.Serial.Lines) == 0 {
		return []Remark{remark("serial", "parallelism", exectrace.Line{}, "One goroutine ran alone for %s of the time, with %d processors to use.",
			units.Percent(p.Serial.Seconds/p.Length), p.Procs)}
	}
	top := p.Serial.Lines[0]
	return []Remark{remark("serial", "parallelism", top.Line,
		"One goroutine ran alone for %s of the time, with %d processors to use: most of it in %s (%s), started as %s.",
		units.Percent(p.Serial.Seconds/p.Length), p.Procs, symbol.Short(top.Line.Function), top.Line, symbol.Short(top.Entry))}
}

func (r *Results) units() []Remark {
	var out []Remark
	ran, _ := r.ranAndReady()
	many := max(manySpawns*max(r.Info.Length.Seconds(), 0.1), spawnShare*ran/spawnCost)
	for _, sp := range r.Spawns {
		if sp.MeanRun == nil || sp.Line.Standard() || *sp.MeanRun >= smallUnit || float64(sp.Ended) < many {
			continue
		}
		out = append(out, remark("work-unit", "goroutines", sp.Line,
			"%s goroutines started at %s ran %s each: starting and ending them costs about 1 µs apiece.",
			units.Count(sp.Ended), sp.Line, units.Seconds(*sp.MeanRun)))
	}
	return out
}

func (r *Results) handoffs() []Remark {
	length := r.Info.Length.Seconds()
	ran, _ := r.ranAndReady()
	var out []Remark
	seen := map[[2]string]bool{}
	for _, h := range r.Blocking.Handoffs {
		// A goroutine whose partner has much to do also runs little; its waits cost nothing then.
		if h.Work >= smallWork || float64(h.Count) < manyHandoffs*max(length, 0.1) || float64(h.Count)*handoffCost < costlyHandoffs*ran {
			continue
		}
		k := [2]string{h.Waiter.String(), h.Waker.String()}
		slices.Sort(k[:])
		if seen[k] {
			continue
		}
		seen[k] = true
		turns := ""
		if h.Mutual {
			turns = "; the two take turns"
		}
		out = append(out, remark("handoff", "blocking", h.Waiter,
			"%s times a goroutine waited for a channel at %s (%s) until %s woke it, and ran only %s in between%s: the hand-off costs more than the work.",
			units.Count(h.Count), h.Waiter, h.Reason, h.Waker, units.Seconds(h.Work), turns))
	}
	return out[:min(len(out), 3)]
}

func (r *Results) convoys() []Remark {
	var out []Remark
	for _, l := range r.Blocking.Locks {
		if !l.Convoy {
			continue
		}
		holder := "nobody known"
		if len(l.Holders) > 0 {
			holder = l.Holders[0].Line.String()
		}
		out = append(out, remark("convoy", "blocking", l.Waiters[0].Line,
			"Goroutines queue for the %s at %s%s: %s waited at a time (%d at most), %s of the time two or more; it was unlocked at %s, held %s at a time.",
			l.Kind, l.Waiters[0].Line, r.calledAt(&l), units.Number(l.Queue), l.Longest, units.Percent(l.Crowded), holder, units.Seconds(l.Hold)))
	}
	return out
}

// calledAt returns where the program calls the module that a lock is in, if the lock is in a
// module.
func (r *Results) calledAt(l *wall.Lock) string {
	for _, w := range r.Blocking.Waits {
		if w.Line == l.Waiters[0].Line && w.Object == l.Kind && len(w.Callers) > 0 {
			return ", called at " + w.Callers[0].Line.String()
		}
	}
	return ""
}

func (r *Results) scheduler() []Remark {
	p := r.Parallelism
	ran, ready := r.ranAndReady()
	if p.Saturated.P99 < longLatency || ready < muchReady*(ran+ready) {
		return nil
	}
	busy := p.MeanBusy / max(1, float64(p.Procs))
	why := "all processors were busy"
	if busy < 0.8 {
		why = fmt.Sprintf("though processors were busy for only %s of the time: bursts, or the machine gave the program less CPU than it asked for", units.Percent(busy))
	}
	return []Remark{remark("scheduler", "sched", exectrace.Line{},
		"Goroutines that could run waited for a processor: %s in all, half of them longer than %s, one in a hundred longer than %s; %s.",
		units.Seconds(ready), units.Seconds(p.Saturated.P50), units.Seconds(p.Saturated.P99), why)}
}

// wakes reports that waking idle processors takes long compared with the work.
func (r *Results) wakes() []Remark {
	p := r.Parallelism
	w := p.Wakeup
	ran := p.MeanRunning * p.Length
	if float64(w.Count) < manyWakes*max(p.Length, 0.1) || w.Total < slowWake*float64(w.Count) || w.Total < muchWaking*ran || w.Total < oftenWaking*p.Length {
		return nil
	}
	return []Remark{remark("wakeup", "sched", exectrace.Line{},
		"%s times a second a goroutine became ready while a processor was idle and had to be woken: they waited %s in all, half of them longer than %s, and goroutines ran for %s. Larger pieces of work would need fewer.",
		units.Count(int64(float64(w.Count)/p.Length)), units.Seconds(w.Total), units.Seconds(w.P50), units.Seconds(ran))}
}

// ranAndReady returns how long goroutines ran, and how long they were ready but did not run, in
// seconds.
func (r *Results) ranAndReady() (ran, ready float64) {
	for _, part := range r.Goroutines.Total {
		switch part.What {
		case "running", "gc assist", "gc sweep":
			ran += part.Seconds
		case "runnable":
			ready += part.Seconds
		}
	}
	return ran, ready
}

func (r *Results) collections() []Remark {
	gc := r.GC
	var out []Remark
	if gc.Share >= muchGC {
		out = append(out, remark("gc", "gc", exectrace.Line{}, "A garbage collection was in progress for %s of the time: %s a second, %s long each.",
			units.Percent(gc.Share), units.Number(gc.PerSecond), units.Seconds(gc.Seconds/float64(max(1, gc.Cycles)))))
	}
	for _, w := range gc.Utilization {
		if w.Length == 0.01 && w.Least < lowUtilization {
			out = append(out, remark("gc", "gc", exectrace.Line{}, "In the worst 10 ms (at %s) the program had %s of its processors, the collector the rest.",
				units.Seconds(w.At), units.Percent(w.Least)))
		}
	}
	return out
}

func (r *Results) stops() []Remark {
	var out []Remark
	for _, st := range r.GC.Stops {
		if st.Max < longStop {
			continue
		}
		late := ""
		if st.Late != (exectrace.Line{}) {
			late = fmt.Sprintf("; %s passed until the last goroutine stopped, at %s", units.Seconds(st.Stopping), st.Late)
		}
		out = append(out, remark("stop", "gc", st.Late, "The world was stopped for %s (%s)%s.", units.Seconds(st.Max), st.Reason, late))
	}
	return out
}

func (r *Results) tails() []Remark {
	p := r.Parallelism
	if p.Tails.Share < wasteful || p.Tails.Parallel < minRegions*p.Length || len(p.Tails.Lines) == 0 {
		return nil
	}
	l := p.Tails.Lines[0].Line
	return []Remark{remark("tail", "parallelism", l, "%s of the time of parallel regions is lost at their end, when most goroutines have no work left; the last one is then at %s.",
		units.Percent(p.Tails.Share), l)}
}

func (r *Results) polls() []Remark {
	var out []Remark
	length := max(r.Info.Length.Seconds(), 0.1)
	for _, p := range r.Blocking.Polls {
		if float64(p.Count) >= manyPolls*length && p.Work < p.Sleep/10 {
			out = append(out, remark("polling", "blocking", p.Line, "%s sleeps %s times a second, and only runs %s in between: if it checks whether something has happened, use a channel or sync.Cond instead of polling.",
				p.Line, units.Number(float64(p.Count)/length), units.Seconds(p.Work)))
		}
	}
	return out
}

// yields reports loops that yield their processor repeatedly: they wait for something that does not
// wake them.
func (r *Results) yields() []Remark {
	var out []Remark
	length := max(r.Info.Length.Seconds(), 0.1)
	for _, l := range r.Sched.Lines {
		if l.Why != wall.Yielded || l.Line.Standard() || float64(l.Count) < manyYields*length {
			continue
		}
		out = append(out, remark("spinning", "sched", l.Line, "%s gives up its processor (runtime.Gosched) %s times a second: if it waits for something, it keeps a processor busy; use a channel or sync.Cond instead of polling.",
			l.Line, units.Count(int64(float64(l.Count)/length))))
	}
	return out
}

func (r *Results) leaks() []Remark {
	var out []Remark
	for _, sp := range r.Spawns {
		if left := sp.Created - sp.Ended; left >= manyLeft && sp.Ended < sp.Created/10 {
			out = append(out, remark("leak", "goroutines", sp.Line, "%s of the %s goroutines started at %s in this trace had not ended.",
				units.Count(left), units.Count(sp.Created), sp.Line))
		}
	}
	return out
}

func (r *Results) hazards() []Remark {
	info := r.Info
	var out []Remark
	if length := info.Length.Seconds(); length > 0.1 && info.Procs > 0 {
		if rate := float64(info.Events) / length / float64(info.Procs); rate > denseEvents {
			out = append(out, remark("hazard", "", exectrace.Line{}, "%s events a second and processor: writing them takes about %s of the program's time, and makes short operations longer.",
				units.Count(int64(rate)), units.Percent(rate*100e-9)))
		}
	}
	return out
}

func goVersion(format int) string { return fmt.Sprintf("1.%d", format) }
