package equalelements

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// loop is a loop over all elements of a list.
type loop struct {
	*gocode.Place
	*ast.RangeStmt
}

// readers follows a list, and those that are made of its elements one by one, to the loops that go
// through them.
type readers struct {
	pass    *rule.Pass
	seen    map[types.Object]bool
	loops   []loop
	keyed   bool // a loop sets an entry of a map by its element
	refused bool // a use may do something else for equal elements
}

// field follows the field of a struct of a package, where functions of the package use it.
func (r *readers) field(p *gocode.Place, v *types.Var) {
	if v == nil || r.seen[v] {
		return
	}
	r.seen[v] = true
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			at := p.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && at.Object(sel.Sel) == v {
					r.use(at, sel)
				}
				return true
			})
		}
	}
}

// local follows a local variable or a parameter.
func (r *readers) local(p *gocode.Place, v *types.Var) {
	if v == nil || r.seen[v] {
		return
	}
	r.seen[v] = true
	for _, id := range syntax.Uses(p, v) {
		r.use(p, id)
	}
}

// use follows one use of a list.
func (r *readers) use(p *gocode.Place, e ast.Expr) {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.RangeStmt:
		if n.X == e {
			r.loop(p, n)
		}
	case *ast.ReturnStmt:
		r.returned(p)
	case *ast.AssignStmt:
		r.assigned(p, n, e)
	case *ast.CallExpr:
		r.given(p, n, e)
	case *ast.ValueSpec, *ast.Field, *ast.KeyValueExpr: // declared, or set
	default:
		r.refused = true
	}
}

// assigned follows a list that is assigned to a variable. An assignment to the list itself, as for
// append, is none.
func (r *readers) assigned(p *gocode.Place, a *ast.AssignStmt, e ast.Expr) {
	for i, rhs := range a.Rhs {
		if ast.Unparen(rhs) != e || i >= len(a.Lhs) {
			continue
		}
		if v := syntax.LocalVar(p, a.Lhs[i]); v != nil {
			r.local(p, v)
		} else {
			r.refused = true
		}
	}
}

// returned follows what a function returns to its callers.
func (r *readers) returned(p *gocode.Place) {
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok || fn.Signature().Results().Len() != 1 {
		r.refused = true
		return
	}
	if r.seen[fn] {
		return
	}
	r.seen[fn] = true
	for _, at := range r.pass.Syntax.Calls(func(f *types.Func) bool { return f == fn }) {
		if at.Decl == nil || at.Func != at.Decl {
			r.refused = true
			continue
		}
		for _, call := range at.Calls() {
			if at.Callee(call) == fn {
				r.use(at, call)
			}
		}
	}
}

// given follows a list into a function that gets it as an argument. Those of other modules write
// or encode it as it is.
func (r *readers) given(p *gocode.Place, call *ast.CallExpr, e ast.Expr) {
	switch name := p.CalleeName(call); {
	case name == "len" || name == "cap" || name == "append" && call.Args[0] == e && !call.Ellipsis.IsValid():
		return
	case strings.HasPrefix(name, "slices.Sort") || strings.HasPrefix(name, "sort.") || strings.HasPrefix(name, "slices.Contains"):
		return
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || fn.Signature().Variadic() {
		r.refused = true
		return
	}
	for i, arg := range call.Args {
		if arg == e && i < fn.Signature().Params().Len() {
			r.local(p.Entry(decl), fn.Signature().Params().At(i))
		}
	}
}

// loop examines the body of a loop: equal elements must do the same as one of them.
func (r *readers) loop(p *gocode.Place, l *ast.RangeStmt) {
	r.loops = append(r.loops, loop{p, l})
	if id, ok := l.Key.(*ast.Ident); ok && id.Name != "_" {
		r.refused = true // by their position
		return
	}
	if l.Value == nil {
		r.refused = true // only counts
		return
	}
	ast.Inspect(l.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			r.sets(p, l, n)
		case *ast.CallExpr:
			r.called(p, n)
		case *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit, *ast.SelectStmt:
			r.refused = true
		case *ast.UnaryExpr:
			r.refused = r.refused || n.Op == token.ARROW
		}
		return !r.refused
	})
}

// sets examines an assignment in a loop: to a variable of the iteration, to an entry of a map, or
// of a list to which an element was added.
func (r *readers) sets(p *gocode.Place, l *ast.RangeStmt, a *ast.AssignStmt) {
	if a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		r.refused = true
		return
	}
	for i, lhs := range a.Lhs {
		lhs = ast.Unparen(lhs)
		if id, ok := lhs.(*ast.Ident); ok && id.Name == "_" {
			continue
		}
		if v := syntax.LocalVar(p, lhs); v != nil && syntax.Inside(l.Body, v.Pos()) {
			continue
		}
		if at, ok := lhs.(*ast.IndexExpr); ok && syntax.IsMap(p.TypeOf(at.X)) && len(a.Lhs) == len(a.Rhs) && !readsMap(p, a.Rhs[i], at.X) {
			r.keyed = true
			continue
		}
		call, ok := ast.Unparen(a.Rhs[min(i, len(a.Rhs)-1)]).(*ast.CallExpr)
		if !ok || p.CalleeName(call) != "append" || len(call.Args) != 2 || call.Ellipsis.IsValid() || syntax.Text(call.Args[0]) != syntax.Text(lhs) {
			r.refused = true
			continue
		}
		switch v := syntax.Named(p, lhs); {
		case v == nil || v.Pkg() != p.Pkg:
			r.refused = true
		case v.IsField():
			r.field(p, v)
		default:
			r.local(p, v)
		}
	}
}

// called examines a call in a loop.
func (r *readers) called(p *gocode.Place, call *ast.CallExpr) {
	if _, conversion := p.Conversion(call); conversion {
		return
	}
	fn := p.Callee(call)
	if fn == nil {
		switch p.CalleeName(call) {
		case "append", "len", "cap", "delete", "min", "max":
		default:
			r.refused = true
		}
		return
	}
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
		r.refused = r.refused || !effects.LooksPure(p.Entry(decl))
		return
	}
	r.refused = r.refused || !deterministic(fn)
}

// readsMap reports whether an expression reads the map that another one denotes.
func readsMap(p *gocode.Place, e, m ast.Expr) bool {
	found, text := false, syntax.Text(m)
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok {
			found = found || syntax.Text(x) == text
		}
		return !found
	})
	return found
}

func deterministic(fn *types.Func) bool {
	return funcname.Match(fn.FullName(), append(funcname.TypedAll(effects.PureFuncs()), funcname.TypedAll(effects.DeterministicFuncs())...)...) ||
		fn.Pkg() != nil && (fn.Pkg().Path() == "strconv" || fn.Pkg().Path() == "strings") && fn.Signature().Recv() == nil
}
