package profile

import "path"

// frameKey is what one row of a report is: frames with the same key count as one.
type frameKey struct {
	name, file   string
	line, column int64
	address      uint64
}

// frames maps locations to the keys of the frames that stand in them, leaf
// first: most have one, those with inlined calls several.
type frames struct {
	keys  []frameKey
	index map[frameKey]int32
	start []int32 // of location i in list; one more entry than locations
	list  []int32 // into keys
}

// newFrames numbers the keys of all locations of p.
func newFrames(p *Profile, key func(*Function, int64) frameKey) *frames {
	return framesOf(p, func(_ *Location, ln Line) frameKey { return key(&p.Functions[ln.Func], ln.Line) })
}

// framesBy numbers the frames of p at a granularity; with columns they are
// told apart by column too. Addresses always are.
func framesBy(p *Profile, g Granularity, columns bool) *frames {
	return framesOf(p, func(l *Location, ln Line) frameKey {
		k := g.key(&p.Functions[ln.Func], ln.Line)
		if g == ByAddress || columns && g == ByLine {
			k.column = ln.Column
		}
		if g == ByAddress {
			k.address = l.Address
		}
		return k
	}).withAddresses(p, g == ByAddress)
}

// withAddresses tells unknown functions apart by address, if wanted.
func (f *frames) withAddresses(p *Profile, wanted bool) *frames {
	if !wanted {
		return f
	}
	for i := range p.Locations {
		if l := &p.Locations[i]; len(l.Lines) == 0 {
			f.list[f.start[i]] = f.number(frameKey{name: p.objectName(l), address: l.Address})
		}
	}
	return f
}

func framesOf(p *Profile, key func(*Location, Line) frameKey) *frames {
	f := &frames{
		index: make(map[frameKey]int32, len(p.Functions)),
		start: make([]int32, 1, len(p.Locations)+1),
		list:  make([]int32, 0, len(p.Locations)+len(p.Locations)/4),
	}
	for i := range p.Locations {
		l := &p.Locations[i]
		for _, ln := range l.Lines {
			k := key(l, ln)
			if k.name == "" && k.file == "" {
				k.name = p.objectName(l)
			}
			f.list = append(f.list, f.number(k))
		}
		if len(l.Lines) == 0 {
			f.list = append(f.list, f.number(frameKey{name: p.objectName(l)}))
		}
		f.start = append(f.start, int32(len(f.list)))
	}
	return f
}

func (f *frames) number(k frameKey) int32 {
	i, ok := f.index[k]
	if !ok {
		i = int32(len(f.keys))
		f.index[k] = i
		f.keys = append(f.keys, k)
	}
	return i
}

// objectName stands in for a function that is not known, as in pprof.
func (p *Profile) objectName(l *Location) string {
	if l.Mapping < 0 || p.Mappings[l.Mapping].File == "" {
		return "<unknown>"
	}
	return "[" + path.Base(p.Mappings[l.Mapping].File) + "]"
}

// cleanFile is a file name without "//" and "/../", as pprof compares them.
func cleanFile(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(name)
}

// frameSum is the flat and cum of one key. row is the last row (plus one) that
// was added to cum: what makes recursion count once. It stands beside cum so
// that both come with one cache line.
type frameSum struct {
	flat, cum int64
	row       int32
}

// sum adds one column up by key.
func (f *frames) sum(p *Profile, sampleIndex int) []frameSum {
	sums := make([]frameSum, len(f.keys))
	single := f.single()
	for row, v := range p.values[sampleIndex] {
		stack := p.stacks.row(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		sums[f.list[f.start[stack[0]]]].flat += v
		mark := int32(row + 1)
		for _, l := range stack {
			if k := single[l]; k >= 0 {
				if s := &sums[k]; s.row != mark {
					s.row = mark
					s.cum += v
				}
				continue
			}
			for _, k := range f.list[f.start[l]:f.start[l+1]] {
				if s := &sums[k]; s.row != mark {
					s.row = mark
					s.cum += v
				}
			}
		}
	}
	return sums
}

// single returns the key of each location that has one frame, −1 for others.
func (f *frames) single() []int32 {
	single := make([]int32, len(f.start)-1)
	for i := range single {
		single[i] = -1
		if f.start[i+1]-f.start[i] == 1 {
			single[i] = f.list[f.start[i]]
		}
	}
	return single
}
