package site

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/hone-go/hone/stats"
)

// About holds what a table knows of one place: a line, a function, or all frames that match a
// query.
type About struct {
	Functions []string // that the place covers, most expensive first
	Files     []string // of their frames, in the same order
	Amounts   []Amount // by unit; units that were not recorded are absent
	Callers   []Neighbour
	Callees   []Neighbour
	Lines     []AboutLine // by number
}

// Units of amounts.
const (
	UnitCPU     = "cpu_seconds"
	UnitGC      = "gc_seconds" // the collector's work, charged by bytes
	UnitBusy    = "cpu_and_gc_seconds"
	UnitBytes   = "alloc_bytes"
	UnitObjects = "alloc_objects"
	UnitLive    = "live_bytes"
	UnitBlock   = "block_seconds"
	UnitMutex   = "mutex_seconds"
)

// Amount is what a place costs in one unit.
type Amount struct {
	Unit string
	// Own is charged to the place itself and to the library functions that it calls. Total is
	// charged to all stacks that pass through it, including those charged to lines of other modules
	// and to other lines of the program.
	Own, Total stats.Interval
	Of         float64 // totals of the recording
}

// Neighbour is a line that calls the place, or a function that it calls, with its share of the
// place's total.
type Neighbour struct {
	*Frame       // nil when it calls nothing: the place does the work itself
	CPU    int64 // nanoseconds
	Bytes  int64
	Wait   int64 // nanoseconds of blocking and of locks held
}

// AboutLine is a line of the place, with the cost of the stacks that pass through it.
type AboutLine struct {
	Frame
	CPU, Bytes, Objects, Wait int64 // nanoseconds, bytes, objects, nanoseconds
}

// About sums up the stacks that pass through the frames for which is returns true. Functions is
// empty if no frame matches.
func (t *Table) About(is func(*Frame) bool) About {
	a := about{is: is, functions: map[string]*weight{}, callers: map[lineKey]*Neighbour{}, callees: map[lineKey]*Neighbour{}, lines: map[lineKey]*AboutLine{}}
	for _, s := range t.Sites {
		for k := range kinds {
			a.addAll(k, *s.rows(k))
		}
	}
	for i := range t.Buckets {
		for k := range kinds {
			a.addAll(k, *t.Buckets[i].rows(k))
		}
	}
	out := About{Callers: ranked(a.callers, false), Callees: ranked(a.callees, true)}
	for _, f := range a.ranked() {
		out.Functions = append(out.Functions, f.function)
		out.Files = append(out.Files, f.file)
	}
	for _, l := range a.lines {
		out.Lines = append(out.Lines, *l)
	}
	slices.SortFunc(out.Lines, func(x, y AboutLine) int {
		return cmp.Or(strings.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), strings.Compare(x.Function, y.Function))
	})
	if len(out.Functions) > 0 {
		out.Amounts = t.amounts(&a)
	}
	return out
}

// about gathers rows.
type about struct {
	is         func(*Frame) bool
	own, total [kinds][]*Row
	functions  map[string]*weight
	callers    map[lineKey]*Neighbour
	callees    map[lineKey]*Neighbour
	lines      map[lineKey]*AboutLine
}

// lineKey names a line in a function; line is 0 for the function.
type lineKey struct {
	function, file string
	line           int
}

type weight struct {
	function, file    string
	cpu, bytes, waits int64
}

func (a *about) addAll(k kind, rows []*Row) {
	for _, r := range rows {
		a.add(k, r)
	}
}

func (a *about) add(k kind, r *Row) {
	if r.Class == Probe || k == cpu && r.Class.collector() {
		return
	}
	first, last := -1, -1 // the matching frames nearest the leaf and the root
	for i, f := range r.Stack {
		if a.is(f) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return
	}
	a.total[k] = append(a.total[k], r)
	if r.Owner < 0 || first <= r.Owner {
		a.own[k] = append(a.own[k], r)
	}
	var caller, callee *Frame
	if last+1 < len(r.Stack) {
		caller = r.Stack[last+1]
	}
	if first > 0 {
		callee = r.Stack[first-1]
	}
	near(a.callers, caller, true).add(k, r)
	near(a.callees, callee, false).add(k, r)
	counted := map[lineKey]bool{}
	for _, f := range r.Stack[first : last+1] {
		if key := (lineKey{f.Function, f.File, f.Line}); a.is(f) && !counted[key] {
			a.count(k, r, f, key, !countedFunction(counted, f))
			counted[key] = true
		}
	}
}

func countedFunction(counted map[lineKey]bool, f *Frame) bool {
	for k := range counted {
		if k.function == f.Function && k.file == f.File {
			return true
		}
	}
	return false
}

// count adds a row to a line, and to the line's function unless another frame has added it there
// already.
func (a *about) count(k kind, r *Row, f *Frame, key lineKey, function bool) {
	l := a.lines[key]
	if l == nil {
		l = &AboutLine{Frame: *f}
		a.lines[key] = l
	}
	w := a.functions[f.Function]
	if w == nil {
		w = &weight{function: f.Function, file: f.File}
		a.functions[f.Function] = w
	}
	switch k {
	case cpu:
		l.CPU += r.Value
	case allocs:
		l.Bytes += r.Value
		l.Objects += r.Count
	case block, mutex:
		l.Wait += r.Value
	}
	if !function {
		return
	}
	switch k {
	case cpu:
		w.cpu += r.Value
	case allocs:
		w.bytes += r.Value
	case block, mutex:
		w.waits += r.Value
	}
}

func (a *about) ranked() []*weight {
	var out []*weight
	for _, w := range a.functions {
		out = append(out, w)
	}
	slices.SortFunc(out, func(x, y *weight) int {
		return cmp.Or(cmp.Compare(y.cpu, x.cpu), cmp.Compare(y.bytes, x.bytes), cmp.Compare(y.waits, x.waits), strings.Compare(x.function, y.function))
	})
	return out
}

// near returns the neighbour of a frame. Callers are distinguished by line, callees are not.
func near(all map[lineKey]*Neighbour, f *Frame, byLine bool) *Neighbour {
	var key lineKey
	if f != nil {
		key = lineKey{function: f.Function, file: f.File}
		if byLine {
			key.line = f.Line
		}
	}
	n := all[key]
	if n == nil {
		n = &Neighbour{Frame: f}
		all[key] = n
	}
	return n
}

func (n *Neighbour) add(k kind, r *Row) {
	switch k {
	case cpu:
		n.CPU += r.Value
	case allocs:
		n.Bytes += r.Value
	case block, mutex:
		n.Wait += r.Value
	}
}

// ranked sorts neighbours by cost, the most expensive first. With keepNone it keeps the neighbour
// without a frame, which is the place's own work.
func ranked(all map[lineKey]*Neighbour, keepNone bool) []Neighbour {
	var out []Neighbour
	for _, n := range all {
		if n.Frame != nil || keepNone {
			out = append(out, *n)
		}
	}
	name := func(n Neighbour) string {
		if n.Frame == nil {
			return ""
		}
		return n.Function
	}
	line := func(n Neighbour) int {
		if n.Frame == nil {
			return 0
		}
		return n.Line
	}
	slices.SortFunc(out, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Wait, a.Wait),
			strings.Compare(name(a), name(b)), cmp.Compare(line(a), line(b)))
	})
	return out
}

// amounts returns the gathered costs by unit.
func (t *Table) amounts(a *about) []Amount {
	var out []Amount
	ownCost, ownBusy := t.Price(a.own[cpu], a.own[allocs])
	allCost, allBusy := t.Price(a.total[cpu], a.total[allocs])
	p := &t.pricing
	if p.hasCPU {
		out = append(out, Amount{UnitCPU, ownCPU(ownCost, p.period), ownCPU(allCost, p.period), t.Totals.TotalSeconds})
	}
	if p.hasCPU && p.hasAllocs {
		gc := func(rows []*Row) stats.Interval { return stats.Mul(p.share(p.tally(rows)), p.work()) }
		out = append(out,
			Amount{UnitGC, gc(a.own[allocs]), gc(a.total[allocs]), t.Totals.TotalSeconds},
			Amount{UnitBusy, ownBusy, allBusy, t.Totals.TotalSeconds})
	}
	if p.hasAllocs {
		out = append(out,
			Amount{UnitBytes, p.tally(a.own[allocs]).interval(p.rate), p.tally(a.total[allocs]).interval(p.rate), float64(t.Totals.AllocBytes)},
			Amount{UnitObjects, p.objects(a.own[allocs]), p.objects(a.total[allocs]), float64(t.Totals.AllObjects)})
	}
	if t.Totals.LiveBytes > 0 {
		out = append(out, Amount{UnitLive, p.tally(a.own[heap]).interval(p.rate), p.tally(a.total[heap]).interval(p.rate), float64(t.Totals.LiveBytes)})
	}
	if t.Totals.BlockSeconds > 0 {
		out = append(out, Amount{UnitBlock, waits(a.own[block]), waits(a.total[block]), t.Totals.BlockSeconds})
	}
	if t.Totals.MutexSeconds > 0 {
		out = append(out, Amount{UnitMutex, waits(a.own[mutex]), waits(a.total[mutex]), t.Totals.MutexSeconds})
	}
	return out
}

func (p *pricing) tally(rows []*Row) tally {
	var sum tally
	for _, r := range rows {
		sum.add(r, p.rate)
	}
	return sum
}

// objects returns the number of objects of rows, with the sampling interval of that number.
func (p *pricing) objects(rows []*Row) stats.Interval {
	var sum tally
	for _, r := range rows {
		sum.total += float64(r.Count)
		if p.rate > 1 && r.Count > 0 && r.Value > 0 {
			size := float64(r.Value) / float64(r.Count)
			sum.variance += float64(r.Count) / math.Expm1(size/float64(p.rate))
		}
	}
	if sum.total == 0 {
		return stats.Interval{}
	}
	return sum.interval(p.rate)
}

// waits returns the waiting time of rows, with the interval that the number of waits gives.
func waits(rows []*Row) stats.Interval {
	var n int64
	total := 0.0
	for _, r := range rows {
		n += r.Count
		total += seconds(r)
	}
	if n <= 0 {
		return stats.Interval{Value: total, Low: total, High: total}
	}
	return stats.Poisson(n).Scale(total / float64(n))
}
