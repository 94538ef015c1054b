package profile

import (
	"path/filepath"
	"slices"
	"strings"
)

// withLabelFrames adds frames for labels of these keys: above the stack for
// roots, the first outermost, and below it for leaves, the last innermost. A
// frame's function is the values of the label, its file the key. Numbers are
// printed in unit. A sample without the label gets a frame without a name.
func (p *Profile) withLabelFrames(roots, leaves []string, unit string) *Profile {
	if len(roots) == 0 && len(leaves) == 0 {
		return p
	}
	q := *p
	q.Functions, q.Locations = slices.Clone(p.Functions), slices.Clone(p.Locations)
	known := map[[2]string]int32{}
	frame := func(labels []Label, key string) int32 {
		at := [2]string{labelText(labels, key, unit), key}
		l, ok := known[at]
		if !ok {
			l = int32(len(q.Locations))
			known[at] = l
			q.Locations = append(q.Locations, Location{Mapping: -1, Lines: []Line{{Func: int32(len(q.Functions))}}})
			q.Functions = append(q.Functions, Function{Name: at[0], Filename: key})
		}
		return l
	}
	above, below := make([][]int32, p.NumLabelSets()), make([][]int32, p.NumLabelSets())
	for set := range above {
		labels := p.labels.set(set)
		for _, key := range slices.Backward(roots) {
			above[set] = append(above[set], frame(labels, key))
		}
		for _, key := range slices.Backward(leaves) {
			below[set] = append(below[set], frame(labels, key))
		}
	}
	q.stacks = stackColumn{}
	for row := range p.NumSamples() {
		set, stack := p.LabelSet(row), p.stacks.row(row)
		n := len(below[set]) + len(stack) + len(above[set])
		room := q.stacks.reserve(n)[:0]
		room = append(room, below[set]...)
		room = append(room, stack...)
		_ = append(room, above[set]...)
		q.stacks.commit(n)
	}
	return &q
}

// labelText joins the values that a label set has for a key.
func labelText(labels []Label, key, unit string) string {
	var values []string
	// Numbers without any unit are plain, whatever unit was asked for.
	hasUnit := slices.ContainsFunc(labels, func(l Label) bool { return l.Key == key && l.Unit != "" })
	if !hasUnit {
		unit = ""
	}
	for _, l := range labels {
		switch {
		case l.Key != key:
		case l.Str != "":
			values = append(values, l.Str)
		default:
			values = append(values, FormatValue(l.Num, l.Unit, unit))
		}
	}
	return strings.Join(values, ",")
}

// withoutInlines leaves each location the function that stands there in the
// binary; what was inlined into it is its own. Columns, which distinguish calls within a
// line, go too unless they are asked for, as in pprof.
func (p *Profile) withoutInlines(columns bool) *Profile {
	q := *p
	q.Locations = slices.Clone(p.Locations)
	for i := range q.Locations {
		if l := &q.Locations[i]; len(l.Lines) > 1 {
			l.Lines = l.Lines[len(l.Lines)-1:]
		}
		if l := &q.Locations[i]; len(l.Lines) == 1 && l.Lines[0].Column != 0 && !columns {
			line := l.Lines[0]
			line.Column = 0
			l.Lines = []Line{line}
		}
	}
	return &q
}

// withTrimmedPaths shortens file names as pprof's trim_path and source_path have
// it; see ViewOptions. The prefixes of Bazel's sandbox always go.
func (p *Profile) withTrimmedPaths(trim, search string) *Profile {
	t := newPathTrimmer(trim, search)
	q := *p
	q.Functions = nil
	for i := range p.Functions {
		file := p.Functions[i].Filename
		short := t.trim(file)
		if len(short) == len(file) {
			continue
		}
		if q.Functions == nil {
			q.Functions = slices.Clone(p.Functions)
		}
		q.Functions[i].Filename = short
	}
	if q.Functions == nil {
		return p
	}
	return &q
}

// pathTrimmer cuts file names: behind the first of elements that they have,
// else the first of prefixes that they begin with.
type pathTrimmer struct{ elements, prefixes []string }

func newPathTrimmer(trim, search string) *pathTrimmer {
	t := &pathTrimmer{}
	if trim == "" {
		for _, dir := range filepath.SplitList(search) {
			t.elements = append(t.elements, "/"+filepath.Base(filepath.ToSlash(dir))+"/")
		}
	}
	for _, prefix := range filepath.SplitList(trim) {
		t.prefixes = append(t.prefixes, strings.TrimSuffix(filepath.ToSlash(prefix), "/")+"/")
	}
	t.prefixes = append(t.prefixes, "/proc/self/cwd/./", "/proc/self/cwd/")
	return t
}

func (t *pathTrimmer) trim(file string) string {
	slashed := filepath.ToSlash(file)
	for _, element := range t.elements {
		if i := strings.Index(slashed, element); i >= 0 {
			return file[i+len(element):]
		}
	}
	for _, prefix := range t.prefixes {
		if strings.HasPrefix(slashed, prefix) {
			return file[len(prefix):]
		}
	}
	return file
}
