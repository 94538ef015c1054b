package gogc

import (
	"math"
	"slices"
)

// Observed is what a program did under its own setting, in a window: one or more runs of a program that ends, or a stretch of a service.
type Observed struct {
	GOGC  int     // percent; not positive: off
	Limit float64 // GOMEMLIMIT in bytes; 0: none
	// Runs are the cycles of each run, in order; of a service there is one, without what came before the window.
	Runs       [][]Cycle
	Ends       bool    // a program that ends: a run begins with an empty heap and faults its memory in
	AllocBytes float64 // allocated in the window, by all runs
	CPUSeconds float64 // of the process
	FaultCPU   float64 // seconds of CPU that a page fault takes
	Resident   float64 // peak, bytes
}

// Setting is a choice for the collector.
type Setting struct {
	GOGC  int     `json:"gogc"`                   // percent; 0: off
	Limit float64 `json:"gomemlimit_b,omitempty"` // bytes; 0: none
}

// Predicted is what a setting would do in the window.
type Predicted struct {
	CPUSeconds float64 // of the process
	GCSeconds  float64 // of which the collector's
	Cycles     float64
	Resident   float64 // peak, bytes
	Feasible   bool    // the live heap fits below the limit with some room
}

const (
	page = 4 << 10
	// limitUse is the part of GOMEMLIMIT that the heap may fill: the rest is stacks, metadata and what is free but not yet
	// returned (runtime/mgcpacer.go, memoryLimitHeapGoal, takes 3 % off, and all that is not heap).
	limitUse = 0.9
	// overhead is what a larger heap takes beyond its bytes: metadata, and blocks that are partly filled.
	overhead = 1.05
)

// Predict replays the window under another setting: the live heap is a function of the bytes allocated so far, the pacer's
// goal says after how many bytes the next cycle ends (runtime/mgcpacer.go), and a cycle costs what those that were
// observed cost, by the memory that it marks. What the collector's absence does to the rest of the program (caches,
// write barriers) is not in it.
func (o *Observed) Predict(s Setting) Predicted {
	own := o.replay(Setting{o.GOGC, o.Limit})
	gc, cycles := o.marking()
	p := o.replay(s)
	if own.Cycles > 0 && own.GCSeconds > 0 {
		// The replay of the program's own setting says by how much whole MiB, and what came between cycles, are off.
		p.GCSeconds *= gc / own.GCSeconds
		p.Cycles *= cycles / own.Cycles
	}
	p.CPUSeconds = o.CPUSeconds - gc + p.GCSeconds
	if o.Ends {
		p.CPUSeconds += float64(len(o.Runs)) * (p.Resident - own.Resident) / page * o.FaultCPU
	}
	p.CPUSeconds = max(p.CPUSeconds, 0)
	p.Resident = max(0, o.Resident+overhead*(p.Resident-own.Resident))
	return p
}

// marking is what the observed cycles took, and how many there were.
func (o *Observed) marking() (seconds, cycles float64) {
	for _, run := range o.Runs {
		for _, c := range run {
			seconds += c.CPU
			cycles++
		}
	}
	return seconds, cycles
}

// Live is the largest live heap that was seen.
func (o *Observed) Live() (most float64) {
	for _, run := range o.Runs {
		for _, c := range run {
			most = max(most, c.Live)
		}
	}
	return most
}

// Grown is the same program with so many times the live memory, all of which is marked.
func (o *Observed) Grown(times float64) *Observed {
	gc, _ := o.marking()
	grown := *o
	grown.CPUSeconds += (times - 1) * gc
	grown.Runs = nil
	for _, run := range o.Runs {
		more := slices.Clone(run)
		for i, c := range more {
			more[i].Live *= times
			more[i].End += more[i].Live - c.Live
			more[i].CPU *= times
		}
		grown.Runs = append(grown.Runs, more)
	}
	return &grown
}

// replay simulates all runs; Resident is the largest heap.
func (o *Observed) replay(s Setting) Predicted {
	p := Predicted{Feasible: true}
	fixed, each := o.cost()
	for _, run := range o.Runs {
		at, live := curve(run, o.Ends)
		total := o.AllocBytes / float64(len(o.Runs))
		if n := len(at); n > 0 {
			total = max(total, at[n-1])
		}
		scanned := 0.0
		for _, c := range run {
			scanned = max(scanned, c.Stacks+c.Globals)
		}
		x, now := 0.0, 0.0
		if !o.Ends && len(live) > 0 {
			now = live[0]
		}
		for n := 0; n < mostCycles; n++ {
			goal := goal(s, now, scanned)
			if s.Limit > 0 && goal < now*1.02 {
				p.Feasible = false
				goal = now * 1.02
			}
			if x+goal-now > total {
				p.Resident = max(p.Resident, now+total-x)
				break
			}
			p.Resident = max(p.Resident, goal)
			x += max(goal-now, 64<<10)
			now = interpolate(at, live, x)
			p.GCSeconds += fixed + each*(now+scanned)
			p.Cycles++
		}
	}
	return p
}

// mostCycles bounds a replay.
const mostCycles = 2_000_000

// goal is the heap at which the next cycle ends.
func goal(s Setting, live, scanned float64) float64 {
	next := math.Inf(1)
	if s.GOGC > 0 {
		percent := float64(s.GOGC) / 100
		next = max(LeastHeap*percent, live+(live+scanned)*percent)
	}
	if s.Limit > 0 {
		next = min(next, limitUse*s.Limit-scanned)
	}
	return next
}

// curve is the live heap by the bytes allocated before: at the end of each cycle of a run.
func curve(run []Cycle, ends bool) (at, live []float64) {
	x, before := 0.0, 0.0
	if ends {
		at, live = append(at, 0), append(live, 0)
	} else if len(run) > 0 {
		before = run[0].Live
		at, live = append(at, 0), append(live, before)
	}
	for i, c := range run {
		if i > 0 || ends {
			x += max(0, c.End-before)
			at, live = append(at, x), append(live, c.Live)
		}
		before = c.Live
	}
	return at, live
}

func interpolate(at, live []float64, x float64) float64 {
	if len(at) == 0 {
		return 0
	}
	i, _ := slices.BinarySearch(at, x)
	switch {
	case i == 0:
		return live[0]
	case i == len(at):
		return live[i-1]
	}
	if at[i] == at[i-1] {
		return live[i]
	}
	return live[i-1] + (live[i]-live[i-1])*(x-at[i-1])/(at[i]-at[i-1])
}

// cost is what a cycle takes: fixed, and for each byte that it marks or scans. It is fitted to the observed cycles by least squares, where
// they mark different amounts; else all of it is by the byte.
func (o *Observed) cost() (fixed, each float64) {
	var n, sx, sy, sxx, sxy float64
	for _, run := range o.Runs {
		for _, c := range run {
			x := c.Live + c.Stacks + c.Globals
			n, sx, sy, sxx, sxy = n+1, sx+x, sy+c.CPU, sxx+x*x, sxy+x*c.CPU
		}
	}
	if n == 0 || sx == 0 {
		return 0, 0
	}
	if spread := n*sxx - sx*sx; spread > 0.01*sx*sx {
		each = (n*sxy - sx*sy) / spread
		fixed = (sy - each*sx) / n
		if each > 0 && fixed >= 0 {
			return fixed, each
		}
	}
	return 0, sy / sx
}
