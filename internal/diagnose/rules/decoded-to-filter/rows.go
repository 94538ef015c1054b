package decodedtofilter

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// rowsAt returns the rows of a query that the loop around a line reads, if it keeps few of them.
func rowsAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *list {
	var loop *ast.ForStmt
	ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
		if l, ok := n.(*ast.ForStmt); ok && overRows(place, l) && syntax.Line(place, l.Pos()) <= place.Line && place.Line <= syntax.Line(place, l.End()) {
			loop = l
		}
		return true
	})
	if loop == nil {
		return nil
	}
	line := syntax.Line(place, loop.Pos())
	l, ok := p.Counts.Loop(f.Owner.Package, f.File, line)
	if !ok || l.Iterations < leastElements || p.Manifest.Unit() == "run" && l.Entries < leastRuns {
		return nil
	}
	kept, ok := keeps(p, place, loop, loop.Body)
	if !ok || kept/l.Entries > mostUsed*l.Iterations {
		return nil
	}
	return &list{line: line, elements: l.Iterations, used: kept / l.Entries, rows: true}
}

func overRows(p *gocode.Place, loop *ast.ForStmt) bool {
	_, ok := loops.OverRows(p, loop)
	return ok
}

// keeps returns how often a loop uses an element, per unit of work: the executions of the most
// frequent statement of its body that changes something outside of it, returns, or calls a function
// that may do so. It is false if there is none.
func keeps(p *rule.Pass, place *gocode.Place, loop ast.Node, body *ast.BlockStmt) (most float64, ok bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		keep := false
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				keep = keep || outside(place, lhs, loop)
			}
			if call, is := ast.Unparen(n.Rhs[0]).(*ast.CallExpr); is && len(n.Rhs) == 1 {
				keep = keep || mayFail(place, call)
			}
		case *ast.IncDecStmt:
			keep = outside(place, n.X, loop)
		case *ast.SendStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.GoStmt:
			keep = true
		}
		if !keep {
			return true
		}
		if e, counted := evidence.ExecutionsAt(p, place, n.Pos()); counted {
			most, ok = max(most, e.PerUnit), true
		}
		return true
	})
	return most, ok
}

// outside reports whether an expression names something, other than an error, that is declared
// outside of a loop, or a part of what a variable of the loop refers to: byID[id].names.
func outside(p *gocode.Place, e ast.Expr, loop ast.Node) bool {
	v, part := syntax.Var(p, e)
	if v == nil || v.Type().String() == "error" {
		return false
	}
	return !syntax.Inside(loop, v.Pos()) || part && refers(p, v)
}

// refers reports whether a pointer or map is not made where the variable is set.
func refers(p *gocode.Place, v *types.Var) bool {
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Map:
	default:
		return false
	}
	values := syntax.Assigned(p, v)
	return len(values) == 0 || slices.ContainsFunc(values, func(e ast.Expr) bool {
		if ref, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
			e = ref.X
		}
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		return !syntax.Makes(p, e) && !(ok && p.CalleeName(call) == "new")
	})
}

// mayFail reports whether a call returns an error, as calls for their effect and requests do, other
// than that which reads a row of a query.
func mayFail(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || strings.HasSuffix(fn.FullName(), "Rows).Scan") || fn.Name() == "StructScan" || strings.HasSuffix(fn.FullName(), ".Cursor).Decode") {
		return false
	}
	results := fn.Signature().Results()
	return results.Len() > 0 && results.At(results.Len()-1).Type().String() == "error"
}
