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
// distinguished by column too. Addresses always are.
func framesBy(p *Profile, g Granularity, columns bool) *frames {
	if g == ByFunction {
		return framesByFunction(p)
	}
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

// withAddresses distinguishes unknown functions by address, if wanted.
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
	f := newFrameTable(p)
	for i := range p.Locations {
		l := &p.Locations[i]
		for _, ln := range l.Lines {
			k := key(l, ln)
			if k.name == "" && k.file == "" {
				k.name = p.objectName(l)
			}
			f.list = append(f.list, f.number(k))
		}
		f.endLocation(p, l)
	}
	return f
}

// framesByFunction is framesOf where a key says nothing but the function's
// name: a key is looked up once a function and not once a line.
func framesByFunction(p *Profile) *frames {
	f := newFrameTable(p)
	known := make([]int32, len(p.Functions)) // the number of a function's key, plus one
	for i := range p.Locations {
		l := &p.Locations[i]
		for _, ln := range l.Lines {
			if known[ln.Func] == 0 {
				name := p.Functions[ln.Func].Name
				if name == "" {
					f.list = append(f.list, f.number(frameKey{name: p.objectName(l)}))
					continue
				}
				known[ln.Func] = f.number(frameKey{name: name}) + 1
			}
			f.list = append(f.list, known[ln.Func]-1)
		}
		f.endLocation(p, l)
	}
	return f
}

func newFrameTable(p *Profile) *frames {
	return &frames{
		index: make(map[frameKey]int32, len(p.Functions)),
		start: make([]int32, 1, len(p.Locations)+1),
		list:  make([]int32, 0, len(p.Locations)+len(p.Locations)/4),
	}
}

// endLocation ends the list of a location's frames; one without any gets one.
func (f *frames) endLocation(p *Profile, l *Location) {
	if len(l.Lines) == 0 {
		f.list = append(f.list, f.number(frameKey{name: p.objectName(l)}))
	}
	f.start = append(f.start, int32(len(f.list)))
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

// frameSum is the flat and cum of one key.
type frameSum struct{ flat, cum int64 }

// cumSum is the cum of one key. row is the last row (plus one) that was added:
// what makes recursion count once. It stands beside cum so that both come with
// one cache line.
type cumSum struct {
	cum int64
	row int32
}

// sum adds one column up by key.
//
// Most of a report's time goes by here, a frame at a time. So the loop over a
// stack has no branch that the processor guesses wrong: a location's first key
// is added at once, and the few locations that have more are collected without
// asking and taken after the stack.
func (f *frames) sum(p *Profile, sampleIndex int) []frameSum {
	sums := make([]frameSum, len(f.keys))
	cums := make([]cumSum, len(f.keys))
	heads, seconds := f.keysAt(0), f.keysAt(1)
	var more []int32 // locations of the stack with more than one frame
	for row, v := range p.values[sampleIndex] {
		stack := p.stacks.row(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		if len(more) < len(stack) {
			more = make([]int32, max(256, 2*len(stack)))
		}
		sums[heads[stack[0]]>>1].flat += v
		mark := int32(row + 1)
		n := addKeys(cums, heads, stack, more, mark, v)
		n = addKeys(cums, seconds, more[:n], more, mark, v)
		for _, l := range more[:n] { // three frames and more are rare
			for _, k := range f.list[f.start[l]+2 : f.start[l+1]] {
				if s := &cums[k]; s.row != mark {
					s.row = mark
					s.cum += v
				}
			}
		}
	}
	for i, c := range cums {
		sums[i].cum = c.cum
	}
	return sums
}

// addKeys adds v to the key that each location of a stack has in keys. It puts
// those with more frames into more, which may be stack itself, and returns how
// many they are. It stands apart from sum so that all it needs stays in registers.
//
//go:noinline
func addKeys(cums []cumSum, keys []uint32, stack, more []int32, mark int32, v int64) (n int) {
	for _, l := range stack {
		k := keys[l]
		more[n] = l
		n += int(k & 1)
		if s := &cums[k>>1]; s.row != mark {
			s.row = mark
			s.cum += v
		}
	}
	return n
}

// keysAt returns for each location that has a frame at this depth, counted from
// the innermost, twice its key, plus one when the location has more frames.
func (f *frames) keysAt(depth int32) []uint32 {
	keys := make([]uint32, len(f.start)-1)
	for i := range keys {
		at, end := f.start[i]+depth, f.start[i+1]
		if at < end {
			keys[i] = uint32(f.list[at]) << 1
		}
		if at+1 < end {
			keys[i]++
		}
	}
	return keys
}

// outermost is keysAt for the other end: each location's last frame, plus one
// when it has others too.
func (f *frames) outermost() []uint32 {
	keys := make([]uint32, len(f.start)-1)
	for i := range keys {
		keys[i] = uint32(f.list[f.start[i+1]-1]) << 1
		if f.start[i+1]-f.start[i] > 1 {
			keys[i]++
		}
	}
	return keys
}
