package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Dropped reports whether the value of an expression, and what it refers to, is used only until the
// function around it returns: it and its parts are read, compared, copied, or passed to functions
// that do the same. Functions of other modules are assumed not to keep what they get, except
// through an interface.
func Dropped(p *gocode.Place, e ast.Expr) bool {
	f := parts{place: p.Outer(), seen: map[types.Object]bool{}}
	return f.dropped(e)
}

// parts follows a value and its parts through a function.
type parts struct {
	place *gocode.Place
	seen  map[types.Object]bool
	depth int // of the calls that it is followed into
}

// mostCalls is how far an argument is followed through functions of the package.
const mostCalls = 4

// dropped reports whether one use of a value, or of a part of it, does not keep it.
func (f *parts) dropped(e ast.Expr) bool {
	p := f.place
	if t := p.TypeOf(e); t != nil && harmless(t) {
		return true // a copy
	}
	around := p.Enclosing(e)
	if len(around) == 0 {
		return false
	}
	switch n := syntax.Parent(p, e).(type) {
	case *ast.SelectorExpr:
		return f.member(n)
	case *ast.IndexExpr:
		return n.X != e || syntax.Defines(p, n) || f.dropped(n)
	case *ast.SliceExpr, *ast.StarExpr, *ast.TypeAssertExpr:
		return f.dropped(n.(ast.Expr))
	case *ast.UnaryExpr:
		return n.Op == token.AND && f.dropped(n)
	case *ast.RangeStmt:
		return f.variable(n.Value) && f.variable(n.Key)
	case *ast.BinaryExpr, *ast.ExprStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.IncDecStmt, *ast.IfStmt:
		return true
	case *ast.AssignStmt:
		return f.assigned(n, e)
	case *ast.ReturnStmt:
		return f.depth > 0 // the caller's use of the result is followed
	case *ast.ValueSpec:
		return f.variable(syntax.AssignedTo(p, e))
	case *ast.CallExpr:
		return f.argument(n, e)
	}
	return false
}

// assigned follows a value into local variables; setting a part of it does not use it.
func (f *parts) assigned(a *ast.AssignStmt, e ast.Expr) bool {
	if syntax.Defines(f.place, e) {
		return true
	}
	if _, typed := syntax.Parent(f.place, a).(*ast.TypeSwitchStmt); typed {
		return false
	}
	if len(a.Rhs) == 1 && len(a.Lhs) > 1 { // the results of a call, or v, ok
		return !slices.ContainsFunc(a.Lhs, func(to ast.Expr) bool { return !f.variable(to) })
	}
	return f.variable(syntax.AssignedTo(f.place, e))
}

// variable reports whether a local variable is used in the same way.
func (f *parts) variable(to ast.Expr) bool {
	id, ok := to.(*ast.Ident)
	if to == nil || ok && id.Name == "_" {
		return true
	}
	if t := f.place.TypeOf(to); t != nil && harmless(t) {
		return true
	}
	v := syntax.LocalVar(f.place, to)
	return v != nil && !syntax.IsResult(f.place, v) && f.reads(v)
}

// reads is [parts.dropped] for all reads of a variable.
func (f *parts) reads(v *types.Var) bool {
	if f.seen[v] {
		return true
	}
	f.seen[v] = true
	for _, id := range syntax.Reads(f.place, v) {
		if captured(f.place, v, id) || !f.dropped(id) {
			return false
		}
	}
	return true
}

// captured reports whether a use is in a function literal, which may run later.
func captured(p *gocode.Place, v *types.Var, id *ast.Ident) bool {
	lit := syntax.Capturing(p, v, id)
	return lit != nil
}

// member judges v.f and v.M().
func (f *parts) member(sel *ast.SelectorExpr) bool {
	p := f.place
	fn, ok := p.Object(sel.Sel).(*types.Func)
	if !ok {
		return syntax.Defines(p, sel) || f.dropped(sel)
	}
	call, ok := syntax.Parent(p, sel).(*ast.CallExpr)
	if !ok || call.Fun != ast.Expr(sel) {
		return false // a method value
	}
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil && decl.Recv != nil && len(decl.Recv.List[0].Names) > 0 {
		recv, ok := p.Info.Defs[decl.Recv.List[0].Names[0]].(*types.Var)
		if ok && !f.inside(decl, recv) {
			return false
		}
	}
	return f.result(call)
}

// argument judges f(v): the function must not keep it, and nor must what uses the result.
func (f *parts) argument(call *ast.CallExpr, e ast.Expr) bool {
	p := f.place
	if t, ok := p.Conversion(call); ok {
		return harmless(t) || f.dropped(call)
	}
	if _, apart := syntax.Parent(p, call).(*ast.GoStmt); apart {
		return false
	}
	switch name := p.CalleeName(call); name {
	case "len", "cap", "copy", "clear", "min", "max", "delete", "print", "println":
		return name != "copy" || harmless(elem(p.TypeOf(e)))
	case "append":
		return call.Args[0] == e && f.dropped(call) || call.Ellipsis.IsValid() && harmless(elem(p.TypeOf(e)))
	}
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	sig := fn.Signature()
	if recv := sig.Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return slices.Contains(lends, fn.Name())
	}
	i := slices.Index(call.Args, e)
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
		if i < 0 || i >= sig.Params().Len() || sig.Variadic() && i >= sig.Params().Len()-1 || !f.inside(decl, sig.Params().At(i)) {
			return false
		}
	} else if fn.Pkg() != nil && fn.Pkg() != p.Pkg && !standard(fn.Pkg().Path()) && stores(fn.Name()) {
		return false
	}
	return f.result(call)
}

// stores reports whether a function's name says that it keeps its argument.
func stores(name string) bool {
	return slices.ContainsFunc([]string{"Add", "Set", "Put", "Push", "Store", "Append", "Insert", "Enqueue", "Send", "Publish", "Register", "With"}, func(w string) bool {
		return strings.HasPrefix(name, w)
	})
}

// inside reports whether a function of the package drops a parameter or receiver.
func (f *parts) inside(decl *ast.FuncDecl, v *types.Var) bool {
	if f.depth >= mostCalls {
		return false
	}
	in := parts{place: f.place.Entry(decl), seen: f.seen, depth: f.depth + 1}
	return in.reads(v)
}

// result follows the results of a call, which may be parts of the value.
func (f *parts) result(call *ast.CallExpr) bool {
	t := f.place.TypeOf(call)
	if tuple, ok := t.(*types.Tuple); ok {
		plain := true
		for v := range tuple.Variables() {
			plain = plain && harmless(v.Type())
		}
		if plain {
			return true
		}
		a, ok := syntax.Parent(f.place, call).(*ast.AssignStmt)
		return ok && f.assigned(a, call)
	}
	if _, ok := syntax.Parent(f.place, call).(*ast.ExprStmt); ok || t == nil || harmless(t) {
		return true
	}
	return f.dropped(call)
}

// harmless reports whether values of a type refer to nothing that can be reused: numbers, strings,
// errors, functions' names.
func harmless(t types.Type) bool {
	if t == nil {
		return false
	}
	return syntax.PlainData(t) || types.Identical(t, types.Universe.Lookup("error").Type())
}

// elem returns the element type of a slice, nil for others.
func elem(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return nil
}
