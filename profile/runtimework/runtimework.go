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

// Work is a kind of work that the Go runtime does for a program.
type Kind int

const (
	None       Kind = iota // the program's own, the standard library's too
	Collection             // garbage collection: marking, sweeping, assists, write barriers
	Allocation
	Copying // memory, and between strings and slices
	Maps    // with hashing
	Locks   // and channels
	Scheduling
	SystemCalls
	StackGrowth
	Other
	works // how many
)

// String is the group's name on a page.
func (w Kind) String() string {
	return [works]string{
		"the program itself", "garbage collection", "allocation", "copying", "maps", "locks and channels",
		"scheduler", "system calls", "stack growth", "runtime, other",
	}[w]
}

// workTable says which frames do what work, as of Go 1.23 to 1.26. A function stands for
// its closures too; a name that ends in "*" is a prefix. What a version lacks does no harm.
// Locks within the runtime, futexes and the like are left out: their caller knows what they are for.
func workTable() [works][]string {
	return [works][]string{
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

// workOf finds a function in the table.
func workOf(table *[works][]string, name string) Kind {
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

// WorkRow is what one line makes the runtime do.
type Row struct {
	profile.Frame       // the line; without a name: nobody's, the runtime does it in the background
	Value         int64 // in the sample type's unit
}

// WorkGroup is one kind of work.
type Group struct {
	Work  Kind
	Value int64
	Rows  []Row // the most expensive first; none for NoWork
}

// RuntimeWork is a profile's value by what the runtime did and for which line.
type Table struct {
	SampleType profile.ValueType
	Total      int64   // sum of all values
	Samples    float64 // that stand behind Total; 0 when the profile does not say
	Groups     []Group // the most expensive first, without those of zero
}

// workKey is a row of a group.
type workKey struct {
	work Kind
	key  profile.Frame
}

// RuntimeWork charges each sample to the kind of work that its innermost frames do, up to the
// first frame outside the runtime, sync, syscall and internal packages. Among those the
// collector's frames decide, else the innermost that stands in a table: copying for
// a slice that grows is copying. The line that pays is the innermost of a function that owns tells
// to be the user's, else the innermost outside the runtime.
func Of(p *profile.Profile, sampleIndex int, owns func(profile.Function) bool) (*Table, error) {
	if err := frames.CheckIndex(p, sampleIndex); err != nil {
		return nil, fmt.Errorf("runtime work: %w", err)
	}
	c := newWorkCharger(p, owns)
	out := &Table{SampleType: p.SampleTypes[sampleIndex]}
	sums := map[workKey]int64{}
	var totals [works]int64
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
			sums[workKey{work, line}] += v
		}
	}
	if scatter > 0 {
		out.Samples = float64(out.Total) / scatter * float64(out.Total)
	}
	var rows [works][]Row
	for k, v := range sums {
		rows[k.work] = append(rows[k.work], Row{k.key, v})
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

// workCharger knows of each function what RuntimeWork asks.
type workCharger struct {
	p         *profile.Profile
	work      []Kind
	machinery []bool // the runtime's and what is below; see ofRuntime
	runtime   []bool // of package runtime itself
	clears    []bool // clears memory, for whom its caller knows
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

// charge returns the work of a stack and the line that it is for.
func (c *workCharger) charge(stack []int32) (Kind, profile.Frame) {
	work, below, runtime := None, true, false
	var line profile.Frame
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
				line = c.key(ln)
			}
			if c.owned[f] {
				return c.finish(work, runtime, stack), c.key(ln)
			}
		}
	}
	return c.finish(work, runtime, stack), line
}

// finish names the work that no table knows.
func (c *workCharger) finish(work Kind, runtime bool, stack []int32) Kind {
	if work != None || !runtime {
		return work
	}
	if lines := c.p.Locations[stack[0]].Lines; len(lines) > 0 && c.clears[lines[0].Func] {
		return Copying
	}
	return Other
}

func (c *workCharger) key(ln profile.Line) profile.Frame {
	f := &c.p.Functions[ln.Func]
	return profile.ByLine.Frame(f, ln.Line)
}
