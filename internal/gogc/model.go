package gogc

import (
	"cmp"
	"math"
	"slices"
)

// Observed is what a program did under its own setting in a window: one or more runs of a program
// that exits, or an interval of a service.
type Observed struct {
	GOGC  int     // percent; not positive: off
	Limit float64 // GOMEMLIMIT in bytes; 0: none
	// Runs are the cycles of each run, in order. A service has one run, without the cycles before
	// the window.
	Runs       [][]Cycle
	Ends       bool    // a program that exits: a run starts with an empty heap and page faults its memory in
	AllocBytes float64 // allocated in the window, by all runs
	CPUSeconds float64 // of the process
	// GCSeconds is the CPU time of the cycles. If it is 0, unknown, the model uses what the runtime
	// printed, which includes the time for which other processes used the collector's CPUs.
	GCSeconds float64
	// Drag is how many CPU seconds the rest of the program loses for each second of GCSeconds,
	// because it runs slower while the collector marks.
	Drag     float64
	FaultCPU float64 // CPU seconds per page fault
	Resident float64 // peak, bytes
}

// Setting is a setting of the garbage collector.
type Setting struct {
	GOGC  int     `json:"gogc"`                   // percent; 0: off
	Limit float64 `json:"gomemlimit_b,omitempty"` // bytes; 0: none
}

// Predicted is the predicted effect of a setting in the window.
type Predicted struct {
	CPUSeconds float64 // of the process
	GCSeconds  float64 // the collector's part of it
	Cycles     float64
	Resident   float64 // peak, bytes
	Feasible   bool    // the live heap fits below the limit, with some room
}

const (
	page = 4 << 10
	// limitUse is the part of GOMEMLIMIT that the heap may fill: the rest is stacks, metadata and
	// free memory not yet returned (runtime/mgcpacer.go, memoryLimitHeapGoal, subtracts 3 % and
	// everything that is not heap).
	limitUse = 0.9
	// overhead is the memory of a larger heap relative to its bytes: metadata, and partly filled
	// blocks.
	overhead = 1.05
)

// Predict simulates the window under another setting. The live heap is a function of the bytes
// allocated so far, the pacer's goal determines after how many bytes the next cycle ends
// (runtime/mgcpacer.go), and the cost of a cycle is that of the observed cycles, by the memory that
// it marks. Not included is how fewer collections affect the rest of the program (caches, write
// barriers).
func (o *Observed) Predict(s Setting) Predicted {
	own := o.replay(Setting{o.GOGC, o.Limit})
	gc, cycles := o.spent(), 0.0
	for _, run := range o.Runs {
		cycles += float64(len(run))
	}
	p := o.replay(s)
	if own.Cycles > 0 && own.GCSeconds > 0 {
		// The simulation of the program's own setting shows the error from whole MiB and from what
		// happens between cycles.
		p.GCSeconds *= gc / own.GCSeconds
		p.Cycles *= cycles / own.Cycles
	}
	p.CPUSeconds = o.CPUSeconds + (1+o.Drag)*(p.GCSeconds-gc)
	if o.Ends {
		p.CPUSeconds += float64(len(o.Runs)) * (p.Resident - own.Resident) / page * o.FaultCPU
	}
	p.CPUSeconds = max(p.CPUSeconds, 0)
	p.Resident = max(0, o.Resident+overhead*(p.Resident-own.Resident))
	return p
}

// Printed returns the CPU time of the observed cycles as the runtime printed it, in seconds.
func (o *Observed) Printed() (seconds float64) {
	for _, run := range o.Runs {
		for _, c := range run {
			seconds += c.CPU
		}
	}
	return seconds
}

// spent returns the CPU time of the observed cycles, in seconds.
func (o *Observed) spent() float64 { return cmp.Or(o.GCSeconds, o.Printed()) }

// Live returns the largest live heap that was observed.
func (o *Observed) Live() (most float64) {
	for _, run := range o.Runs {
		for _, c := range run {
			most = max(most, c.Live)
		}
	}
	return most
}

// Grown returns the same program with times as much live memory, all of which is marked.
func (o *Observed) Grown(times float64) *Observed {
	gc := o.spent()
	grown := *o
	grown.CPUSeconds += (times - 1) * gc * (1 + o.Drag)
	grown.GCSeconds *= times
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

// replay simulates all runs. Resident is the largest heap.
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
			part := 1.0
			if x+goal-now > total {
				if o.Ends || math.IsInf(goal, 1) {
					p.Resident = max(p.Resident, now+total-x)
					break
				}
				part = (total - x) / (goal - now) // a service goes on: the cycle belongs to the window in part
			}
			p.Resident = max(p.Resident, goal)
			x += max(goal-now, 64<<10)
			now = interpolate(at, live, x)
			p.GCSeconds += part * (fixed + each*(now+scanned))
			p.Cycles += part
			if part < 1 {
				break
			}
		}
	}
	return p
}

// mostCycles bounds a simulation.
const mostCycles = 2_000_000

// goal returns the heap size at which the next cycle ends.
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

// curve returns the live heap at the end of each cycle of a run, and the bytes allocated before it.
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

// cost returns the cost of a cycle: a fixed part, and a part per byte that it marks or scans. It is
// fitted to the observed cycles by least squares if they mark different amounts; otherwise all of
// it is per byte.
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
