package leakgrowth

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// insertion puts a value into a container: an entry of a map, an element of a slice.
type insertion struct {
	at    token.Pos
	into  ast.Expr // the field or variable with the container, or with containers of it
	value ast.Expr
	key   ast.Expr   // of a map; nil
	deep  bool       // into a container that is an element of into
	inner *insertion // what is put into the value, if that is a map; nil
}

// idle reports whether an insertion never ran while executions were counted.
func idle(pass *rule.Pass, p *gocode.Place, in insertion) bool {
	ran, ok := evidence.ExecutionsAt(pass, p, in.at)
	return ok && ran.PerUnit == 0
}

// insertions calls yield for each insertion in a node, with the statement or call that it is.
func insertions(p *gocode.Place, root ast.Node, yield func(insertion, ast.Node)) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if funcname.Match(p.CalleeName(n), "(*sync.Map).Store", "(*sync.Map).LoadOrStore", "(*sync.Map).Swap") && len(n.Args) == 2 {
				yield(insertion{at: n.Pos(), into: syntax.Receiver(n), value: n.Args[1], key: n.Args[0]}, n)
			}
			if funcname.Match(p.CalleeName(n), "(*container/list.List).PushBack", "(*container/list.List).PushFront",
				"(*container/list.List).InsertAfter", "(*container/list.List).InsertBefore") {
				yield(insertion{at: n.Pos(), into: syntax.Receiver(n), value: n.Args[0]}, n)
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if e, value := container(p, n, i, lhs); e != nil {
					in := insertion{at: n.Pos(), into: outermost(e), value: value, deep: outermost(e) != ast.Unparen(e)}
					if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
						in.key = x.Index
					}
					yield(in, n)
				}
			}
		}
		return true
	})
}

// container returns the map that an assignment inserts into, or the slice that it appends to, and
// the value; nil for neither.
func container(p *gocode.Place, a *ast.AssignStmt, i int, lhs ast.Expr) (into, value ast.Expr) {
	paired := len(a.Lhs) == len(a.Rhs)
	if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
		if t := p.TypeOf(x.X); t != nil {
			if _, ok := t.Underlying().(*types.Map); ok {
				if !paired {
					return x.X, lhs
				}
				return x.X, a.Rhs[i]
			}
		}
		return nil, nil
	}
	if !paired {
		return nil, nil
	}
	if call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr); ok && p.CalleeName(call) == "append" && len(call.Args) > 1 && syntax.Same(p, call.Args[0], lhs) {
		return lhs, call.Args[1]
	}
	return nil, nil
}

// outermost returns the container of containers: m of m[k][l].
func outermost(e ast.Expr) ast.Expr {
	for {
		x, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok {
			return e
		}
		e = x.X
	}
}

// grows reports whether an assignment appends to its left side.
func grows(p *gocode.Place, a *ast.AssignStmt, i int) bool {
	if len(a.Lhs) != len(a.Rhs) {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "append" && syntax.Same(p, call.Args[0], a.Lhs[i])
}
