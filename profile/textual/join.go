package textual

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile"
)

// Join adds the facts in a goroutine dump to the goroutine profile p, as the labels state, wait,
// creator and thread. Goroutines match if their stacks are equal, frame by frame, without the
// runtime's internal frames, which a dump leaves out. The counts remain those of the profile.
//
// Profile and dump are taken one after the other, so a goroutine that ran in between has no match
// and keeps its labels. If goroutines with the same stack have different labels of their own in the
// profile, it is unknown which of them the dump describes: they get only the labels that the dump
// has for all of them.
func Join(p *profile.Profile, dump []Goroutine) *profile.Profile {
	facts := group(dump)
	keys := make([]string, p.NumSamples())
	rows := map[string]int{}
	for row := range keys {
		keys[row] = profileKey(p, p.Stack(row))
		rows[keys[row]]++
	}
	for k, n := range rows {
		if n > 1 {
			facts[k] = common(facts[k])
		}
	}
	return p.Split(func(row int) []profile.Part { return divide(p, row, facts[keys[row]]) })
}

// groupedLabels is a set of labels and the number of goroutines that have it.
type groupedLabels struct {
	labels []profile.Label
	n      int64
}

// group counts the goroutines of a dump by stack and labels.
func group(dump []Goroutine) map[string][]groupedLabels {
	type fact struct {
		stack, state, creator string
		wait                  int64
		locked                bool
	}
	facts := map[string][]groupedLabels{}
	at := map[fact]int{}
	for i := range dump {
		g := &dump[i]
		f := fact{dumpKey(g.Stack), g.State, g.Creator, g.WaitMinutes, g.LockedToThread}
		n, known := at[f]
		if !known {
			n = len(facts[f.stack])
			at[f] = n
			facts[f.stack] = append(facts[f.stack], groupedLabels{labels: g.labels()[len(g.Labels):]})
		}
		facts[f.stack][n].n++
	}
	return facts
}

// common merges groups into one, with the labels that all of them have.
func common(groups []groupedLabels) []groupedLabels {
	if len(groups) < 2 {
		return groups
	}
	all := groupedLabels{n: groups[0].n}
	all.labels = slices.Clone(groups[0].labels)
	for _, g := range groups[1:] {
		all.n += g.n
		all.labels = slices.DeleteFunc(all.labels, func(l profile.Label) bool { return !slices.Contains(g.labels, l) })
	}
	return []groupedLabels{all}
}

// divide assigns goroutines of groups to a row. The goroutines for which no group is left keep
// their labels.
func divide(p *profile.Profile, row int, groups []groupedLabels) []profile.Part {
	own := p.Labels(row)
	left := p.Values(0)[row]
	var parts []profile.Part
	for i := range groups {
		g := &groups[i]
		n := min(g.n, left)
		if n <= 0 {
			continue
		}
		parts = append(parts, profile.Part{Labels: slices.Concat(own, g.labels), Values: []int64{n}})
		g.n -= n
		left -= n
	}
	if left != 0 || len(parts) == 0 {
		parts = append(parts, profile.Part{Labels: own, Values: []int64{left}})
	}
	return parts
}

func dumpKey(stack []profile.FrameSpec) string {
	var b []byte
	for _, f := range stack {
		b = appendFrame(b, f.Function, f.Line)
	}
	return string(b)
}

func profileKey(p *profile.Profile, stack []int32) string {
	var b []byte
	for _, l := range stack {
		for _, ln := range p.Locations[l].Lines {
			b = appendFrame(b, p.Functions[ln.Func].Name, ln.Line)
		}
	}
	return string(b)
}

func appendFrame(b []byte, name string, line int64) []byte {
	if isInternal(name) {
		return b
	}
	b = appendGeneric(b, name)
	b = append(b, ':')
	b = strconv.AppendInt(b, line, 10)
	return append(b, '\n')
}

// isInternal reports whether dumps leave a function out: an unexported function of package runtime
// (runtime/traceback.go, showfuncinfo).
func isInternal(name string) bool {
	name, ok := strings.CutPrefix(name, "runtime.")
	if !ok {
		return false
	}
	name = strings.TrimPrefix(name, "(*")
	return name == "" || name[0] < 'A' || name[0] > 'Z'
}

// appendGeneric appends a name with its type arguments as "[...]", as dumps write them.
func appendGeneric(b []byte, name string) []byte {
	depth := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '[':
			if depth++; depth == 1 {
				b = append(b, "[...]"...)
			}
		case c == ']' && depth > 0:
			depth--
		case depth == 0:
			b = append(b, c)
		}
	}
	return b
}
