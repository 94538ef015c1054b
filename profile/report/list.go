package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"

	"cmp"
	"fmt"
	"regexp"
	"slices"
)

// LineCost is the cost of one source line of a function, in the sample type's unit.
type LineCost struct {
	Line      int64
	Flat, Cum int64
}

// FuncLines is the cost of one function in one file, line by line.
type FuncLines struct {
	Name, File string
	StartLine  int64 // smallest in the profile; 0 when the profile has none
	Flat       int64 // of the whole function
	// Cum counts each sample once. pprof prints the sum over the lines instead, which counts a
	// sample twice where a function calls itself from two lines.
	Cum   int64
	Lines []LineCost // by line number; lines whose values are all zero are left out
}

// List returns the functions whose name matches re and that have a cost, sorted by name and file. A
// call inlined into a line counts for that line's cum and for the inlined function's own lines. The
// caller reads the source.
func List(p *profile.Profile, re *regexp.Regexp, sampleIndex int) ([]FuncLines, error) {
	return list(p, re.MatchString, sampleIndex)
}

func list(p *profile.Profile, matchName func(string) bool, sampleIndex int) ([]FuncLines, error) {
	if err := frames.CheckIndex(p, sampleIndex); err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	match := map[string]bool{}
	matches := func(name string) bool {
		m, ok := match[name]
		if !ok {
			m = name != "" && matchName(name)
			match[name] = m
		}
		return m
	}
	lines := frames.New(p, profile.ByLine.Frame)
	funcs := frames.New(p, profile.ByFileFunction.Frame)
	lineSums, funcSums := lines.Sum(p, p.Values(sampleIndex)), funcs.Sum(p, p.Values(sampleIndex))

	at := map[profile.Frame]int{}
	var out []FuncLines
	for i, k := range funcs.Keys {
		if s := funcSums[i]; matches(k.Name) {
			at[k] = len(out)
			out = append(out, FuncLines{Name: k.Name, File: k.File, Flat: s.Flat, Cum: s.Cum})
		}
	}
	for i, k := range lines.Keys {
		if f, ok := at[profile.Frame{Name: k.Name, File: k.File}]; ok && (lineSums[i].Flat != 0 || lineSums[i].Cum != 0) {
			out[f].Lines = append(out[f].Lines, LineCost{Line: k.Line, Flat: lineSums[i].Flat, Cum: lineSums[i].Cum})
		}
	}
	for i := range p.Functions {
		fn := &p.Functions[i]
		if f, ok := at[profile.ByFileFunction.Frame(fn, 0)]; ok && fn.StartLine > 0 && (out[f].StartLine == 0 || fn.StartLine < out[f].StartLine) {
			out[f].StartLine = fn.StartLine
		}
	}
	// In a difference, the lines of a function may cancel out: the function still changed.
	out = slices.DeleteFunc(out, func(f FuncLines) bool { return f.Flat == 0 && f.Cum == 0 && len(f.Lines) == 0 })
	for _, f := range out {
		slices.SortFunc(f.Lines, func(a, b LineCost) int { return cmp.Compare(a.Line, b.Line) })
	}
	slices.SortFunc(out, func(a, b FuncLines) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File))
	})
	return out, nil
}

// List is the function List for a view: with Mean, lines are divided by their counts; with
// DropNegative, negative lines are left out.
func (v *View) List(re *regexp.Regexp) ([]FuncLines, error) { return v.ListFunc(re.MatchString) }

// ListFunc is List for the functions whose name match accepts.
func (v *View) ListFunc(match func(name string) bool) ([]FuncLines, error) {
	funcs, err := list(v.Profile, match, v.Index)
	if err != nil {
		return nil, err
	}
	if v.DropNegative {
		for i := range funcs {
			funcs[i].Lines = slices.DeleteFunc(funcs[i].Lines, func(l LineCost) bool { return l.Flat < 0 || l.Flat == 0 && l.Cum < 0 })
		}
		funcs = slices.DeleteFunc(funcs, func(f FuncLines) bool { return len(f.Lines) == 0 })
	}
	if v.Mean {
		err = v.divideByCounts(match, funcs)
	}
	return funcs, err
}

// divideByCounts divides the costs by the counts in column 0.
func (v *View) divideByCounts(match func(string) bool, funcs []FuncLines) error {
	type key struct {
		name, file string
		line       int64
	}
	counted, err := list(v.Profile, match, 0)
	if err != nil {
		return err
	}
	counts := map[key]LineCost{}
	for _, f := range counted {
		counts[key{f.Name, f.File, -1}] = LineCost{Flat: f.Flat, Cum: f.Cum}
		for _, l := range f.Lines {
			counts[key{f.Name, f.File, l.Line}] = l
		}
	}
	for i := range funcs {
		f := &funcs[i]
		whole := counts[key{f.Name, f.File, -1}]
		f.Flat, f.Cum = quotient(f.Flat, whole.Flat), quotient(f.Cum, whole.Cum)
		for j := range f.Lines {
			l := &f.Lines[j]
			c := counts[key{f.Name, f.File, l.Line}]
			l.Flat, l.Cum = quotient(l.Flat, c.Flat), quotient(l.Cum, c.Cum)
		}
	}
	return nil
}
