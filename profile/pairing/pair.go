package pairing

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
	"github.com/hone-go/hone/profile/sampling"
	"github.com/hone-go/hone/profile/symbol"

	"fmt"
	"path"
	"slices"
)

// Measure is which of a stack's rows a sample is charged to.
type Measure int

const (
	// Own charges the frame nearest the leaf that is not of the runtime, sync or syscall, so
	// that allocating, copying, waiting and system calls count for the function that asked.
	// What only the runtime does goes to the outermost frame (runtime.gcBgMarkWorker).
	Own  Measure = iota
	Flat         // the leaf
	Cum          // every frame of the stack, once
)

// PairOptions say what a Pairing sums.
type Options struct {
	Granularity profile.Granularity
	Measure     Measure
	Paths       bool // a row for each stack: from the outermost frame to the one that Measure (Own or Flat) charges
}

// Cost is what one profile has for a row: the sum of its values and how far
// chance moves that sum.
type Cost struct {
	Value    int64
	Variance float64 // in squared units of the value; 0 without Scatter
}

func (c *Cost) add(v int64, variance float64) {
	c.Value += v
	c.Variance += variance
}

// PairedRow is a function, file, line or path, and its cost in each profile.
type Row struct {
	profile.Frame        // the frame that is charged
	Costs         []Cost // as many as profiles
	node          int32  // of the path
}

// Pairing sets the rows of several profiles side by side. Functions are paired
// by name, lines by function, base name of the file and number, so that checkouts in
// different directories meet. Build one with a Pairer.
type Table struct {
	SampleType profile.ValueType
	Scatter    sampling.Kind // NoScatter when one of the profiles has none
	Rows       []Row
	Totals     []Cost // of all rows of each profile

	keys  []profile.Frame
	nodes []pathNode
}

// Pairer builds a Pairing. Only sums are kept, so the profiles may go one by one.
type Builder struct {
	o     Options
	out   Table
	index map[profile.Frame]int32
	keys  []profile.Frame
	costs [][]Cost // by profile, then key or path
	trie  map[pathNode]int32
	nodes []pathNode
}

// pathNode is a path: another path and a frame more.
type pathNode struct{ parent, key int32 }

// NewPairer starts a pairing.
func New(o Options) (*Builder, error) {
	if o.Paths && o.Measure == Cum {
		return nil, fmt.Errorf("pair paths: a path has no cumulative cost")
	}
	return &Builder{o: o, index: map[profile.Frame]int32{}, trie: map[pathNode]int32{}}, nil
}

// Add sums one column of a profile. All profiles have to agree on its type and unit.
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
	f := a.frames(p)
	var sums []Cost
	switch {
	case a.o.Paths:
		sums = a.sumPaths(p, f, sampleIndex, variance, &total)
	case a.o.Measure == Cum:
		sums = a.sumCum(p, f, sampleIndex, variance, &total)
	default:
		sums = a.sumLeaves(p, f, sampleIndex, variance, &total)
	}
	a.costs = append(a.costs, sums)
	a.out.Totals = append(a.out.Totals, total)
	return nil
}

// frames numbers the keys of a profile with the numbers that the others have.
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

// charged returns, for each location, which of its frames is the first that is
// charged, −1 for none, as an index into f.List.
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

// place finds the frame that a stack is charged to: the location's place in the stack and
// the frame's place in f.List.
func place(stack, first []int32, f *frames.Table) (at int, frame int32) {
	for at, l := range stack {
		if first[l] >= 0 {
			return at, first[l]
		}
	}
	last := len(stack) - 1
	return last, f.Start[stack[last]+1] - 1
}

func (a *Builder) sumLeaves(p *profile.Profile, f *frames.Table, sampleIndex int, variance func(int) float64, total *Cost) []Cost {
	sums := make([]Cost, len(a.keys))
	first := a.charged(p, f)
	for row, v := range p.Values(sampleIndex) {
		stack := p.Stack(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		scatter := variance(row)
		total.add(v, scatter)
		_, frame := place(stack, first, f)
		sums[f.List[frame]].add(v, scatter)
	}
	return sums
}

func (a *Builder) sumCum(p *profile.Profile, f *frames.Table, sampleIndex int, variance func(int) float64, total *Cost) []Cost {
	sums := make([]Cost, len(a.keys))
	seen := make([]int32, len(a.keys)) // the last row (plus one) that was added: recursion counts once
	for row, v := range p.Values(sampleIndex) {
		stack := p.Stack(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		scatter := variance(row)
		total.add(v, scatter)
		for _, l := range stack {
			for _, k := range f.List[f.Start[l]:f.Start[l+1]] {
				if seen[k] != int32(row+1) {
					seen[k] = int32(row + 1)
					sums[k].add(v, scatter)
				}
			}
		}
	}
	return sums
}

func (a *Builder) sumPaths(p *profile.Profile, f *frames.Table, sampleIndex int, variance func(int) float64, total *Cost) []Cost {
	sums := make([]Cost, len(a.nodes))
	first := a.charged(p, f)
	for row, v := range p.Values(sampleIndex) {
		stack := p.Stack(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		scatter := variance(row)
		total.add(v, scatter)
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
		sums[node].add(v, scatter)
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

// Pairing returns the rows that cost something in one of the profiles, in the order in which
// they were met. The pairer is of no use afterwards.
func (a *Builder) Table() *Table {
	out := &a.out
	out.keys, out.nodes = a.keys, a.nodes
	n := len(a.keys)
	if a.o.Paths {
		n = len(a.nodes)
	}
	costs := make([]Cost, 0, len(a.costs))
	var slab []Cost // that rows' costs are cut from
	for i := range n {
		costs = costs[:0]
		any := false
		for _, sums := range a.costs {
			var c Cost
			if i < len(sums) { // else met by a later profile only
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

// Path returns the frames of a row that is a path, the outermost first, its own last; nil without
// PairOptions.Paths.
func (p *Table) Path(row int) []profile.Frame {
	var frames []profile.Frame
	for node := p.Rows[row].node; node >= 0; node = p.nodes[node].parent {
		frames = append(frames, p.keys[p.nodes[node].key])
	}
	slices.Reverse(frames)
	return frames
}
