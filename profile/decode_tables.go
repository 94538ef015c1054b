package profile

import "github.com/hone-go/hone/profile/internal/columns"

// The decoder's table entries, with references as in the file.
type (
	typeRef     struct{ typ, unit int32 }
	functionRef struct {
		id                         uint64
		name, systemName, filename int32
		startLine                  int64
	}
	mappingRef struct {
		id            uint64
		file, buildID int32
		m             Mapping
	}
	locationRef struct{ id, mapping uint64 }
)

func valueType(m message) (t typeRef, err error) {
	err = m.fields(2, func(f field) (err error) {
		switch f.num {
		case 1:
			t.typ, err = stringRef(&f, m.name)
		case 2:
			t.unit, err = stringRef(&f, m.name)
		}
		return err
	})
	return t, err
}

func (d *decoder) function(m message) error {
	var fn functionRef
	err := m.fields(5, func(f field) (err error) {
		switch f.num {
		case 1:
			fn.id = f.val
		case 2:
			fn.name, err = stringRef(&f, m.name)
		case 3:
			fn.systemName, err = stringRef(&f, m.name)
		case 4:
			fn.filename, err = stringRef(&f, m.name)
		case 5:
			fn.startLine = int64(f.val)
		}
		return err
	})
	d.functions = columns.AppendDoubling(d.functions, fn)
	return err
}

func (d *decoder) mapping(m message) error {
	var r mappingRef
	err := m.fields(10, func(f field) (err error) {
		switch f.num {
		case 1:
			r.id = f.val
		case 2:
			r.m.Start = f.val
		case 3:
			r.m.Limit = f.val
		case 4:
			r.m.Offset = f.val
		case 5:
			r.file, err = stringRef(&f, m.name)
		case 6:
			r.buildID, err = stringRef(&f, m.name)
		case 7:
			r.m.HasFunctions = f.val != 0
		case 8:
			r.m.HasFilenames = f.val != 0
		case 9:
			r.m.HasLineNumbers = f.val != 0
		case 10:
			r.m.HasInline = f.val != 0
		}
		return err
	})
	d.mappings = append(d.mappings, r)
	return err
}

func (d *decoder) location(m message) error {
	var (
		ref locationRef
		loc Location
	)
	first := len(d.lines)
	var f field
	for {
		ok, err := m.next(&f)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if f.num > 5 {
			continue
		}
		if want := wireVarint; f.num == 4 && f.wire != wireBytes || f.num != 4 && f.wire != want {
			return syntaxErrorf(f.at, m.name, "field %d has the wrong wire type %d", f.num, f.wire)
		}
		switch f.num {
		case 1:
			ref.id = f.val
		case 2:
			ref.mapping = f.val
		case 3:
			loc.Address = f.val
		case 4:
			if err := d.line(message{b: f.data, at: m.dataAt(&f), name: "location: line"}, &first); err != nil {
				return err
			}
		case 5:
			loc.IsFolded = f.val != 0
		}
	}
	if n := len(d.lines); n > first {
		loc.Lines = d.lines[first:n:n]
	}
	d.locations = columns.AppendDoubling(d.locations, ref)
	d.p.Locations = columns.AppendDoubling(d.p.Locations, loc)
	return nil
}

// line appends a line to the slab. When the slab is full, the lines of the current location, from
// *first on, are moved to a new one.
func (d *decoder) line(m message, first *int) error {
	var (
		l  Line
		id uint64
	)
	err := m.fields(3, func(f field) error {
		switch f.num {
		case 1:
			id = f.val
		case 2:
			l.Line = int64(f.val)
		case 3:
			l.Column = int64(f.val)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if id == 0 {
		return syntaxErrorf(m.at, m.name, "has no function")
	}
	if len(d.lines) == cap(d.lines) {
		have := d.lines[*first:]
		slab := make([]Line, len(have), max(2*len(have), min(4096, 64+len(d.lineFuncs))))
		copy(slab, have)
		d.lines, *first = slab, 0
	}
	d.lines = append(d.lines, l)
	d.lineFuncs = columns.AppendDoubling(d.lineFuncs, id)
	return nil
}
