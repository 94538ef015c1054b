package tablerebuilt

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// filling is a loop that may put the elements of a list into a map.
type filling struct {
	place  *gocode.Place
	loop   *ast.RangeStmt
	into   *types.Var          // the map
	fields map[*types.Var]bool // that the body reads
}

func (l *filling) keys() (all []*types.Var) {
	for f := range l.fields {
		all = append(all, f)
	}
	return all
}

// fills reports whether the loop does nothing but fill a local map, from the elements alone.
func (l *filling) fills() bool {
	fine := len(l.loop.Body.List) > 0
	ast.Inspect(l.loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				fine = fine && l.sets(lhs)
			}
		case *ast.IncDecStmt:
			fine = fine && l.sets(n.X)
		case *ast.Ident:
			fine = fine && l.own(n)
		case *ast.CallExpr:
			fine = fine && l.computes(n)
		case *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.ReturnStmt, *ast.FuncLit:
			fine = false
		case *ast.BranchStmt:
			fine = fine && n.Tok == token.CONTINUE
		case *ast.UnaryExpr:
			fine = fine && n.Op != token.ARROW
		}
		return fine
	})
	return fine && l.into != nil
}

// sets reports whether an assignment sets a variable of the loop, or an entry of the only map.
func (l *filling) sets(e ast.Expr) bool {
	v, part := syntax.Var(l.place, e)
	if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
		return true
	}
	if v == nil || v.IsField() {
		return false
	}
	if syntax.Inside(l.loop.Body, v.Pos()) {
		return true
	}
	_, isMap := v.Type().Underlying().(*types.Map)
	if !isMap || !part || !syntax.Local(l.place, v) || syntax.Param(l.place, v) || l.into != nil && l.into != v {
		return false
	}
	l.into = v
	return true
}

// own reports whether a name in the body is one of the loop, of the map, of the receiver, or of the
// package: not an argument of the call or what the function computed before.
func (l *filling) own(id *ast.Ident) bool {
	v, ok := l.place.Object(id).(*types.Var)
	switch {
	case !ok || syntax.Inside(l.loop, v.Pos()):
		return true
	case v.IsField():
		l.fields[v] = true
		return true
	case !syntax.Local(l.place, v):
		return false // a package variable that may change
	}
	_, isMap := v.Type().Underlying().(*types.Map)
	return isMap && !syntax.Param(l.place, v) && (l.into == nil || l.into == v)
}

// computes reports whether a call only computes something.
func (l *filling) computes(call *ast.CallExpr) bool {
	if t, ok := l.place.Conversion(call); ok {
		return t != nil
	}
	name := l.place.CalleeName(call)
	if slices.Contains([]string{"append", "len", "make", "new", "min", "max"}, name) {
		return true
	}
	fn := l.place.Callee(call)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	if slices.Contains([]string{"strings", "strconv", "bytes", "path", "cmp"}, fn.Pkg().Path()) || strings.HasPrefix(name, "fmt.Sprint") {
		return true
	}
	decl := l.place.Declaration(fn)
	return decl != nil && decl.Body != nil && effects.Pure(l.place.Entry(decl))
}

// readOnly reports whether a function only fills a map in a loop, and then reads or returns it.
func readOnly(p *gocode.Place, loop ast.Node, m *types.Var) bool {
	for _, id := range syntax.Uses(p, m) {
		if p.Info.Defs[id] != nil || syntax.Within(loop, id) {
			continue
		}
		if syntax.Defines(p, id) {
			return false
		}
		if _, ret := syntax.Parent(p, id).(*ast.ReturnStmt); !ret && !reads(p, id) {
			return false
		}
	}
	return !syntax.IsResult(p, m)
}

// reads reports whether an expression, which is a map, is only read where it is.
func reads(p *gocode.Place, e ast.Expr) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.IndexExpr:
		if n.X != e {
			return false
		}
		var top ast.Expr = n
		for {
			up, ok := syntax.Parent(p, top).(*ast.IndexExpr)
			if !ok || up.X != top {
				break
			}
			top = up
		}
		switch up := syntax.Parent(p, top).(type) {
		case *ast.AssignStmt:
			return !slices.Contains(up.Lhs, top)
		case *ast.IncDecStmt:
			return false
		}
		return true
	case *ast.RangeStmt:
		return n.X == e
	case *ast.CallExpr:
		return p.CalleeName(n) == "len"
	}
	return false
}

// discarded reports whether what the function returns is only read by its callers in the profile.
func (s *search) discarded(c *finder.Case, t *table) bool {
	returned := false
	if t.call != nil {
		if _, returned = syntax.Parent(t.place, t.call).(*ast.ReturnStmt); !returned {
			return readByCaller(t.place, t.call)
		}
	} else {
		for _, id := range syntax.Uses(t.place, t.into) {
			_, is := syntax.Parent(t.place, id).(*ast.ReturnStmt)
			returned = returned || is
		}
	}
	if !returned {
		return true
	}
	row := stacks.Largest(c.CPU)
	if row == nil {
		row = stacks.Largest(c.Allocs)
	}
	if row == nil {
		return false
	}
	i := slices.IndexFunc(row.Stack, func(f *site.Frame) bool { return f.Function == c.Site.Function })
	if i < 0 || i+1 >= len(row.Stack) {
		return false
	}
	f := row.Stack[i+1]
	at, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok {
		return false
	}
	calls := syntax.CallsTo(at, c.Site.Function)
	for _, call := range calls {
		if !readByCaller(at.Outer(), call) {
			return false
		}
	}
	return len(calls) > 0
}

// readByCaller reports whether the result of a call is only read.
func readByCaller(p *gocode.Place, call *ast.CallExpr) bool {
	if reads(p, call) {
		return true
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	if v == nil || syntax.IsResult(p, v) {
		return false
	}
	for _, id := range syntax.Reads(p, v) {
		if !reads(p, id) {
			return false
		}
	}
	return true
}
