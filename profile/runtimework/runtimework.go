package runtimework

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
	"github.com/hone-go/hone/profile/sampling"
	"github.com/hone-go/hone/profile/symbol"

	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of work that the Go runtime does for a program.
type Kind int

const (
	None       Kind = iota // not the runtime's work: the program's and the standard library's own
	Collection             // garbage collection: marking, sweeping, assists, write barriers
	Allocation
	Copying // of memory, and between strings and slices
	Maps    // including hashing
	Locks   // including channels
	Scheduling
	SystemCalls
	StackGrowth
	Other // work that no table of this package names
	numKinds
)

// String returns the kind's name as reports print it.
func (w Kind) String() string {
	return [numKinds]string{
		"the program itself", "garbage collection", "allocation", "copying", "maps", "locks and channels",
		"scheduler", "system calls", "stack growth", "runtime, other",
	}[w]
}

// workTable returns the functions that do each kind of work, as of Go 1.23 to 1.26. A name also
// matches the function's closures; one that ends in "*" is a prefix. Names that a version lacks do
// no harm. Locks inside the runtime, futexes and the like are left out: their callers say what they
// are for.
func workTable() [numKinds][]string {
	return [numKinds][]string{
		Collection: {
			"runtime.gcAssistAlloc*", "runtime.gcBgMarkWorker*", "runtime.gcDrain*", "runtime.gcStart", "runtime.gcMarkDone",
			"runtime.gcMarkTermination", "runtime.gcSweep", "runtime.bgsweep", "runtime.bgscavenge", "runtime.forcegchelper",
			"runtime.deductSweepCredit", "runtime.(*sweepLocked)*", "runtime.gcWriteBarrier*", "runtime.wbBufFlush*", "runtime._GC",
		},
		Allocation: {
			"runtime.mallocgc*", "runtime.newobject", "runtime.newarray", "runtime.makeslice*", "runtime.growslice*",
			"runtime.makechan*", "runtime.rawstring*", "runtime.rawbyteslice", "runtime.rawruneslice", "runtime.(*mheap)*",
			"runtime.(*mcache)*", "runtime.(*mcentral)*", "runtime.nextFreeFast", "runtime.heapSetType*", "runtime.profilealloc",
		},
		Copying: {
			"runtime.memmove", "runtime.typedmemmove", "runtime.typedslicecopy", "runtime.slicecopy", "runtime.duffcopy",
			"runtime.bulkBarrierPreWrite*", "runtime.concatstring*", "runtime.slicebytetostring*", "runtime.stringtoslice*",
			"runtime.slicerunetostring", "runtime.intstring", "memmove",
		},
		Maps: {
			"runtime.map*", "runtime.makemap*", "runtime.reflect_map*", "internal/runtime/maps.*", "runtime.aeshash*", "runtime.memhash*",
			"runtime.strhash*", "runtime.interhash", "runtime.nilinterhash", "aeshashbody",
		},
		Locks: {
			"sync.(*Mutex)*", "sync.(*RWMutex)*", "sync.(*WaitGroup)*", "sync.(*Cond)*", "internal/sync.(*Mutex)*",
			"sync.runtime_*", "internal/sync.runtime_*", "runtime.semacquire*", "runtime.semrelease*", "runtime.readyWithTime",
			"runtime.chansend*", "runtime.chanrecv*", "runtime.selectgo", "runtime.selectnb*", "runtime.closechan", "runtime.send", "runtime.recv",
		},
		Scheduling: {
			"runtime.schedule", "runtime.findRunnable", "runtime.stealWork", "runtime.execute", "runtime.park_m", "runtime.gopark*",
			"runtime.gosched*", "runtime.gopreempt_m", "runtime.goyield*", "runtime.goexit*", "runtime.gdestroy", "runtime.mcall",
			"runtime.mstart*", "runtime.mPark", "runtime.stopm", "runtime.startm", "runtime.wakep", "runtime.handoffp",
			"runtime.resetspinning", "runtime.injectglist", "runtime.ready", "runtime.goready*", "runtime.newproc*", "runtime.sysmon",
			"runtime.retake", "runtime.preempt*", "runtime.checkTimers*", "runtime.(*timers)*", "runtime.(*timer)*", "runtime.runq*",
			"runtime.notesleep", "runtime.notetsleep*", "runtime.notewakeup", "runtime.netpoll*",
		},
		SystemCalls: {
			"syscall.*", "internal/runtime/syscall*", "runtime/internal/syscall*", "internal/syscall/*", "runtime.entersyscall*",
			"runtime.exitsyscall*", "runtime.reentersyscall", "runtime.cgocall*",
		},
		StackGrowth: {"runtime.morestack*", "runtime.newstack", "runtime.copystack", "runtime.stackalloc*", "runtime.stackfree"},
	}
}

// workOf returns the kind of work of a function, None if the table does not name it.
func workOf(table *[numKinds][]string, name string) Kind {
	for w, names := range table {
		for _, n := range names {
			prefix, any := strings.CutSuffix(n, "*")
			if rest, ok := strings.CutPrefix(name, prefix); ok && (any || rest == "" || rest[0] == '.') {
				return Kind(w)
			}
		}
	}
	return None
}

// Row is a line and the work that the runtime does for it.
type Row struct {
	profile.Frame       // the line; without a name if the runtime does the work in the background
	Value         int64 // in the sample type's unit
}

// Group is one kind of work.
type Group struct {
	Work  Kind
	Value int64
	Rows  []Row // most expensive first; none for None
}

// Table is a profile's value by kind of runtime work and by line.
type Table struct {
	SampleType profile.ValueType
	Total      int64   // sum of all values
	Samples    float64 // the effective number of samples behind Total; 0 when the profile does not say
	Groups     []Group // most expensive first; groups whose value is zero are left out
}

// lineKey is a line and a kind of work, by the profile's own numbers: hashing it costs much less
// than hashing the names of a Frame.
type lineKey struct {
	line int64
	fn   int32 // index of Profile.Functions; -1: no line
	work Kind
}

// rowKey is a row of a group.
type rowKey struct {
	work Kind
	line profile.Frame
}

// Of returns the work that the runtime does, by the value of one column. A sample counts for the
// work that its innermost frames do, up to the first frame outside runtime, sync, syscall and the
// internal packages. If any of those frames belongs to the garbage collector, that is the work;
// otherwise it is the work of the innermost frame that workTable names, so copying for a slice that
// grows is copying. The sample is charged to the innermost line in a function that owns reports as
// the user's, or to the innermost line outside the runtime if there is none.
func Of(p *profile.Profile, sampleIndex int, owns func(profile.Function) bool) (*Table, error) {
	if err := frames.CheckIndex(p, sampleIndex); err != nil {
		return nil, fmt.Errorf("runtime work: %w", err)
	}
	c := newWorkCharger(p, owns)
	out := &Table{SampleType: p.SampleTypes[sampleIndex]}
	sums := map[lineKey]int64{}
	var totals [numKinds]int64
	_, variance := sampling.Of(p, sampleIndex)
	var scatter float64
	for row, v := range p.Values(sampleIndex) {
		stack := p.Stack(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		work, line := c.charge(stack)
		out.Total += v
		if variance != nil {
			scatter += variance(row)
		}
		totals[work] += v
		if work != None {
			line.work = work
			sums[line] += v
		}
	}
	if scatter > 0 {
		out.Samples = float64(out.Total) / scatter * float64(out.Total)
	}
	var rows [numKinds][]Row
	for k, v := range byName(p, sums) {
		rows[k.work] = append(rows[k.work], Row{k.line, v})
	}
	for w, total := range totals {
		if total == 0 {
			continue
		}
		slices.SortFunc(rows[w], func(a, b Row) int {
			return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
		out.Groups = append(out.Groups, Group{Kind(w), total, rows[w]})
	}
	slices.SortStableFunc(out.Groups, func(a, b Group) int { return cmp.Compare(b.Value, a.Value) })
	return out, nil
}

// byName sums by the names of lines: a profile may hold a function more than once.
func byName(p *profile.Profile, sums map[lineKey]int64) map[rowKey]int64 {
	out := make(map[rowKey]int64, len(sums))
	for k, v := range sums {
		row := rowKey{work: k.work}
		if k.fn >= 0 {
			row.line = profile.ByLine.Frame(&p.Functions[k.fn], k.line)
		}
		out[row] += v
	}
	return out
}

// workCharger holds what Of needs to know about each function.
type workCharger struct {
	p         *profile.Profile
	work      []Kind
	machinery []bool // the runtime's and packages below it: see symbol.Runtime
	runtime   []bool // of package runtime itself
	clears    []bool // clears memory: its caller says what for
	owned     []bool
}

func newWorkCharger(p *profile.Profile, owns func(profile.Function) bool) *workCharger {
	n := len(p.Functions)
	c := &workCharger{p, make([]Kind, n), make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n)}
	table := workTable()
	for i, f := range p.Functions {
		if c.machinery[i] = symbol.Runtime(f.Name); !c.machinery[i] {
			c.owned[i] = owns(f)
			continue
		}
		c.work[i] = workOf(&table, f.Name)
		c.runtime[i] = strings.HasPrefix(f.Name, "runtime.")
		c.clears[i] = strings.HasPrefix(f.Name, "runtime.memclr") || f.Name == "runtime.duffzero"
	}
	return c
}

// charge returns the work of a stack and the line to charge it to.
func (c *workCharger) charge(stack []int32) (Kind, lineKey) {
	work, below, runtime := None, true, false
	line := lineKey{fn: -1}
	for _, l := range stack {
		for _, ln := range c.p.Locations[l].Lines {
			f := ln.Func
			if c.machinery[f] {
				if !below {
					continue
				}
				runtime = runtime || c.runtime[f]
				switch {
				case c.work[f] == Collection:
					work = Collection
				case work == None:
					work = c.work[f]
				}
				continue
			}
			if below {
				below = false
				line = lineKey{fn: f, line: ln.Line}
			}
			if c.owned[f] {
				return c.finish(work, runtime, stack), lineKey{fn: f, line: ln.Line}
			}
		}
	}
	return c.finish(work, runtime, stack), line
}

// finish returns the kind of work of a stack none of whose frames is in the table.
func (c *workCharger) finish(work Kind, runtime bool, stack []int32) Kind {
	if work != None || !runtime {
		return work
	}
	if lines := c.p.Locations[stack[0]].Lines; len(lines) > 0 && c.clears[lines[0].Func] {
		return Copying
	}
	return Other
}
