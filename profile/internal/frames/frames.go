package frames

import (
	"fmt"
	"path"

	"github.com/hone-go/hone/profile"
)

// Table maps locations to the keys of their frames, leaf first. Most locations have one frame;
// those with inlined calls have several.
type Table struct {
	Keys  []profile.Frame
	index map[profile.Frame]int32 // while the table is built
	Start []int32                 // index in List of location i's first frame; one more entry than locations
	List  []int32                 // indices of Keys

	hidden []bool // in a table without hidden frames: which those are, by position in the whole List
}

// New numbers the keys of all locations of p.
func New(p *profile.Profile, key func(*profile.Function, int64) profile.Frame) *Table {
	return framesOf(p, func(f *Table, l *profile.Location, ln profile.Line) int32 {
		return f.numberAt(p, l, key(&p.Functions[ln.Func], ln.Line))
	}).done()
}

// By numbers the frames of p at a granularity. With columns, frames are also distinguished by
// column; frames by address always are.
func By(p *profile.Profile, g profile.Granularity, columns bool) *Table {
	if g == profile.ByFunction {
		return ByFunction(p)
	}
	// The names of a function's frames are hashed once, not for each line.
	of, files := make([]int32, len(p.Functions)), make([]profile.Frame, 0, len(p.Functions))
	known := make(map[profile.Frame]int32, len(p.Functions))
	for i := range p.Functions {
		k := g.Frame(&p.Functions[i], 0) // cleaning a file's name costs more than the rest
		n, ok := known[k]
		if !ok {
			n = int32(len(files))
			known[k], files = n, append(files, k)
		}
		of[i] = n
	}
	lines := g == profile.ByLine || g == profile.ByAddress
	if !lines {
		return framesOf(p, numberOnce(p, of, files)).done()
	}
	places := make(map[place]int32, len(p.Locations))
	return framesOf(p, func(f *Table, l *profile.Location, ln profile.Line) int32 {
		at := place{of: int64(of[ln.Func]), line: ln.Line}
		if g == profile.ByAddress || columns {
			at.column = ln.Column
		}
		if g == profile.ByAddress {
			at.address = l.Address
		}
		if n, ok := places[at]; ok {
			return n
		}
		k := files[at.of]
		k.Line, k.Column, k.Address = at.line, at.column, at.address
		if k.File == "" && (k.Name == "" || k.Name[0] == '[' || k.Name[0] == '<') {
			return f.numberAt(p, l, k) // an unknown function, or a name like that of one
		}
		n := int32(len(f.Keys))
		places[at], f.Keys = n, append(f.Keys, k)
		return n
	}).withAddresses(p, g == profile.ByAddress).done()
}

// numberOnce numbers keys without lines: files has those of functions, by number in of.
func numberOnce(p *profile.Profile, of []int32, files []profile.Frame) func(*Table, *profile.Location, profile.Line) int32 {
	numbers := make([]int32, len(files)) // plus one; 0 if unknown
	return func(f *Table, l *profile.Location, ln profile.Line) int32 {
		at := of[ln.Func]
		if numbers[at] > 0 {
			return numbers[at] - 1
		}
		n := f.numberAt(p, l, files[at])
		if files[at] != (profile.Frame{}) { // otherwise the name depends on the location
			numbers[at] = n + 1
		}
		return n
	}
}

// place is a frame whose function and file have a number.
type place struct {
	of, line, column int64 // without padding, which is slower to hash
	address          uint64
}

// done releases the memory that is only needed to number keys.
func (f *Table) done() *Table {
	f.index = nil
	return f
}

// withAddresses distinguishes unknown functions by address if wanted.
func (f *Table) withAddresses(p *profile.Profile, wanted bool) *Table {
	if !wanted {
		return f
	}
	for i := range p.Locations {
		if l := &p.Locations[i]; len(l.Lines) == 0 {
			f.List[f.Start[i]] = f.number(profile.Frame{Name: objectName(p, l), Address: l.Address})
		}
	}
	return f
}

func framesOf(p *profile.Profile, number func(*Table, *profile.Location, profile.Line) int32) *Table {
	f := newTable(p)
	for i := range p.Locations {
		l := &p.Locations[i]
		for _, ln := range l.Lines {
			f.List = append(f.List, number(f, l, ln))
		}
		f.endLocation(p, l)
	}
	return f
}

// numberAt returns the number of a key at a location, after which it is named if it has no name.
func (f *Table) numberAt(p *profile.Profile, l *profile.Location, k profile.Frame) int32 {
	if k.Name == "" && k.File == "" {
		k.Name = objectName(p, l)
	}
	return f.number(k)
}

// ByFunction is By for keys with only the function's name: a key is looked up once per function
// instead of once per line.
func ByFunction(p *profile.Profile) *Table {
	f := newTable(p)
	known := make([]int32, len(p.Functions)) // the number of each function's key, plus one
	for i := range p.Locations {
		l := &p.Locations[i]
		for _, ln := range l.Lines {
			if known[ln.Func] == 0 {
				name := p.Functions[ln.Func].Name
				if name == "" {
					f.List = append(f.List, f.number(profile.Frame{Name: objectName(p, l)}))
					continue
				}
				known[ln.Func] = f.number(profile.Frame{Name: name}) + 1
			}
			f.List = append(f.List, known[ln.Func]-1)
		}
		f.endLocation(p, l)
	}
	return f.done()
}

func newTable(p *profile.Profile) *Table {
	return &Table{
		index: make(map[profile.Frame]int32, len(p.Functions)),
		Start: make([]int32, 1, len(p.Locations)+1),
		List:  make([]int32, 0, len(p.Locations)+len(p.Locations)/4),
	}
}

// endLocation ends the list of a location's frames; a location without any gets one.
func (f *Table) endLocation(p *profile.Profile, l *profile.Location) {
	if len(l.Lines) == 0 {
		f.List = append(f.List, f.number(profile.Frame{Name: objectName(p, l)}))
	}
	f.Start = append(f.Start, int32(len(f.List)))
}

// number returns the number of a key.
func (f *Table) number(k profile.Frame) int32 {
	i, ok := f.index[k]
	if !ok {
		i = int32(len(f.Keys))
		f.index[k] = i
		f.Keys = append(f.Keys, k)
	}
	return i
}

// objectName returns the name for an unknown function, as in pprof.
func objectName(p *profile.Profile, l *profile.Location) string {
	if l.Mapping < 0 || p.Mappings[l.Mapping].File == "" {
		return "<unknown>"
	}
	return "[" + path.Base(p.Mappings[l.Mapping].File) + "]"
}

// Without returns the table without the hidden frames, with the same keys. hidden is by position in
// List. A location may have no frame left.
func (f *Table) Without(hidden []bool) *Table {
	q := &Table{Keys: f.Keys, Start: make([]int32, 1, len(f.Start)), List: make([]int32, 0, len(f.List)), hidden: hidden}
	for l := range len(f.Start) - 1 {
		for at := f.Start[l]; at < f.Start[l+1]; at++ {
			if !hidden[at] {
				q.List = append(q.List, f.List[at])
			}
		}
		q.Start = append(q.Start, int32(len(q.List)))
	}
	return q
}

// KeysAt returns, for each location that has a frame at this depth, counted from the innermost,
// twice its key, plus one if the location has more frames. For other locations, the key is the one
// after all keys.
func (f *Table) KeysAt(depth int32) []uint32 {
	keys := make([]uint32, len(f.Start)-1)
	for i := range keys {
		at, end := f.Start[i]+depth, f.Start[i+1]
		keys[i] = uint32(len(f.Keys)) << 1
		if at < end {
			keys[i] = uint32(f.List[at]) << 1
		}
		if at+1 < end {
			keys[i]++
		}
	}
	return keys
}

// Outermost is KeysAt for the other end: for each location twice the key of its last frame, plus
// one if it has other frames.
func (f *Table) Outermost() []uint32 {
	keys := make([]uint32, len(f.Start)-1)
	for i := range keys {
		keys[i] = uint32(f.List[f.Start[i+1]-1]) << 1
		if f.Start[i+1]-f.Start[i] > 1 {
			keys[i]++
		}
	}
	return keys
}

// CheckIndex returns an error if the profile has no column i.
func CheckIndex(p *profile.Profile, i int) error {
	if i < 0 || i >= len(p.SampleTypes) {
		return fmt.Errorf("sample index %d is outside 0 to %d", i, len(p.SampleTypes)-1)
	}
	return nil
}
