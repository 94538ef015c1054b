package cachestampede

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// A cache is shared if goroutines can reach it safely: it is a package variable, or a part of a
// value with a lock or an atomic pointer. A field of a scanner, a sketch or another object that
// each request creates is not, and most of these have no lock. Overlapping calls that fill such
// fields compute equal results for different objects.

// owner is what makes a cache shared: the type of a value with a lock, nil for a package variable.
type owner struct{ typ types.Type }

// shared returns the owner of what an expression is a part of; nil if goroutines do not seem to
// share it.
func shared(p *gocode.Place, e ast.Expr) *owner { return sharedBelow(p, e, map[types.Object]bool{}) }

func sharedBelow(p *gocode.Place, e ast.Expr, seen map[types.Object]bool) *owner {
	for e != nil {
		e = ast.Unparen(e)
		t := p.TypeOf(e)
		switch {
		case t != nil && contextual(t):
			return nil
		case t != nil && concurrent(t, 3):
			return &owner{t}
		}
		switch x := e.(type) {
		case *ast.Ident:
			if outlasts(p.Object(x)) {
				return &owner{}
			}
			v := syntax.LocalVar(p, x)
			if v == nil || seen[v] {
				return nil
			}
			seen[v] = true
			for _, from := range given(p, v) {
				if o := sharedBelow(p, from, seen); o != nil {
					return o
				}
			}
			return nil
		case *ast.SelectorExpr:
			if p.Info.Selections[x] == nil { // package.Var
				return &owner{}
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.CallExpr:
			e = syntax.Receiver(x)
		default:
			return nil
		}
	}
	return nil
}

// concurrent reports whether a type is made for several goroutines: it is or has, in its fields to
// a depth, a lock, a sync.Map or an atomic pointer, or it is an interface that is called a cache.
func concurrent(t types.Type, depth int) bool {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		name := types.TypeString(n.Origin(), nil)
		if slices.ContainsFunc([]string{"sync.Mutex", "sync.RWMutex", "sync.Map", "sync/atomic.Value", "sync/atomic.Pointer"}, func(s string) bool { return strings.HasPrefix(name, s) }) {
			return true
		}
		if types.IsInterface(n) {
			return strings.Contains(strings.ToLower(n.Obj().Name()), "cache")
		}
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || depth == 0 {
		return false
	}
	for f := range s.Fields() {
		next := depth - 1
		if _, own := f.Type().Underlying().(*types.Struct); !own && !f.Embedded() {
			next = 0 // a lock behind a pointer may be of another object
		}
		if concurrent(f.Type(), next) && !types.IsInterface(f.Type()) {
			return true
		}
	}
	return false
}

// remade reports whether the program creates values of a type so often that a cache in them is
// empty for most of the calls on a line, as far as executions were counted.
func (s *search) remade(p *gocode.Place, frame *site.Frame, t types.Type) bool {
	const often = 0.1 // of the runs of the line
	if s.pass.Counts == nil || t == nil {
		return false
	}
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	runs, ok := evidence.Executions(s.pass, *frame)
	if !ok {
		return false
	}
	is := func(e ast.Expr) bool { return e != nil && p.TypeOf(e) != nil && types.Identical(p.TypeOf(e), t) }
	most := 0.0
	visit := func(n ast.Node) bool {
		made := false
		switch n := n.(type) {
		case *ast.CompositeLit:
			made = is(n)
		case *ast.CallExpr:
			made = p.CalleeName(n) == "new" && len(n.Args) == 1 && is(n.Args[0])
		case *ast.ValueSpec:
			made = is(n.Type)
		}
		if made {
			at := p.Fset.Position(n.Pos())
			e, _ := s.pass.Counts.Line(frame.Owner.Package, at.Filename, at.Line)
			most = max(most, e.PerUnit)
		}
		return true
	}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok { // package variables are created once
				ast.Inspect(fn, visit)
			}
		}
	}
	return most >= often*runs.PerUnit
}
