package loops

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// PerCall reports whether a node may run more than once in the life of a program, as far as the
// syntax shows. It does not if it initialises a package variable, is in main or init outside of
// loops, is under a guard that lets it run once (see [Guarded]), or is in a benchmark itself, which
// repeats it on purpose.
func PerCall(p *gocode.Place, n ast.Node) bool {
	return !Guarded(p, n) && Repeats(p, n)
}

// Repeats is [PerCall] without regard to guards: a lookup that fails each time runs what is under
// its "if !ok" each time.
func Repeats(p *gocode.Place, n ast.Node) bool {
	if p.Decl == nil {
		return false
	}
	if p.Timing() != gocode.NoBenchmark {
		return len(Around(p, n)) > 0
	}
	once := p.Decl.Recv == nil && (p.Decl.Name.Name == "init" || p.Decl.Name.Name == "main" && p.Pkg.Name() == "main")
	// A function literal in main is a handler, a callback, a goroutine.
	return !once || p.Func != p.Decl || len(Around(p, n)) > 0
}

// Guarded reports whether a node runs only to fill a value that is kept: under "if x == nil", under
// "if !ok" for the second value of a lookup, in a function for a sync.Once, or as the New of a
// sync.Pool.
func Guarded(p *gocode.Place, n ast.Node) bool {
	around := p.Enclosing(n)
	for i, x := range around {
		switch x := x.(type) {
		case *ast.IfStmt:
			if syntax.Within(x.Body, n) && missing(p, x.Cond) {
				return true
			}
		case *ast.FuncLit:
			if i+1 < len(around) && keeps(p, around[i+1], x) {
				return true
			}
		}
	}
	lit, ok := p.Func.(*ast.FuncLit)
	return ok && literalKept(p, lit)
}

// literalKept examines the code around the function of the place, which Enclosing leaves out.
func literalKept(p *gocode.Place, lit *ast.FuncLit) bool {
	kept := false
	ast.Inspect(p.File, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CallExpr, *ast.KeyValueExpr:
			kept = kept || keeps(p, n, lit)
		}
		return !kept
	})
	return kept
}

// keeps reports whether n makes a function literal run once, or rarely.
func keeps(p *gocode.Place, n ast.Node, lit *ast.FuncLit) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return len(n.Args) == 1 && n.Args[0] == lit &&
			funcname.Match(p.CalleeName(n), "(*sync.Once).Do", "sync.OnceFunc", "sync.OnceValue", "sync.OnceValues")
	case *ast.KeyValueExpr:
		id, ok := n.Key.(*ast.Ident)
		if !ok || n.Value != lit || id.Name != "New" {
			return false
		}
		v, ok := p.Object(id).(*types.Var)
		return ok && v.IsField() && v.Pkg() != nil && v.Pkg().Path() == "sync"
	}
	return false
}

// missing reports whether a condition tests that a value does not exist yet.
func missing(p *gocode.Place, cond ast.Expr) bool {
	switch c := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		if c.Op == token.LAND || c.Op == token.LOR {
			return missing(p, c.X) || missing(p, c.Y)
		}
		return c.Op == token.EQL && (isNil(p, c.X) || isNil(p, c.Y))
	case *ast.UnaryExpr:
		id, ok := ast.Unparen(c.X).(*ast.Ident)
		return c.Op == token.NOT && ok && (id.Name == "ok" || id.Name == "found" || id.Name == "exists" || id.Name == "hit")
	}
	return false
}

func isNil(p *gocode.Place, e ast.Expr) bool {
	tv, ok := p.Info.Types[e]
	return ok && tv.IsNil()
}
