package rebuiltperaddition

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// later is a function that computes something from all elements of a collection when it is asked
// for, because an addition dropped it or marked it as outdated.
type later struct {
	name     string // of the function
	flag     string // what says that it is outdated
	of       string // the collection
	adder    string // the function that adds
	added    string // where it marks
	elements float64
	runs     float64
}

// computedLater finds lines of such functions.
func computedLater(p *rule.Pass) finder.Line {
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *later { return laterAt(p, f, place) })
	return finder.Line{Start: finder.Frames(lines.Nearest), Judge: func(c *finder.Case) bool {
		l := lines.At(&c.Site.Frame)
		if l != nil {
			l.describe(c)
		}
		return l != nil
	}}
}

func laterAt(pass *rule.Pass, f *site.Frame, at *gocode.Place) *later {
	if at.Decl == nil || at.Decl.Body == nil {
		return nil
	}
	p := at.Outer()
	flag, region := guarded(p)
	if flag == nil || at.Line < syntax.Line(p, region[0]) || at.Line > syntax.Line(p, region[1]) {
		return nil
	}
	var found *later
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if found != nil || !ok || loop.Pos() < region[0] || loop.End() > region[1] {
			return found == nil
		}
		of := syntax.Named(p, loop.X)
		counted, ok := pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
		if of == nil || !of.IsField() || of == flag || !ok || counted.Iterations < leastElements || pass.Manifest.Unit() == "run" && counted.Entries < leastAdditions {
			return true
		}
		l := &later{name: p.Decl.Name.Name, flag: flag.Name(), of: of.Name(), elements: counted.Iterations, runs: counted.Entries}
		if l.outdated(pass, p, flag.Origin(), of.Origin()) {
			found = l
		}
		return found == nil
	})
	return found
}

// guarded returns the field that a function looks at to find out whether there is something to do,
// and the part of the function that does it: if x.index != nil { return }, if x.dirty { … }.
func guarded(p *gocode.Place) (flag *types.Var, region [2]token.Pos) {
	for _, stmt := range p.Decl.Body.List {
		test, ok := stmt.(*ast.IfStmt)
		if !ok || test.Init != nil || test.Else != nil {
			continue
		}
		v := testedField(p, test.Cond)
		if v == nil {
			continue
		}
		last := len(test.Body.List) - 1
		if last < 0 {
			continue
		}
		if _, leaves := test.Body.List[last].(*ast.ReturnStmt); leaves && last <= 1 {
			return v, [2]token.Pos{test.End(), p.Decl.Body.End()}
		}
		if sets(p, test.Body, v) {
			return v, [2]token.Pos{test.Body.Pos(), test.Body.End()}
		}
	}
	return nil, region
}

// testedField returns the field of the package that a condition tests, alone or beside others: x.f,
// !x.f, x.f == nil, len(x.f) == 0.
func testedField(p *gocode.Place, cond ast.Expr) *types.Var {
	switch e := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return testedField(p, e.X)
		}
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR:
			if v := testedField(p, e.X); v != nil {
				return v
			}
			return testedField(p, e.Y)
		case token.EQL, token.NEQ:
			if id, ok := ast.Unparen(e.Y).(*ast.Ident); ok && id.Name == "nil" {
				return ownField(p, e.X)
			}
			call, ok := ast.Unparen(e.X).(*ast.CallExpr)
			if n, zero := syntax.ConstInt(p, e.Y); ok && zero && n == 0 && p.CalleeName(call) == "len" {
				return ownField(p, call.Args[0])
			}
		}
	default:
		if b, ok := p.TypeOf(cond).(*types.Basic); ok && b.Kind() == types.Bool {
			return ownField(p, cond)
		}
	}
	return nil
}

func ownField(p *gocode.Place, e ast.Expr) *types.Var {
	if _, ok := ast.Unparen(e).(*ast.SelectorExpr); !ok {
		return nil
	}
	v := syntax.Named(p, e)
	if v == nil || !v.IsField() || v.Pkg() != p.Pkg {
		return nil
	}
	return v
}

// sets reports whether a statement assigns to a field.
func sets(p *gocode.Place, root ast.Node, v *types.Var) bool { return setAt(p, root, v) != nil }

// setAt returns the first statement below root that assigns to a field; nil for none.
func setAt(p *gocode.Place, root ast.Node, v *types.Var) (found ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if found != nil || !ok {
			return found == nil
		}
		for _, to := range a.Lhs {
			if _, field := ast.Unparen(to).(*ast.SelectorExpr); !field {
				continue
			}
			if to := syntax.Named(p, to); to != nil && to.Origin() == v.Origin() {
				found = a
			}
		}
		return found == nil
	})
	return found
}

// mostly is the minimum part of the marks that must come from additions.
const mostly = 0.85

// outdated reports whether functions that add one element and mark the result as outdated run about
// as often as the result is computed, and notes the one that runs most.
func (l *later) outdated(pass *rule.Pass, p *gocode.Place, flag, of *types.Var) bool {
	marks, adds, most := 0.0, 0.0, 0.0
	for _, file := range p.Files() {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil || fn == p.Decl {
				continue
			}
			in := p.Entry(fn)
			mark := setAt(in, fn.Body, flag)
			if mark == nil {
				continue
			}
			runs, ok := evidence.ReachedAt(pass, in, mark.Pos())
			if !ok {
				continue
			}
			marks += runs
			if !addsOne(in, fn.Body, of) {
				continue // it changes all elements, or how they are seen
			}
			adds += runs
			if runs > most {
				most, l.adder, l.added = runs, fn.Name.Name, syntax.Where(in, mark.Pos())
			}
		}
	}
	return adds > 0 && l.runs >= 0.5*adds && adds >= mostly*marks
}

// addsOne reports whether a function adds one element to a collection.
func addsOne(p *gocode.Place, body ast.Node, of *types.Var) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if v := added(p, n); v != nil && v == of {
			found = true
		}
		return !found
	})
	return found
}

func (l *later) describe(c *finder.Case) {
	c.Cause = fmt.Sprintf("%s adds to %s and marks what is computed from it as outdated (%s, %s); %s then goes through all elements again, %s on average, before the next use. Additions and uses alternate, so n additions cost n²/2 steps.",
		l.adder, l.of, l.flag, l.added, l.name, units.Number(l.elements))
	c.Fix = fmt.Sprintf("Let %s bring the result up to date for the new element alone, or remember in %s up to which element of %s it was computed, and go on from there. Mark it as outdated only for changes that concern all elements.",
		l.adder, l.name, l.of)
	most := 1 - 2/(l.elements+1)
	c.Fraction = &rule.Fraction{Expect: 0.9 * most, Low: 0.3 * most, High: 1}
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s per %s, %s elements each", evidence.Times(l.runs), c.Pass.Manifest.Unit(), units.Number(l.elements))})
}
