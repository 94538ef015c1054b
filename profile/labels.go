package profile

import (
	"encoding/binary"
	"slices"
	"strings"
)

// label is a Label with its texts as indices in labelTable.strs. str is 0 for a label with a
// number.
type label struct {
	key, str, unit int32
	num            int64
}

type labelSpan struct{ off, n uint32 }

// labelTable holds the distinct label sets of a profile.
type labelTable struct {
	strs []string // strs[0] is ""
	sets []labelSpan
	flat []label
}

func (t *labelTable) ids(set int) []label {
	if len(t.sets) == 0 {
		return nil
	}
	s := t.sets[set]
	return t.flat[s.off : s.off+s.n]
}

func (t *labelTable) set(set int) []Label {
	ids := t.ids(set)
	if len(ids) == 0 {
		return nil
	}
	out := make([]Label, len(ids))
	for i, l := range ids {
		out[i] = Label{Key: t.strs[l.key], Str: t.strs[l.str], Num: l.num, Unit: t.strs[l.unit]}
	}
	return out
}

// labelInterner builds a labelTable in which equal sets have one number.
type labelInterner struct {
	table labelTable
	strID map[string]int32
	setID map[string]int32
	key   []byte
}

func newLabelInterner() *labelInterner {
	return &labelInterner{
		table: labelTable{strs: []string{""}, sets: []labelSpan{{}}},
		strID: map[string]int32{"": 0},
		setID: map[string]int32{"": 0},
	}
}

func (in *labelInterner) str(s string) int32 {
	id, ok := in.strID[s]
	if !ok {
		id = int32(len(in.table.strs))
		in.strID[s] = id
		in.table.strs = append(in.table.strs, s)
	}
	return id
}

// add returns the number of a set, given in any order; it reorders ids. Labels without a value (no
// text, no number, no unit) are left out, as google/pprof does when it reads them.
func (in *labelInterner) add(ids []label) int32 {
	ids = slices.DeleteFunc(ids, func(l label) bool { return l.str == 0 && l.num == 0 && l.unit == 0 })
	slices.SortStableFunc(ids, func(a, b label) int {
		if aNum := a.str == 0; aNum != (b.str == 0) {
			if aNum {
				return 1
			}
			return -1
		}
		if a.key == b.key {
			return 0
		}
		return strings.Compare(in.table.strs[a.key], in.table.strs[b.key])
	})
	in.key = in.key[:0]
	for _, l := range ids {
		in.key = binary.AppendUvarint(in.key, uint64(l.key))
		in.key = binary.AppendUvarint(in.key, uint64(l.str))
		in.key = binary.AppendUvarint(in.key, uint64(l.unit))
		in.key = binary.AppendVarint(in.key, l.num)
	}
	if id, ok := in.setID[string(in.key)]; ok {
		return id
	}
	id := int32(len(in.table.sets))
	in.setID[string(in.key)] = id
	in.table.sets = append(in.table.sets, labelSpan{uint32(len(in.table.flat)), uint32(len(ids))})
	in.table.flat = append(in.table.flat, ids...)
	return id
}

// addLabels is add for Labels.
func (in *labelInterner) addLabels(labels []Label) int32 {
	ids := make([]label, len(labels))
	for i, l := range labels {
		ids[i] = label{key: in.str(l.Key), str: in.str(l.Str)}
		if l.Str == "" {
			ids[i].num, ids[i].unit = l.Num, in.str(l.Unit)
		}
	}
	return in.add(ids)
}

// LabelUnits returns the unit of each key of labels with numbers, as pprof infers it: the first
// unit in a sample; without any, bytes for "alignment" and "request", and otherwise the key itself.
func (p *Profile) LabelUnits() map[string]string {
	units := map[string]string{}
	seen := make([]bool, p.NumLabelSets())
	for row := range p.NumSamples() {
		set := p.LabelSet(row)
		if seen[set] {
			continue
		}
		seen[set] = true
		for _, l := range p.labels.set(set) {
			if l.Str == "" && units[l.Key] == "" {
				units[l.Key] = l.Unit
			}
		}
	}
	for key, unit := range units {
		switch {
		case unit != "":
		case key == "alignment" || key == "request":
			units[key] = "bytes"
		default:
			units[key] = key
		}
	}
	return units
}
