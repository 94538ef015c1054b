package profile

import "fmt"

// resolve turns the file's ids and string indices into the profile's own and checks them, after
// everything is read.
func (d *decoder) resolve() error {
	for _, step := range []func() error{d.resolveHeader, d.resolveFunctions, d.resolveMappings, d.resolveLocations, d.resolveSamples, d.resolveLabels} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// text returns a string of the string table; who names the referring entry in the error.
func (d *decoder) text(id int32, who string) (string, error) {
	if int(id) < len(d.strs) {
		return d.strs[id], nil
	}
	if id == 0 {
		return "", nil // a profile without any text may have no table
	}
	return "", syntaxErrorf(-1, who, "refers to string %d of %d", id, len(d.strs))
}

// texts resolves several references of one entry.
func (d *decoder) texts(who string, refs ...any) error {
	for i := 0; i < len(refs); i += 2 {
		s, err := d.text(refs[i+1].(int32), who)
		if err != nil {
			return err
		}
		*refs[i].(*string) = s
	}
	return nil
}

func (d *decoder) resolveHeader() error {
	p := d.p
	for _, t := range d.types {
		var v ValueType
		if err := d.texts("sample_type", &v.Type, t.typ, &v.Unit, t.unit); err != nil {
			return err
		}
		p.SampleTypes = append(p.SampleTypes, v)
	}
	for _, c := range d.comments {
		s, err := d.text(c, "comment")
		if err != nil {
			return err
		}
		p.Comments = append(p.Comments, s)
	}
	return d.texts("profile",
		&p.PeriodType.Type, d.periodType.typ, &p.PeriodType.Unit, d.periodType.unit,
		&p.DropFrames, d.dropFrames, &p.KeepFrames, d.keepFrames,
		&p.DefaultSampleType, d.defaultType, &p.DocURL, d.docURL)
}

func (d *decoder) resolveFunctions() error {
	d.p.Functions = make([]Function, len(d.functions))
	ids := idTable{kind: "function"}
	for i, r := range d.functions {
		if err := ids.add(r.id, i); err != nil {
			return err
		}
		f := &d.p.Functions[i]
		f.StartLine = r.startLine
		var err error
		if f.Name, err = d.text(r.name, "function"); err != nil {
			return err
		}
		if f.SystemName, err = d.text(r.systemName, "function"); err != nil {
			return err
		}
		if f.Filename, err = d.text(r.filename, "function"); err != nil {
			return err
		}
	}
	d.functions = nil
	ids.seal()
	next := 0
	for i := range d.p.Locations {
		lines := d.p.Locations[i].Lines
		for j := range lines {
			f := ids.find(d.lineFuncs[next])
			if f < 0 {
				return syntaxErrorf(-1, fmt.Sprintf("location %d", d.locations[i].id), "refers to function %d, which the profile does not have", d.lineFuncs[next])
			}
			lines[j].Func = f
			next++
		}
	}
	d.lineFuncs = nil
	return nil
}

func (d *decoder) resolveMappings() error {
	ids := idTable{kind: "mapping"}
	for i, r := range d.mappings {
		if err := ids.add(r.id, i); err != nil {
			return err
		}
		if err := d.texts("mapping", &r.m.File, r.file, &r.m.BuildID, r.buildID); err != nil {
			return err
		}
		d.p.Mappings = append(d.p.Mappings, r.m)
	}
	ids.seal()
	for i, r := range d.locations {
		// A mapping that does not exist counts as none, as in google/pprof.
		d.p.Locations[i].Mapping = ids.find(r.mapping)
	}
	return nil
}

func (d *decoder) resolveLocations() error {
	s := &d.samples
	ids := idTable{kind: "location"}
	for i, r := range d.locations {
		if err := ids.add(r.id, i); err != nil {
			return err
		}
	}
	d.locations = nil
	if ids.sparse == nil && s.maxID <= uint64(ids.n) && len(s.bigIDs) == 0 {
		return nil
	}
	ids.seal()
	for row := range s.stacks.Spans {
		stack := s.stacks.Row(row)
		for i, x := range stack {
			id := uint64(x) + 1
			if x < 0 {
				id = s.bigIDs[-1-x]
			}
			if stack[i] = ids.find(id); stack[i] < 0 {
				return syntaxErrorf(-1, fmt.Sprintf("sample %d", row), "refers to location %d, which the profile does not have", id)
			}
		}
	}
	return nil
}

func (d *decoder) resolveSamples() error {
	s := &d.samples
	if s.rows() == 0 {
		s.values = make([][]int64, len(d.p.SampleTypes))
	}
	if len(s.values) != len(d.p.SampleTypes) {
		return syntaxErrorf(-1, "sample_type", "there are %d types, but the samples have %d values", len(d.p.SampleTypes), len(s.values))
	}
	if len(s.values) == 0 && s.rows() > 0 {
		return syntaxErrorf(-1, "sample_type", "is missing")
	}
	d.p.stacks, d.p.values = s.stacks, s.values
	return nil
}

func (d *decoder) resolveLabels() error {
	s := &d.samples
	if s.labelSet == nil {
		return nil
	}
	in := newLabelInterner()
	sets := make([]int32, len(s.rawSets))
	known := map[int32]int32{0: 0} // string index in the file → in the interner
	str := func(id int32) (int32, error) {
		if x, ok := known[id]; ok {
			return x, nil
		}
		t, err := d.text(id, "label")
		if err != nil {
			return 0, err
		}
		x := in.str(t)
		known[id] = x
		return x, nil
	}
	var ids []label
	for i, span := range s.rawSets {
		ids = ids[:0]
		for _, r := range s.raw[span.off : span.off+span.n] {
			var l label
			var err error
			if l.key, err = str(r.key); err != nil {
				return err
			}
			if l.str, err = str(r.str); err != nil {
				return err
			}
			if r.str == 0 { // text takes precedence over a number, as in google/pprof
				l.num = r.num
				if l.unit, err = str(r.unit); err != nil {
					return err
				}
			}
			ids = append(ids, l)
		}
		sets[i] = in.add(ids)
	}
	for row, raw := range s.labelSet {
		s.labelSet[row] = sets[raw]
	}
	d.p.labelSet, d.p.labels = s.labelSet, in.table
	return nil
}
