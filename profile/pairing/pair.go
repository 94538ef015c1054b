package pairing

import (
	"fmt"
	"iter"
	"path"
	"slices"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
	"github.com/hone-go/hone/profile/sampling"
	"github.com/hone-go/hone/profile/symbol"
)

// Measure says which frames of a stack the value of a sample is charged to.
type Measure int

const (
	// Own charges the frame nearest the leaf that is outside runtime, sync and syscall, so that
	// allocations, copies, waits and system calls count for the function that caused them. A stack
	// of the runtime alone is charged to its outermost frame (runtime.gcBgMarkWorker).
	Own  Measure = iota
	Flat         // the leaf
	Cum          // every frame of the stack, once
)

// Options says what a Builder sums.
type Options struct {
	Granularity profile.Granularity
	Measure     Measure
	// Paths makes a row of each path from the outermost frame to the one that Measure (Own or
	// Flat) charges.
	Paths bool
}

// Cost is what one profile has for a row: the sum of its values, and the variance that sampling
// gives that sum.
type Cost struct {
	Value    int64
	Variance float64 // in squared units of the value; 0 if Table.Scatter is sampling.Unknown
}

func (c *Cost) add(o Cost) {
	c.Value += o.Value
	c.Variance += o.Variance
}

// Row is a function, file, line or path, and its cost in each profile.
type Row struct {
	profile.Frame        // the frame that is charged
	Costs         []Cost // one for each profile
	node          int32  // of the path; -1: none
}

// Table holds the rows of several profiles side by side. Functions are matched by name; lines by
// function, base name of the file and number, so that checkouts in different directories match.
// Make one with a Builder.
type Table struct {
	SampleType profile.ValueType
	Scatter    sampling.Kind // how the values were sampled; Unknown if the profiles differ
	Rows       []Row
	Totals     []Cost // sum of each profile

	keys  []profile.Frame
	nodes []pathNode
}

// Builder makes a Table. It keeps sums only, so a profile can be dropped after Add.
type Builder struct {
	o     Options
	out   Table
	index map[profile.Frame]int32
	keys  []profile.Frame
	costs [][]Cost // by profile, then key or path
	trie  map[pathNode]int32
	nodes []pathNode
}

// pathNode is a path: its parent's path and one more frame.
type pathNode struct{ parent, key int32 }

// New returns a Builder for an empty Table. Paths cannot be combined with Cum.
func New(o Options) (*Builder, error) {
	if o.Paths && o.Measure == Cum {
		return nil, fmt.Errorf("pair paths: a path has no cumulative cost")
	}
	return &Builder{o: o, index: map[profile.Frame]int32{}, trie: map[pathNode]int32{}}, nil
}

// Add adds one column of a profile. Its type and unit must be those of the columns before.
func (a *Builder) Add(p *profile.Profile, sampleIndex int) error {
	if err := frames.CheckIndex(p, sampleIndex); err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	t := p.SampleTypes[sampleIndex]
	scatter, variance := sampling.Of(p, sampleIndex)
	switch {
	case len(a.costs) == 0:
		a.out.SampleType, a.out.Scatter = t, scatter
	case a.out.SampleType != t:
		return fmt.Errorf("pair: a profile of %s/%s beside one of %s/%s", t.Type, t.Unit, a.out.SampleType.Type, a.out.SampleType.Unit)
	case a.out.Scatter != scatter:
		a.out.Scatter = sampling.Unknown
	}
	if variance == nil {
		variance = func(int) float64 { return 0 }
	}
	var total Cost
	stacks := costs(p, sampleIndex, variance, &total)
	f := a.frames(p)
	var sums []Cost
	switch {
	case a.o.Paths:
		sums = a.sumPaths(p, f, stacks)
	case a.o.Measure == Cum:
		sums = a.sumCum(f, stacks)
	default:
		sums = a.sumLeaves(p, f, stacks)
	}
	a.costs = append(a.costs, sums)
	a.out.Totals = append(a.out.Totals, total)
	return nil
}

// costs ranges over the stacks of one column of a profile and their costs, and adds the costs to
// total. Rows without a stack or a value are left out.
func costs(p *profile.Profile, sampleIndex int, variance func(row int) float64, total *Cost) iter.Seq2[[]int32, Cost] {
	return func(yield func([]int32, Cost) bool) {
		for row, v := range p.Values(sampleIndex) {
			stack := p.Stack(row)
			if v == 0 || len(stack) == 0 {
				continue
			}
			c := Cost{v, variance(row)}
			total.add(c)
			if !yield(stack, c) {
				return
			}
		}
	}
}

// frames numbers the keys of a profile as the profiles before it do.
func (a *Builder) frames(p *profile.Profile) *frames.Table {
	f := frames.New(p, func(fn *profile.Function, line int64) profile.Frame { return pairKey(a.o.Granularity, fn, line) })
	number := make([]int32, len(f.Keys))
	for i, k := range f.Keys {
		n, ok := a.index[k]
		if !ok {
			n = int32(len(a.keys))
			a.index[k] = n
			a.keys = append(a.keys, k)
		}
		number[i] = n
	}
	for i, k := range f.List {
		f.List[i] = number[k]
	}
	return f
}

func pairKey(g profile.Granularity, fn *profile.Function, line int64) profile.Frame {
	k := g.Frame(fn, line)
	if g != profile.ByFile && k.File != "" {
		k.File = path.Base(k.File)
	}
	return k
}

// charged returns, for each location, the first of its frames that can be charged, as an index of
// f.List; -1 if it has none.
func (a *Builder) charged(p *profile.Profile, f *frames.Table) []int32 {
	machinery := make([]bool, len(p.Functions))
	if a.o.Measure == Own {
		for i := range p.Functions {
			machinery[i] = symbol.Runtime(p.Functions[i].Name)
		}
	}
	first := make([]int32, len(p.Locations))
	for i := range p.Locations {
		first[i] = -1
		lines := p.Locations[i].Lines
		if at := slices.IndexFunc(lines, func(l profile.Line) bool { return !machinery[l.Func] }); at >= 0 {
			first[i] = f.Start[i] + int32(at)
		} else if len(lines) == 0 && a.o.Measure == Flat {
			first[i] = f.Start[i]
		}
	}
	return first
}

// place returns the frame that a stack is charged to, as the location's index in the stack and the
// frame's index in f.List.
func place(stack, first []int32, f *frames.Table) (at int, frame int32) {
	for at, l := range stack {
		if first[l] >= 0 {
			return at, first[l]
		}
	}
	last := len(stack) - 1
	return last, f.Start[stack[last]+1] - 1
}

// sumLeaves sums by the key of the frame that each stack is charged to.
func (a *Builder) sumLeaves(p *profile.Profile, f *frames.Table, stacks iter.Seq2[[]int32, Cost]) []Cost {
	sums := make([]Cost, len(a.keys))
	first := a.charged(p, f)
	for stack, cost := range stacks {
		_, frame := place(stack, first, f)
		sums[f.List[frame]].add(cost)
	}
	return sums
}

// sumCum sums by the keys of all frames of each stack.
func (a *Builder) sumCum(f *frames.Table, stacks iter.Seq2[[]int32, Cost]) []Cost {
	sums := make([]Cost, len(a.keys))
	seen := make([]int32, len(a.keys)) // the last stack that was added, counted from 1: recursion counts once
	n := int32(0)
	for stack, cost := range stacks {
		n++
		for _, l := range stack {
			for _, k := range f.List[f.Start[l]:f.Start[l+1]] {
				if seen[k] != n {
					seen[k] = n
					sums[k].add(cost)
				}
			}
		}
	}
	return sums
}

// sumPaths sums by the path from the outermost frame to the one that each stack is charged to.
func (a *Builder) sumPaths(p *profile.Profile, f *frames.Table, stacks iter.Seq2[[]int32, Cost]) []Cost {
	sums := make([]Cost, len(a.nodes))
	first := a.charged(p, f)
	for stack, cost := range stacks {
		at, frame := place(stack, first, f)
		node := int32(-1)
		for i := len(stack) - 1; i >= at; i-- {
			l := stack[i]
			from := f.Start[l]
			if i == at {
				from = frame
			}
			for j := f.Start[l+1] - 1; j >= from; j-- {
				node = a.child(node, f.List[j])
			}
		}
		for len(sums) < len(a.nodes) {
			sums = append(sums, Cost{})
		}
		sums[node].add(cost)
	}
	return sums
}

func (a *Builder) child(parent, key int32) int32 {
	n := pathNode{parent, key}
	i, ok := a.trie[n]
	if !ok {
		i = int32(len(a.nodes))
		a.trie[n] = i
		a.nodes = append(a.nodes, n)
	}
	return i
}

// Table returns the rows with a cost in at least one profile, in order of first appearance. The
// Builder must not be used afterwards.
func (a *Builder) Table() *Table {
	out := &a.out
	out.keys, out.nodes = a.keys, a.nodes
	n := len(a.keys)
	if a.o.Paths {
		n = len(a.nodes)
	}
	costs := make([]Cost, 0, len(a.costs))
	var slab []Cost // the rows' costs are slices of it
	for i := range n {
		costs = costs[:0]
		any := false
		for _, sums := range a.costs {
			var c Cost
			if i < len(sums) { // a key of a later profile has no sum here
				c = sums[i]
			}
			costs = append(costs, c)
			any = any || c != Cost{}
		}
		if !any {
			continue
		}
		if cap(slab)-len(slab) < len(costs) {
			slab = make([]Cost, 0, 1024*len(costs))
		}
		from := len(slab)
		slab = append(slab, costs...)
		r := Row{Costs: slab[from:len(slab):len(slab)], node: -1}
		key := i
		if a.o.Paths {
			r.node, key = int32(i), int(a.nodes[i].key)
		}
		r.Frame = a.keys[key]
		out.Rows = append(out.Rows, r)
	}
	return out
}

// Path returns the frames of a row's path, outermost first; nil without Options.Paths.
func (p *Table) Path(row int) []profile.Frame {
	var frames []profile.Frame
	for node := p.Rows[row].node; node >= 0; node = p.nodes[node].parent {
		frames = append(frames, p.keys[p.nodes[node].key])
	}
	slices.Reverse(frames)
	return frames
}
