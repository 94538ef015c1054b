package profile

import (
	"github.com/hone-go/hone/profile/internal/columns"

	"encoding/binary"
	"slices"
)

// tables interns functions, locations and mappings of profiles that are merged or built. Two
// entries are equal by google/pprof's rules for merging.
type tables struct {
	p    *Profile // the profile whose tables grow
	fns  map[Function]int32
	locs map[string]int32
	maps map[mappingKey]int32
	key  []byte
	slab []Line // memory that locations' lines are slices of
}

func newTables(p *Profile) *tables {
	return &tables{p: p, fns: map[Function]int32{}, locs: map[string]int32{}, maps: map[mappingKey]int32{}}
}

// seededTables returns tables that contain the entries of p. The slices of p are not written to:
// other profiles may share them.
func seededTables(p *Profile) *tables {
	t := newTables(p)
	functions, mappings, locations := p.Functions, p.Mappings, p.Locations
	p.Functions, p.Mappings, p.Locations = slices.Clip(functions), slices.Clip(mappings), slices.Clip(locations)
	for i, f := range functions {
		if _, known := t.fns[f]; !known {
			t.fns[f] = int32(i)
		}
	}
	for i, m := range mappings {
		if k := keyOf(m); !t.hasMapping(k) {
			t.maps[k] = int32(i)
		}
	}
	for i, l := range locations {
		if key := t.locationKey(l); !t.hasLocation(key) {
			t.locs[string(key)] = int32(i)
		}
	}
	return t
}

func (t *tables) hasMapping(k mappingKey) bool { _, ok := t.maps[k]; return ok }

func (t *tables) hasLocation(key []byte) bool { _, ok := t.locs[string(key)]; return ok }

func (t *tables) function(f Function) int32 {
	id, ok := t.fns[f]
	if !ok {
		id = int32(len(t.p.Functions))
		t.fns[f] = id
		t.p.Functions = columns.AppendDoubling(t.p.Functions, f)
	}
	return id
}

// mappingKey identifies binaries, independent of their load address.
type mappingKey struct {
	size, offset uint64
	name         string // build id, else file
}

func keyOf(m Mapping) mappingKey {
	const page = 0x1000 // sizes of one binary differ by less than a page
	k := mappingKey{size: (m.Limit - m.Start + page - 1) / page * page, offset: m.Offset, name: m.BuildID}
	if k.name == "" {
		k.name = m.File
	}
	return k
}

func (t *tables) mapping(m Mapping) int32 {
	k := keyOf(m)
	id, ok := t.maps[k]
	if !ok {
		id = int32(len(t.p.Mappings))
		t.maps[k] = id
		t.p.Mappings = append(t.p.Mappings, m)
	}
	return id
}

// locationKey returns a key that identifies a location. It is valid until the next call.
func (t *tables) locationKey(l Location) []byte {
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
	return t.key
}

// location interns a location whose indices are those of the tables. The lines are copied if the
// location is new.
func (t *tables) location(l Location) int32 {
	key := t.locationKey(l)
	id, ok := t.locs[string(key)]
	if !ok {
		id = int32(len(t.p.Locations))
		t.locs[string(key)] = id
		if cap(t.slab)-len(t.slab) < len(l.Lines) {
			t.slab = make([]Line, 0, max(len(l.Lines), min(4096, 16+len(t.locs))))
		}
		from := len(t.slab)
		t.slab = append(t.slab, l.Lines...)
		l.Lines = t.slab[from:len(t.slab):len(t.slab)]
		t.p.Locations = columns.AppendDoubling(t.p.Locations, l)
	}
	return id
}
