package profile

import (
	"fmt"
	"path"
	"slices"
	"strings"
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
type PairOptions struct {
	Granularity Granularity
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
type PairedRow struct {
	Frame        // the frame that is charged
	Costs []Cost // as many as profiles
	node  int32  // of the path
}

// Pairing sets the rows of several profiles side by side. Functions are paired
// by name, lines by function, base name of the file and number, so that checkouts in
// different directories meet. Build one with a Pairer.
type Pairing struct {
	SampleType ValueType
	Scatter    Scatter // NoScatter when one of the profiles has none
	Rows       []PairedRow
	Totals     []Cost // of all rows of each profile

	keys  []frameKey
	nodes []pathNode
}

// Pairer builds a Pairing. Only sums are kept, so the profiles may go one by one.
type Pairer struct {
	o     PairOptions
	out   Pairing
	index map[frameKey]int32
	keys  []frameKey
	costs [][]Cost // by profile, then key or path
	trie  map[pathNode]int32
	nodes []pathNode
}

// pathNode is a path: another path and a frame more.
type pathNode struct{ parent, key int32 }

// NewPairer starts a pairing.
func NewPairer(o PairOptions) (*Pairer, error) {
	if o.Paths && o.Measure == Cum {
		return nil, fmt.Errorf("pair paths: a path has no cumulative cost")
	}
	return &Pairer{o: o, index: map[frameKey]int32{}, trie: map[pathNode]int32{}}, nil
}

// Add sums one column of a profile. All profiles have to agree on its type and unit.
func (a *Pairer) Add(p *Profile, sampleIndex int) error {
	if err := p.checkIndex(sampleIndex); err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	t := p.SampleTypes[sampleIndex]
	scatter, variance := p.scatter(sampleIndex)
	switch {
	case len(a.costs) == 0:
		a.out.SampleType, a.out.Scatter = t, scatter
	case a.out.SampleType != t:
		return fmt.Errorf("pair: a profile of %s/%s beside one of %s/%s", t.Type, t.Unit, a.out.SampleType.Type, a.out.SampleType.Unit)
	case a.out.Scatter != scatter:
		a.out.Scatter = NoScatter
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
func (a *Pairer) frames(p *Profile) *frames {
	f := newFrames(p, a.o.Granularity.pairKey)
	number := make([]int32, len(f.keys))
	for i, k := range f.keys {
		n, ok := a.index[k]
		if !ok {
			n = int32(len(a.keys))
			a.index[k] = n
			a.keys = append(a.keys, k)
		}
		number[i] = n
	}
	for i, k := range f.list {
		f.list[i] = number[k]
	}
	return f
}

func (g Granularity) pairKey(fn *Function, line int64) frameKey {
	k := g.key(fn, line)
	if g != ByFile && k.file != "" {
		k.file = path.Base(k.file)
	}
	return k
}

// charged returns, for each location, which of its frames is the first that is
// charged, −1 for none, as an index into f.list.
func (a *Pairer) charged(p *Profile, f *frames) []int32 {
	machinery := make([]bool, len(p.Functions))
	if a.o.Measure == Own {
		for i := range p.Functions {
			machinery[i] = ofRuntime(p.Functions[i].Name)
		}
	}
	first := make([]int32, len(p.Locations))
	for i := range p.Locations {
		first[i] = -1
		lines := p.Locations[i].Lines
		if at := slices.IndexFunc(lines, func(l Line) bool { return !machinery[l.Func] }); at >= 0 {
			first[i] = f.start[i] + int32(at)
		} else if len(lines) == 0 && a.o.Measure == Flat {
			first[i] = f.start[i]
		}
	}
	return first
}

// ofRuntime reports whether a function is the runtime's machinery: what it does, it does
// for its caller. A name without a package is assembly or C below it.
func ofRuntime(name string) bool {
	slash := strings.LastIndexByte(name, '/')
	dot := strings.IndexByte(name[slash+1:], '.')
	if dot < 0 {
		return true
	}
	pkg := name[:slash+1+dot]
	switch pkg {
	case "runtime", "sync", "sync/atomic", "syscall":
		return true
	}
	return strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "runtime/internal/")
}

// place finds the frame that a stack is charged to: the location's place in the stack and
// the frame's place in f.list.
func place(stack, first []int32, f *frames) (at int, frame int32) {
	for at, l := range stack {
		if first[l] >= 0 {
			return at, first[l]
		}
	}
	last := len(stack) - 1
	return last, f.start[stack[last]+1] - 1
}

func (a *Pairer) sumLeaves(p *Profile, f *frames, sampleIndex int, variance func(int) float64, total *Cost) []Cost {
	sums := make([]Cost, len(a.keys))
	first := a.charged(p, f)
	for row, v := range p.values[sampleIndex] {
		stack := p.stacks.row(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		scatter := variance(row)
		total.add(v, scatter)
		_, frame := place(stack, first, f)
		sums[f.list[frame]].add(v, scatter)
	}
	return sums
}

func (a *Pairer) sumCum(p *Profile, f *frames, sampleIndex int, variance func(int) float64, total *Cost) []Cost {
	sums := make([]Cost, len(a.keys))
	seen := make([]int32, len(a.keys)) // the last row (plus one) that was added: recursion counts once
	for row, v := range p.values[sampleIndex] {
		stack := p.stacks.row(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		scatter := variance(row)
		total.add(v, scatter)
		for _, l := range stack {
			for _, k := range f.list[f.start[l]:f.start[l+1]] {
				if seen[k] != int32(row+1) {
					seen[k] = int32(row + 1)
					sums[k].add(v, scatter)
				}
			}
		}
	}
	return sums
}

func (a *Pairer) sumPaths(p *Profile, f *frames, sampleIndex int, variance func(int) float64, total *Cost) []Cost {
	sums := make([]Cost, len(a.nodes))
	first := a.charged(p, f)
	for row, v := range p.values[sampleIndex] {
		stack := p.stacks.row(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		scatter := variance(row)
		total.add(v, scatter)
		at, frame := place(stack, first, f)
		node := int32(-1)
		for i := len(stack) - 1; i >= at; i-- {
			l := stack[i]
			from := f.start[l]
			if i == at {
				from = frame
			}
			for j := f.start[l+1] - 1; j >= from; j-- {
				node = a.child(node, f.list[j])
			}
		}
		for len(sums) < len(a.nodes) {
			sums = append(sums, Cost{})
		}
		sums[node].add(v, scatter)
	}
	return sums
}

func (a *Pairer) child(parent, key int32) int32 {
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
func (a *Pairer) Pairing() *Pairing {
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
		r := PairedRow{Costs: slab[from:len(slab):len(slab)], node: -1}
		key := i
		if a.o.Paths {
			r.node, key = int32(i), int(a.nodes[i].key)
		}
		r.Frame = a.keys[key].frame()
		out.Rows = append(out.Rows, r)
	}
	return out
}

func (k frameKey) frame() Frame { return Frame{Name: k.name, File: k.file, Line: k.line} }

// Path returns the frames of a row that is a path, the outermost first, its own last; nil without
// PairOptions.Paths.
func (p *Pairing) Path(row int) []Frame {
	var frames []Frame
	for node := p.Rows[row].node; node >= 0; node = p.nodes[node].parent {
		frames = append(frames, p.keys[p.nodes[node].key].frame())
	}
	slices.Reverse(frames)
	return frames
}
