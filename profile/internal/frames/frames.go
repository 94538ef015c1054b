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
	index map[profile.Frame]int32
	Start []int32 // index in List of location i's first frame; one more entry than locations
	List  []int32 // indices of Keys
}

// New numbers the keys of all locations of p.
func New(p *profile.Profile, key func(*profile.Function, int64) profile.Frame) *Table {
	return framesOf(p, func(_ *profile.Location, ln profile.Line) profile.Frame { return key(&p.Functions[ln.Func], ln.Line) })
}

// By numbers the frames of p at a granularity. With columns, frames are also distinguished by
// column; frames by address always are.
func By(p *profile.Profile, g profile.Granularity, columns bool) *Table {
	if g == profile.ByFunction {
		return ByFunction(p)
	}
	return framesOf(p, func(l *profile.Location, ln profile.Line) profile.Frame {
		k := g.Frame(&p.Functions[ln.Func], ln.Line)
		if g == profile.ByAddress || columns && g == profile.ByLine {
			k.Column = ln.Column
		}
		if g == profile.ByAddress {
			k.Address = l.Address
		}
		return k
	}).withAddresses(p, g == profile.ByAddress)
}

// withAddresses distinguishes unknown functions by address if wanted.
func (f *Table) withAddresses(p *profile.Profile, wanted bool) *Table {
	if !wanted {
		return f
	}
	for i := range p.Locations {
		if l := &p.Locations[i]; len(l.Lines) == 0 {
			f.List[f.Start[i]] = f.Number(profile.Frame{Name: objectName(p, l), Address: l.Address})
		}
	}
	return f
}

func framesOf(p *profile.Profile, key func(*profile.Location, profile.Line) profile.Frame) *Table {
	f := newTable(p)
	for i := range p.Locations {
		l := &p.Locations[i]
		for _, ln := range l.Lines {
			k := key(l, ln)
			if k.Name == "" && k.File == "" {
				k.Name = objectName(p, l)
			}
			f.List = append(f.List, f.Number(k))
		}
		f.endLocation(p, l)
	}
	return f
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
					f.List = append(f.List, f.Number(profile.Frame{Name: objectName(p, l)}))
					continue
				}
				known[ln.Func] = f.Number(profile.Frame{Name: name}) + 1
			}
			f.List = append(f.List, known[ln.Func]-1)
		}
		f.endLocation(p, l)
	}
	return f
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
		f.List = append(f.List, f.Number(profile.Frame{Name: objectName(p, l)}))
	}
	f.Start = append(f.Start, int32(len(f.List)))
}

func (f *Table) Number(k profile.Frame) int32 {
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

// Sum is the flat and cum of one key.
type Sum struct{ Flat, Cum int64 }

// cumSum is the cum of one key. row is the last row (plus one) that was added, so that recursion
// counts once. It is stored with cum so that both are in one cache line.
type cumSum struct {
	cum int64
	row int32
}

// Sum sums values, one per row of p, by key.
//
// Most of a report's time is spent here, frame by frame. The loop over a stack therefore has no
// branch that is mispredicted: a location's first key is added immediately, and the few locations
// that have more keys are collected without a branch and added after the stack.
func (f *Table) Sum(p *profile.Profile, values []int64) []Sum {
	sums := make([]Sum, len(f.Keys))
	cums := make([]cumSum, len(f.Keys))
	heads, seconds := f.KeysAt(0), f.KeysAt(1)
	var more []int32 // locations of the stack with more than one frame
	for row, v := range values {
		stack := p.Stack(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		if len(more) < len(stack) {
			more = make([]int32, max(256, 2*len(stack)))
		}
		sums[heads[stack[0]]>>1].Flat += v
		mark := int32(row + 1)
		n := addKeys(cums, heads, stack, more, mark, v)
		n = addKeys(cums, seconds, more[:n], more, mark, v)
		for _, l := range more[:n] { // three frames and more are rare
			for _, k := range f.List[f.Start[l]+2 : f.Start[l+1]] {
				if s := &cums[k]; s.row != mark {
					s.row = mark
					s.cum += v
				}
			}
		}
	}
	for i, c := range cums {
		sums[i].Cum = c.cum
	}
	return sums
}

// addKeys adds v to the key of each location of a stack in keys. It puts the locations with more
// frames into more, which may be stack itself, and returns their number. It is separate from Sum so
// that all its variables stay in registers.
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

// KeysAt returns, for each location that has a frame at this depth, counted from the innermost,
// twice its key, plus one if the location has more frames.
func (f *Table) KeysAt(depth int32) []uint32 {
	keys := make([]uint32, len(f.Start)-1)
	for i := range keys {
		at, end := f.Start[i]+depth, f.Start[i+1]
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
