package inspect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// Remark is what is known about a line in addition to its cost: a decision of the compiler, the
// calls that were inlined there according to the profile, how often it ran, or how many inputs its
// function got. A remark is not a cost: only a profile shows whether a line allocates.
type Remark struct {
	Line int64
	Kind string // "escape", "inlining", "inlined call", "bounds check", "copy", "executions" or "inputs"
	Text string // "s escapes to the heap: returned"
}

// RemarkOptions limits the work for remarks.
type RemarkOptions struct {
	// All asks the compiler about all packages of the listing. Otherwise it is asked about one, the
	// most expensive outside the standard library, and only if Source.KnownBuild.
	All bool
}

// maxRemarkPackages is the maximum number of packages that are compiled for one listing.
const maxRemarkPackages = 16

// AddRemarks adds to a listing the compiler's decisions about lines with a cost, why functions are
// not inlined (at their heads), and the calls that were inlined into a line according to the
// profile. The compiler's facts come from src.Code. If there are none for a function, the listing's
// notes say why.
func AddRemarks(ctx context.Context, src *source.Source, l *Listing, o RemarkOptions) error {
	places := make([]remarkPlace, len(l.Functions))
	for i := range l.Functions {
		f := &l.Functions[i]
		places[i] = remarkPlace{f.Name, sourceFile(src, l.View, f.File), f.Cum}
	}
	asked, err := askCompiler(ctx, src, places, o)
	if err != nil {
		return err
	}
	l.Notes = append(l.Notes, asked.notes...)
	calls := inlinedCalls(src.Profile)
	for i := range l.Functions {
		f := &l.Functions[i]
		f.Remarks = append(counted(src, l.View, &f.FuncLines, places[i].file), remarksOn(&f.FuncLines, places[i].file, asked.about(i), calls)...)
		slices.SortStableFunc(f.Remarks, func(a, b Remark) int { return int(a.Line - b.Line) })
	}
	return nil
}

// AddInstRemarks adds to a disassembly the compiler's decisions about instructions with a cost: at
// the first one of a line, in the chain of calls that it is in.
func AddInstRemarks(ctx context.Context, src *source.Source, d *Disassembly, o RemarkOptions) error {
	places := make([]remarkPlace, len(d.Functions))
	for i := range d.Functions {
		f := &d.Functions[i]
		if frames := f.Insts[0].Frames; len(frames) > 0 {
			places[i] = remarkPlace{f.Name, frames[len(frames)-1].File, f.Cum}
		}
	}
	asked, err := askCompiler(ctx, src, places, o)
	if err != nil {
		return err
	}
	d.Notes = append(d.Notes, asked.notes...)
	for i := range d.Functions {
		if facts := asked.about(i); facts != nil {
			instRemarks(d.Functions[i].Insts, facts)
		}
	}
	return nil
}

func instRemarks(insts []CostedInst, facts *gocode.Facts) {
	said := map[string]bool{}
	for i := range insts {
		in := &insts[i]
		if in.Flat == 0 && in.Cum == 0 || len(in.Frames) == 0 {
			continue
		}
		var chain []gocode.Pos
		for _, f := range slices.Backward(in.Frames) {
			chain = append(chain, gocode.Pos{File: f.File, Line: f.Line})
		}
		key := fmt.Sprint(chain)
		if said[key] {
			continue
		}
		said[key] = true
		for _, fact := range facts.AtChain(chain) {
			kind, text := fact.Words()
			if r := (Remark{int64(in.Frames[0].Line), kind, text}); text != "" && !slices.Contains(in.Remarks, r) {
				in.Remarks = append(in.Remarks, r)
			}
		}
	}
}

// noRemarks is the start of the note on a package without facts.
const noRemarks = "no remarks of the compiler on"

// remarkPlace is a function that the compiler may be asked about.
type remarkPlace struct {
	function, file string
	cost           int64
}

// answers is the compiler's facts about the places it was asked about.
type answers struct {
	facts *gocode.Facts // nil when it was not asked
	moved []bool        // by place: the source may have changed
	notes []string
}

// about returns the facts that are valid for a place, nil if there are none.
func (a *answers) about(place int) *gocode.Facts {
	if a.moved[place] {
		return nil // the compiler's facts may be about other lines
	}
	return a.facts
}

// askCompiler gets the facts of the packages that own the places, as far as o allows.
func askCompiler(ctx context.Context, src *source.Source, places []remarkPlace, o RemarkOptions) (*answers, error) {
	a := &answers{moved: make([]bool, len(places))}
	noted := map[string]bool{}
	var still []remarkPlace // those whose source is that of the build
	for i, at := range places {
		moved := src.Code.Moved(ctx, at.file)
		if a.moved[i] = moved != ""; !a.moved[i] {
			still = append(still, at)
		} else if !noted[moved] {
			noted[moved] = true
			a.notes = append(a.notes, moved+"; so line numbers may have changed, and the compiler's remarks are left out")
		}
	}
	pkgs, notes := remarkPackages(src, still, o)
	a.notes = append(a.notes, notes...)
	if len(pkgs) > 0 {
		var err error
		if a.facts, err = src.Code.Facts(ctx, pkgs); err != nil {
			return nil, fmt.Errorf("ask the compiler: %w", err)
		}
		_, lacking := a.facts.Packages()
		for _, p := range pkgs {
			if why := lacking[p]; why != "" {
				a.notes = append(a.notes, fmt.Sprintf(noRemarks+" %s: %s", p, why))
			}
		}
	}
	return a, nil
}

// remarkPackages chooses the packages to ask the compiler about, most expensive first.
func remarkPackages(src *source.Source, places []remarkPlace, o RemarkOptions) (pkgs, notes []string) {
	if !o.All && !src.KnownBuild {
		return nil, nil
	}
	cost := map[string]int64{}
	for _, at := range places {
		owner := src.Code.Owner(at.function, at.file)
		if at.file == "" || owner.Package == "" || owner.Kind == gocode.Unknown || owner.Kind == gocode.Std && !o.All {
			continue
		}
		if cost[owner.Package] += at.cost; !slices.Contains(pkgs, owner.Package) {
			pkgs = append(pkgs, owner.Package)
		}
	}
	slices.SortStableFunc(pkgs, func(a, b string) int {
		return cmp.Or(cmp.Compare(cost[b], cost[a]), strings.Compare(a, b))
	})
	most, more := 1, "; with -remarks it is asked about all"
	if o.All {
		most, more = maxRemarkPackages, ""
	}
	if len(pkgs) > most {
		notes = append(notes, fmt.Sprintf("the compiler was asked about %s only, of %d packages%s", strings.Join(pkgs[:most], ", "), len(pkgs), more))
		pkgs = pkgs[:most]
	}
	return pkgs, notes
}

// callSite is a line of a function as the profile names it.
type callSite struct {
	function string
	line     int64
}

// inlinedCalls lists, by line, the functions that the profile shows inlined into it.
func inlinedCalls(p *profile.Profile) map[callSite][]string {
	calls := map[callSite][]string{}
	for i := range p.Locations {
		lines := p.Locations[i].Lines
		for k := 1; k < len(lines); k++ {
			at := callSite{p.Functions[lines[k].Func].Name, lines[k].Line}
			if callee := p.Functions[lines[k-1].Func].Name; !slices.Contains(calls[at], callee) {
				calls[at] = append(calls[at], callee)
			}
		}
	}
	return calls
}

// remarksOn collects the remarks on a function's head and on its lines with a cost.
func remarksOn(f *report.FuncLines, file string, facts *gocode.Facts, calls map[callSite][]string) []Remark {
	var out []Remark
	add := func(line int64, kind, text string) {
		if r := (Remark{line, kind, text}); text != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	head := f.StartLine
	if facts != nil && head > 0 {
		for _, fact := range facts.At(file, int(head)) {
			if kind, text := fact.HeadWords(); kind != "" {
				add(head, kind, text)
			}
		}
	}
	for _, c := range f.Lines {
		names := slices.Clone(calls[callSite{f.Name, c.Line}])
		slices.Sort(names)
		for _, name := range names {
			add(c.Line, "inlined call", name+" is inlined here")
		}
		if facts == nil || c.Line <= 0 {
			continue
		}
		checks := map[string]int{}
		for _, fact := range facts.At(file, int(c.Line)) {
			kind, text := fact.Words()
			if kind == "bounds check" {
				checks[text]++
				continue
			}
			add(c.Line, kind, text)
		}
		for _, text := range slices.Sorted(maps.Keys(checks)) {
			if n := checks[text]; n > 1 {
				add(c.Line, "bounds check", fmt.Sprintf("%s, %d times", text, n))
				continue
			}
			add(c.Line, "bounds check", text)
		}
	}
	slices.SortStableFunc(out, func(a, b Remark) int { return int(a.Line - b.Line) })
	return out
}
