// Package leakgrowth finds lines of a service whose live memory only grows.
package leakgrowth

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastBytes that a line must have gained in the window: four times what one sample of the heap stands for.
	leastBytes = 2 << 20
	// leastShare of what is live that the line must have gained in the window.
	leastShare = 0.02
	// stays is the part of what the line made in the window that must be alive at its end, where the source does
	// not show what holds it. What a growing map or slice leaves behind is more than the rest.
	stays = 0.5
	// leastRequests in the window, each of which leaves perRequest objects behind: a line that every request feeds.
	leastRequests = 500
	perRequest    = 0.5
	// seldom is how often what takes out runs for each time that something is put in, to be no help.
	seldom = 0.01
)

// Rule is leak-growth.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "leak-growth",
		Kind:  rule.Leak,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Memory that grows and is never released",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// How much of it is wanted is not known.
				Fraction: rule.Fraction{Expect: 0.5, Low: 0, High: 1},
			},
			Loop: find,
		},
	}
}

const doc = `The recording takes two heap profiles, each after a collection. If most of what
a line allocated in between is still live, something retains it: a map that is
only written, a list that is only appended to. In a service that means growth
for as long as it runs, until the memory limit.

Bound it: a cache needs a size limit and eviction (LRU, by age), a registry must
remove entries when what they stand for ends.

It is fine while a cache that is bounded by the number of its keys fills up: a
recording that begins when the service has been under load for a while tells.
The rule is sure only of maps and slices of the package or of a struct that
nothing in the package ever takes anything out of, or nothing did while the
recording's counters ran; and of lines that every request leaves an object of.
Of benchmarks it looks at what is left when the last one is over.

Seen in the field: cortexproject/cortex#4739 (labels kept for each tenant),
golang/go#20135 (maps do not shrink, even when entries are deleted).`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	ph, ok := p.Phase(recording.PhaseCPU)
	requests := ph.Requests
	if ok && p.Manifest.Target.Kind == "program" && p.Inputs != nil && p.Inputs.Units > 0 && ph.Runs > 0 {
		requests = int64(float64(p.Inputs.Requests) / p.Inputs.Units * float64(ph.Runs)) // a service that loads itself
	}
	if !ok || ph.Seconds <= 0 || p.Manifest.Target.Kind == "program" && requests < leastRequests {
		return nil, nil // what a program that ends builds up is its result; what benchmarks leave when they are over is not
	}
	live := float64(p.Table.Totals.LiveBytes)
	var matches []rule.Match
	for _, g := range p.Growth {
		if g.Bytes < leastBytes || float64(g.Bytes) < leastShare*live {
			continue
		}
		s := at(p.Table, g)
		if s == nil || len(s.Live) == 0 {
			continue
		}
		made, _ := stacks.Sum(s.Allocs)
		m := rule.Match{Site: s, Live: s.Live, Confidence: rule.Hint}
		m.Cause = fmt.Sprintf("Of %s that this line made in %s, %s stay in memory: %s.",
			units.Bytes(float64(made)), units.Seconds(ph.Seconds), units.Percent(min(1, float64(g.Bytes)/float64(made))), rate(p, &ph, g))
		m.Fix = "Find what retains it, and bound that: a cache needs a size limit and eviction, a registry must remove entries that have ended."
		if requests >= leastRequests && float64(g.Objects) >= perRequest*float64(requests) {
			m.Confidence = rule.Likely // a cache has fewer keys than there are requests
			m.Cause += " Each request leaves some behind."
		} else if p.Manifest.Target.Kind == "program" {
			continue // its own data
		}
		m.Evidence = []rule.Evidence{
			{What: "live memory gained between two collections", Value: fmt.Sprintf("%s in %d objects", units.Bytes(float64(g.Bytes)), g.Objects), Command: evidence.ListCommand(p, "inuse_space", s.Function)},
		}
		if place := p.Place(s); place != nil {
			if kept := keeper(p, s, place); kept != nil {
				m.Confidence = rule.Likely
				m.Cause += " " + kept.words
				m.Fix = fmt.Sprintf("Bound %s: remove entries when what they stand for ends, or evict the oldest beyond a size.", kept.name)
				if kept.unused != "" {
					m.Fix = fmt.Sprintf("Call %s when what an entry of %s stands for ends, or bound %s by size or age.", kept.unused, kept.name, kept.name)
				}
			}
		}
		if m.Confidence == rule.Likely || float64(g.Bytes) >= stays*float64(made) {
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// at is the site of a line that grew.
func at(t *site.Table, g site.Grown) *site.Site {
	for _, s := range t.Sites {
		if s.File == g.File && s.Line == g.Line && s.Function == g.Function {
			return s
		}
	}
	return nil
}

// rate says how fast a line's live memory grows.
func rate(p *rule.Pass, ph *recording.Phase, g site.Grown) string {
	if p.Benchmark() {
		return units.Bytes(float64(g.Bytes)) + " are left when the benchmarks are over"
	}
	text := units.Bytes(float64(g.Bytes)/ph.Seconds*60) + " a minute"
	if p.Manifest.Load != nil && ph.Requests > 0 {
		text = fmt.Sprintf("%s per request, %s", units.Bytes(float64(g.Bytes)/float64(ph.Requests)), text)
	}
	return text
}

// keep is what holds the memory of a line.
type keep struct {
	name, words string
	unused      string // the function that would take out, and did not run
}

// keeper returns the field or package variable that the line inserts into or appends to, when nothing in the package
// takes anything out of it, or nothing did while the counters ran; nil otherwise.
func keeper(pass *rule.Pass, s *site.Site, p *gocode.Place) *keep {
	var found *keep
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || syntax.Line(p, a.Pos()) > p.Line || syntax.Line(p, a.End()) < p.Line {
			return true
		}
		for i, lhs := range a.Lhs {
			e := container(p, a, i, lhs)
			if e == nil {
				continue
			}
			e = outermost(e)
			v := kept(p, e)
			if v == nil {
				continue
			}
			name := syntax.Text(e)
			out := shrinkers(p, v)
			if len(out) == 0 {
				found = &keep{name: name, words: fmt.Sprintf("It is put into %s, and nothing in the package ever removes anything from it.", name)}
			} else if unused := neverRan(pass, s, p, out); unused != "" {
				found = &keep{name: name, unused: unused,
					words: fmt.Sprintf("It is put into %s. Only %s would take something out, and never ran while the recording's counters did.", name, unused)}
			}
		}
		return true
	})
	return found
}

// neverRan names the functions around what takes out, when the counters saw none of them run while the line did.
func neverRan(pass *rule.Pass, s *site.Site, p *gocode.Place, out []ast.Node) string {
	in, ok := evidence.Executions(pass, s.Frame)
	if !ok || in.PerUnit <= 0 {
		return ""
	}
	var names []string
	for _, n := range out {
		pos := p.Fset.Position(n.Pos())
		ran, ok := pass.Counts.Line(s.Owner.Package, pos.Filename, pos.Line)
		if !ok || ran.PerUnit > seldom*in.PerUnit {
			return ""
		}
		for _, f := range p.Files() {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && syntax.Inside(fn, n.Pos()) && !slices.Contains(names, fn.Name.Name) {
					names = append(names, fn.Name.Name)
				}
			}
		}
	}
	return strings.Replace(funcname.List(names), " and ", " or ", 1)
}

// container is the map that an assignment inserts into, or the slice that it appends to.
func container(p *gocode.Place, a *ast.AssignStmt, i int, lhs ast.Expr) ast.Expr {
	if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
		if t := p.TypeOf(x.X); t != nil {
			if _, ok := t.Underlying().(*types.Map); ok {
				return x.X
			}
		}
		return nil
	}
	if len(a.Lhs) != len(a.Rhs) {
		return nil
	}
	if call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr); ok && p.CalleeName(call) == "append" && syntax.Same(p, call.Args[0], lhs) {
		return lhs
	}
	return nil
}

// outermost is the container of containers: m of m[k][l].
func outermost(e ast.Expr) ast.Expr {
	for {
		x, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok {
			return e
		}
		e = x.X
	}
}

// kept is the field or package variable that an expression names; nil for local variables, whose owner may drop
// them as a whole.
func kept(p *gocode.Place, e ast.Expr) *types.Var {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := p.Object(x).(*types.Var); ok && v.Parent() == p.Pkg.Scope() && (!v.Exported() || p.Pkg.Name() == "main") {
			return v
		}
	case *ast.SelectorExpr:
		// Other packages may take from what they can name.
		if v, ok := p.Object(x.Sel).(*types.Var); ok && v.IsField() && (!v.Exported() || p.Pkg.Name() == "main") {
			if root, _ := syntax.Var(p, x); root != nil {
				return v
			}
		}
	}
	return nil
}

// shrinkers are the places in the package that may take from the variable or let it go: delete, clear, any
// other assignment than the append, its address, or its use as an argument or in a composite literal.
func shrinkers(p *gocode.Place, v *types.Var) []ast.Node {
	is := func(e ast.Expr) bool {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return p.Object(x) == v
		case *ast.SelectorExpr:
			return p.Object(x.Sel) == v
		}
		return false
	}
	var out []ast.Node
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			found := false
			switch n := n.(type) {
			case *ast.CallExpr:
				name := p.CalleeName(n)
				for i, arg := range n.Args {
					if name == "delete" || name == "clear" {
						arg = outermost(arg)
					}
					found = found || is(arg) && name != "len" && name != "cap" && !(name == "append" && i == 0)
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					found = found || is(lhs) && !grows(p, n, i)
				}
				for _, rhs := range n.Rhs {
					found = found || is(rhs)
				}
			case *ast.ReturnStmt:
				for _, e := range n.Results {
					found = found || is(e)
				}
			case *ast.UnaryExpr:
				found = n.Op == token.AND && is(n.X)
			}
			if found {
				out = append(out, n)
			}
			return true
		})
	}
	return out
}

// grows reports whether an assignment appends to its left side.
func grows(p *gocode.Place, a *ast.AssignStmt, i int) bool {
	if len(a.Lhs) != len(a.Rhs) {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "append" && syntax.Same(p, call.Args[0], a.Lhs[i])
}
