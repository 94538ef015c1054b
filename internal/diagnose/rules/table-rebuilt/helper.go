package tablerebuilt

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// The loop that fills the map may be in a helper for all types: indexBy(s.list, keyOf), lo.KeyBy,
// maps.Collect. Then the call with the kept list is the place.

// calls returns what a line builds with a helper; nil for none.
func (s *search) calls(f *site.Frame, p *gocode.Place) *table {
	for _, call := range syntax.Calls(p) {
		if t := s.helped(f, p.Outer(), call); t != nil {
			return t
		}
	}
	return nil
}

// helped returns the map that a call makes of a kept list, by its arguments alone; nil for others.
func (s *search) helped(f *site.Frame, p *gocode.Place, call *ast.CallExpr) *table {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() != nil || len(call.Args) == 0 || !syntax.IsMap(p.TypeOf(call)) || p.CalleeName(call) == "maps.Clone" {
		return nil
	}
	list, v := listed(p, call.Args[0])
	if v == nil {
		return nil
	}
	c := kept.Changes{Pass: s.pass, Frame: f, Place: p, Var: v}
	each := 0.0
	for _, arg := range call.Args[1:] {
		fields, fine := keyed(p, arg)
		if !fine {
			return nil
		}
		c.Keys = append(c.Keys, fields...)
		if lit, ok := ast.Unparen(arg).(*ast.FuncLit); ok && len(lit.Body.List) > 0 {
			runs, _ := evidence.ReachedAt(s.pass, p, lit.Body.List[0].Pos())
			each = max(each, runs)
		}
	}
	t := &table{place: p, call: call, list: list, open: v.Exported() && p.Pkg.Name() != "main"}
	ran, ok := evidence.ReachedAt(s.pass, p, call.Pos())
	if !ok || ran <= 0 {
		return nil
	}
	t.builds, t.elements = ran, each/ran
	if t.changes, ok = c.Count(); !ok || t.builds < leastBuilds*t.changes || each > 0 && t.elements < leastElements || s.pass.Manifest.Unit() == "run" && t.builds < leastRuns {
		return nil
	}
	return t
}

// listed returns the kept list that an argument is or iterates over: x.list, slices.Values(x.list),
// or a method of the receiver that returns an iterator over it.
func listed(p *gocode.Place, arg ast.Expr) (ast.Expr, *types.Var) {
	if v := kept.Var(p, arg); v != nil {
		return arg, v
	}
	call, ok := ast.Unparen(arg).(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	if funcname.Match(p.CalleeName(call), "slices.Values", "slices.All", "maps.Values", "maps.All", "maps.Keys") {
		return listed(p, call.Args[0])
	}
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil || len(call.Args) > 0 {
		return nil, nil
	}
	if _, iterates := p.TypeOf(call).Underlying().(*types.Signature); !iterates {
		return nil, nil
	}
	return ranged(p.Entry(decl))
}

// ranged returns the one kept list over which a function iterates, also in a literal that it
// returns.
func ranged(p *gocode.Place) (list ast.Expr, of *types.Var) {
	loops := 0
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if loop, ok := n.(*ast.RangeStmt); ok {
			loops++
			list, of = loop.X, kept.Var(p, loop.X)
		}
		return true
	})
	if loops != 1 {
		return nil, nil
	}
	return list, of
}

// keyed reports whether a function that a helper calls for each element depends on the element
// alone, and returns the fields that it reads.
func keyed(p *gocode.Place, arg ast.Expr) (fields []*types.Var, fine bool) {
	lit, ok := ast.Unparen(arg).(*ast.FuncLit)
	if !ok {
		_, constant := p.Const(arg)
		return nil, constant
	}
	l := filling{place: p, fields: map[*types.Var]bool{}}
	fine = true
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, ok := p.Object(n).(*types.Var)
			if ok && v.IsField() {
				fields = append(fields, v)
			}
			fine = fine && (!ok || v.IsField() || syntax.Inside(lit, v.Pos()))
		case *ast.CallExpr:
			fine = fine && l.computes(n)
		case *ast.AssignStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt:
			fine = false
		}
		return fine
	})
	return slices.Compact(fields), fine
}
