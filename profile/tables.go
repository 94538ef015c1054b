package profile

import "encoding/binary"

// tables interns functions, locations and mappings of profiles that are joined
// or built. Two entries are one under google/pprof's rules for merging.
type tables struct {
	p    *Profile // whose tables grow
	fns  map[Function]int32
	locs map[string]int32
	maps map[mappingKey]int32
	key  []byte
	slab []Line // that locations' lines are cut from
}

func newTables(p *Profile) *tables {
	return &tables{p: p, fns: map[Function]int32{}, locs: map[string]int32{}, maps: map[mappingKey]int32{}}
}

func (t *tables) function(f Function) int32 {
	id, ok := t.fns[f]
	if !ok {
		id = int32(len(t.p.Functions))
		t.fns[f] = id
		t.p.Functions = appendDoubling(t.p.Functions, f)
	}
	return id
}

// mappingKey tells binaries apart, whatever address they were loaded at.
type mappingKey struct {
	size, offset uint64
	name         string // build id, else file
}

func (t *tables) mapping(m Mapping) int32 {
	const page = 0x1000 // sizes differ by less than a page for one binary
	k := mappingKey{size: (m.Limit - m.Start + page - 1) / page * page, offset: m.Offset, name: m.BuildID}
	if k.name == "" {
		k.name = m.File
	}
	id, ok := t.maps[k]
	if !ok {
		id = int32(len(t.p.Mappings))
		t.maps[k] = id
		t.p.Mappings = append(t.p.Mappings, m)
	}
	return id
}

// location interns a location whose indices are the tables' own. The lines are
// copied when the location is new.
func (t *tables) location(l Location) int32 {
	var start uint64
	if l.Mapping >= 0 {
		start = t.p.Mappings[l.Mapping].Start
	}
	t.key = binary.AppendUvarint(t.key[:0], l.Address-start)
	t.key = binary.AppendVarint(t.key, int64(l.Mapping))
	if l.IsFolded {
		t.key = append(t.key, 1)
	} else {
		t.key = append(t.key, 0)
	}
	for _, ln := range l.Lines {
		t.key = binary.AppendUvarint(t.key, uint64(ln.Func))
		t.key = binary.AppendVarint(t.key, ln.Line)
		t.key = binary.AppendVarint(t.key, ln.Column)
	}
	id, ok := t.locs[string(t.key)]
	if !ok {
		id = int32(len(t.p.Locations))
		t.locs[string(t.key)] = id
		if cap(t.slab)-len(t.slab) < len(l.Lines) {
			t.slab = make([]Line, 0, max(len(l.Lines), min(4096, 16+len(t.locs))))
		}
		from := len(t.slab)
		t.slab = append(t.slab, l.Lines...)
		l.Lines = t.slab[from:len(t.slab):len(t.slab)]
		t.p.Locations = appendDoubling(t.p.Locations, l)
	}
	return id
}
