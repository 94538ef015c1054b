package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/profile/report"
)

// DiffPage is the page of `hone diff`.
type DiffPage struct {
	Diff  *compare.Diff
	Noun  string       // what a row is: "function", "line", "path", "file"
	Top   int          // rows per table; 0 for the default, negative for all
	Names report.Names // of functions

	names naming
}

// The page describes the largest changes in a sentence each, and shows this many rows by default.
const (
	diffSentences = 3
	diffRows      = 20
	diffUnknowns  = 5
)

// Diff draws what moved: first in words, then as tables.
func Diff(w io.Writer, p DiffPage, s Style) {
	d := p.Diff
	p.names = p.naming()
	head := fmt.Sprintf("%s → %s · %s", strings.Join(d.Old, " + "), strings.Join(d.New, " + "), p.what())
	if d.Events[0] > 0 && d.Events[1] > 0 {
		head += fmt.Sprintf(" · %s and %s samples", group(d.Events[0]), group(d.Events[1]))
	}
	line(w, "%s", s.paint(faint, head))
	fmt.Fprintln(w)
	for _, line := range p.words() {
		fmt.Fprintln(w, wrap(line, "  ", s.width()))
	}
	var both, gone, added, unknown, same []compare.DiffRow
	for _, r := range d.Rows {
		switch {
		case r.Verdict == compare.Same:
			same = append(same, r)
		case r.Verdict == compare.Unknown:
			unknown = append(unknown, r)
		case r.In == "old":
			gone = append(gone, r)
		case r.In == "new":
			added = append(added, r)
		default:
			both = append(both, r)
		}
	}
	limit, unknowns := diffRows, diffUnknowns
	if p.Top > 0 {
		limit, unknowns = p.Top, p.Top
	}
	if p.Top < 0 {
		limit, unknowns = math.MaxInt, math.MaxInt
	}
	p.section(w, "Moved", both, limit, len(both), s)
	p.section(w, "New", added, limit, len(added), s)
	p.section(w, "Removed", gone, limit, len(gone), s)
	p.section(w, "Inconclusive; by how much they may have moved", unknown, unknowns, d.Counts.Unknown, s)
	if p.Top < 0 {
		p.section(w, "Same", same, limit, d.Counts.Same, s)
	}
	if len(d.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range d.Notes {
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap(n, "      ", s.width()))
	}
}

// words summarizes the diff in sentences.
func (p DiffPage) words() []string {
	d := p.Diff
	var lines []string
	if d.Total != nil {
		lines = append(lines, p.sentence("All together", *d.Total)+".")
	}
	printed := 0
	for _, r := range d.Rows {
		if r.Verdict == compare.Same || r.Verdict == compare.Unknown || printed == diffSentences {
			break
		}
		printed++
		lines = append(lines, p.sentence(p.name(r, false), r)+".")
	}
	c := d.Counts
	return append(lines, fmt.Sprintf("%s moved, %d same (to within %s of the old total), %d inconclusive.",
		plural(c.Moved, p.Noun), c.Same, percent(d.Threshold), c.Unknown))
}

// sentence describes one row.
func (p DiffPage) sentence(name string, r compare.DiffRow) string {
	by, i := p.cost(math.Abs(r.Difference.Value)), r.Difference
	switch r.Verdict {
	case compare.Same:
		return fmt.Sprintf("%s costs the same: %s%s", name, p.cost(r.New), p.per())
	case compare.Unknown:
		return fmt.Sprintf("%s: inconclusive; %s%s, was %s, a difference of %s", name, p.cost(r.New), p.per(), p.cost(r.Old), p.bounds(r))
	}
	switch r.In {
	case "new":
		return fmt.Sprintf("%s is new in the profile and costs %s%s (95 %%: %s)", name, by, p.per(), p.magnitudes(i.Low, i.High))
	case "old":
		return fmt.Sprintf("%s is gone from the profile: %s%s less (95 %%: %s)", name, by, p.per(), p.magnitudes(-i.High, -i.Low))
	}
	if i.Value < 0 {
		return fmt.Sprintf("%s costs %s%s less (%s; 95 %%: %s)", name, by, p.per(), change(*r.Ratio), p.magnitudes(-i.High, -i.Low))
	}
	return fmt.Sprintf("%s costs %s%s more (%s; 95 %%: %s)", name, by, p.per(), change(*r.Ratio), p.magnitudes(i.Low, i.High))
}

// section draws one table with at most limit rows, out of all.
func (p DiffPage) section(w io.Writer, title string, rows []compare.DiffRow, limit, all int, s Style) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	line(w, "%s", s.paint(strong, title))
	cells := [][]string{{"old", "new", "difference", "95 %", ""}}
	for _, r := range rows[:min(limit, len(rows))] {
		diff := p.signed(r.Difference.Value)
		switch r.Verdict {
		case compare.Better:
			diff = s.paint(good, diff)
		case compare.Worse:
			diff = s.paint(bad, diff)
		}
		cells = append(cells, []string{p.cost(r.Old), p.cost(r.New), diff, p.bounds(r), p.name(r, true)})
	}
	for i, line := range table(cells, "  ", 0, 1, 2, 3) {
		if i == 0 {
			line = s.paint(faint, line)
		}
		fmt.Fprintln(w, line)
	}
	if more := all - min(limit, len(rows)); more > 0 {
		fmt.Fprintln(w, s.paint(faint, plural(more, "row")+" more with a larger -top, all with -top -1"))
	}
}

// naming names the functions of all rows.
func (p DiffPage) naming() naming {
	var all []string
	for _, r := range p.Diff.Rows {
		all = append(append(all, r.Function), r.Path...)
	}
	return newNaming(p.Names == report.ExactNames, all, func(name *string) string { return *name })
}

// name returns the name of a row; that of a path is its frames, outermost first.
func (p DiffPage) name(r compare.DiffRow, whole bool) string {
	if len(r.Path) > 0 && whole {
		frames := make([]string, len(r.Path))
		for i, f := range r.Path {
			frames[i] = p.names.of(f)
		}
		return strings.Join(frames, " > ")
	}
	name := p.names.of(r.Function)
	if r.File != "" {
		name = strings.TrimSpace(name + " " + r.File)
		if r.Line != 0 {
			name += fmt.Sprintf(":%d", r.Line)
		}
	}
	if len(r.Path) > 1 {
		name += fmt.Sprintf(" (of %s)", plural(len(r.Path), "frame"))
	}
	return name
}

// cost formats a value in the diff's unit.
func (p DiffPage) cost(x float64) string {
	switch p.Diff.Unit {
	case "s":
		return seconds(x)
	case "B":
		return size(x)
	case "share":
		return percent(x)
	}
	return significant(x)
}

func (p DiffPage) signed(x float64) string {
	if x < 0 {
		return "−" + p.cost(-x)
	}
	return "+" + p.cost(x)
}

func (p DiffPage) bounds(r compare.DiffRow) string {
	i := r.Difference
	if math.IsInf(i.Low, 0) || math.IsInf(i.High, 0) {
		return "unbounded"
	}
	return p.signed(i.Low) + " to " + p.signed(i.High)
}

func (p DiffPage) magnitudes(low, high float64) string { return p.cost(low) + " to " + p.cost(high) }

// per returns the divisor in words.
func (p DiffPage) per() string {
	switch per := p.Diff.Per; per {
	case "":
		return ""
	case "total":
		return " of all"
	case "operation":
		return " an " + per
	default:
		return " a " + per
	}
}

// what says what is compared: "cpu per request", "inuse_space", "cpu as share of the total".
func (p DiffPage) what() string {
	switch d := p.Diff; d.Per {
	case "":
		return d.SampleType
	case "total":
		return d.SampleType + " as share of the total"
	default:
		return d.SampleType + " per " + d.Per
	}
}
