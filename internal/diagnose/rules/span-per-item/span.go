package spanperitem

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// starts reports whether a call returns a new span.
func starts(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	_, found := result(fn.Signature())
	there := strings.Contains(fn.Name(), "FromContext") && !strings.HasPrefix(fn.Name(), "Start")
	return found && !there
}

// result returns the index of the result that is a span.
func result(sig *types.Signature) (int, bool) {
	for i := range sig.Results().Len() {
		if isSpan(sig.Results().At(i).Type()) {
			return i, true
		}
	}
	return 0, false
}

// isSpan reports whether a type is that of a span, in OpenTelemetry, OpenTracing and others: one
// with a method that only ends it. The end of an interval, which may have that name, is a result.
func isSpan(t types.Type) bool {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || !strings.HasSuffix(named.Obj().Name(), "Span") {
		return false
	}
	for _, name := range []string{"End", "Finish"} {
		m, _, _ := types.LookupFieldOrMethod(named, true, nil, name)
		if fn, ok := m.(*types.Func); ok && fn.Signature().Results().Len() == 0 {
			return true
		}
	}
	return false
}

// ended returns the lines of a function that use the span of a call, if it ends the span and
// neither returns nor keeps it.
func ended(p *gocode.Place, call *ast.CallExpr) (used []int) {
	a, ok := syntax.Parent(p, call).(*ast.AssignStmt)
	if fn := p.Callee(call); !ok || fn == nil || len(a.Rhs) != 1 {
		return nil
	}
	i, found := result(p.Callee(call).Signature())
	if !found || i >= len(a.Lhs) {
		return nil
	}
	v := syntax.LocalVar(p, a.Lhs[i])
	if v == nil || syntax.IsResult(p, v) {
		return nil
	}
	ends := false
	for _, id := range syntax.Uses(p, v) {
		if handsOut(p, id) {
			return nil
		}
		switch n := syntax.Parent(p, id).(type) {
		case *ast.SelectorExpr:
			ends = ends || n.Sel.Name == "End" || n.Sel.Name == "Finish"
		case *ast.ReturnStmt, *ast.KeyValueExpr, *ast.CompositeLit, *ast.SendStmt:
			return nil
		}
		used = append(used, syntax.Line(p, id.Pos()))
	}
	if !ends {
		return nil
	}
	return used
}

// handsOut reports whether a use of a span is in a function that is returned: who calls that ends
// the span.
func handsOut(p *gocode.Place, id *ast.Ident) bool {
	for _, n := range p.Enclosing(id) {
		switch n := n.(type) {
		case *ast.FuncLit:
			_, returned := syntax.Parent(p, n).(*ast.ReturnStmt)
			return returned
		case *ast.ReturnStmt: // span.End, without a call
			_, called := syntax.Parent(p, syntax.Parent(p, id)).(*ast.CallExpr)
			return !called
		}
	}
	return false
}

// endedBy returns the lines of a function that use what a call returns to end a span that it
// starts: ctx, done := begin(ctx, name); defer done(), and defer begin(ctx, name)().
func endedBy(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (used []int) {
	fn := p.Callee(call)
	if fn == nil {
		return nil
	}
	i := -1
	for k := range fn.Signature().Results().Len() {
		if sig, ok := fn.Signature().Results().At(k).Type().Underlying().(*types.Signature); ok && sig.Params().Len()+sig.Results().Len() == 0 {
			i = k
		}
	}
	if i < 0 {
		return nil
	}
	if in, ok := s.Declared(fn); !ok || !begins(in) {
		return nil
	}
	switch n := syntax.Parent(p, call).(type) {
	case *ast.CallExpr:
		if n.Fun == ast.Expr(call) {
			return []int{syntax.Line(p, n.Pos())}
		}
	case *ast.AssignStmt:
		v := syntax.LocalVar(p, n.Lhs[min(i, len(n.Lhs)-1)])
		for _, id := range syntax.Uses(p, v) {
			if c, ok := syntax.Parent(p, id).(*ast.CallExpr); ok && c.Fun == ast.Expr(id) {
				used = append(used, syntax.Line(p, id.Pos()))
			} else if !syntax.Defines(p, id) {
				return nil
			}
		}
	}
	return used
}

// begins reports whether a function starts a span and returns a function that ends it.
func begins(p *gocode.Place) (found bool) {
	if p.Decl == nil || p.Decl.Body == nil {
		return false
	}
	in := p.Entry(p.Decl)
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return !found
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || !starts(in, call) {
			return !found
		}
		i, _ := result(in.Callee(call).Signature())
		if v := syntax.LocalVar(in, a.Lhs[min(i, len(a.Lhs)-1)]); v != nil {
			found = slices.ContainsFunc(syntax.Uses(in, v), func(id *ast.Ident) bool { return handsOut(in, id) })
		}
		return !found
	})
	return found
}

// tracing reports whether a function of a profile is one that starts, fills or ends spans.
func tracing(f *site.Frame) bool {
	if f.Owner.Kind == gocode.Std {
		return false
	}
	name := strings.ToLower(f.Function[strings.LastIndexByte(f.Function, '/')+1:])
	return strings.Contains(name, "span") || strings.Contains(name, "tracer") ||
		strings.HasPrefix(f.Function, "go.opentelemetry.io/otel")
}
