package stringbytescopy

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/gocode"
)

// readers are functions of the standard library that only read a byte slice, with the index of that
// argument.
var readers = []struct {
	name string
	arg  int
}{
	{"bytes.Equal", 0}, {"bytes.Equal", 1}, {"bytes.HasPrefix", 0}, {"bytes.HasPrefix", 1}, {"bytes.IndexByte", 0}, {"bytes.Index", 0}, {"bytes.Index", 1},
	{"bytes.Contains", 0}, {"bytes.Contains", 1}, {"bytes.Count", 0}, {"bytes.EqualFold", 0}, {"bytes.EqualFold", 1}, {"bytes.LastIndexByte", 0},
	{"encoding/hex.Decode", 1}, {"(*encoding/base64.Encoding).Decode", 1}, {"unicode/utf8.DecodeRune", 0}, {"unicode/utf8.Valid", 0}, {"unicode/utf8.RuneCount", 0},
}

// formatters print their arguments and keep no reference to them.
var formatters = []string{"fmt.Errorf", "fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln", "fmt.Fprintf", "fmt.Fprint", "fmt.Fprintln"}

// reading follows a byte slice through the functions of one package.
type reading struct {
	p     *gocode.Place
	asked map[*types.Var]bool // parameters that are being examined, or have been: recursion does not change the result
}

// onlyReads reports whether the function that a call passes an argument to only reads it, as far as
// its package shows: it does not keep, change or return it.
func onlyReads(p *gocode.Place, call *ast.CallExpr, arg ast.Expr) bool {
	r := &reading{p: p, asked: map[*types.Var]bool{}}
	return r.passed(call, arg)
}

// passed is onlyReads for one argument of a call.
func (r *reading) passed(call *ast.CallExpr, arg ast.Expr) bool {
	i := slices.IndexFunc(call.Args, func(a ast.Expr) bool { return ast.Unparen(a) == arg })
	fn := r.p.Callee(call)
	if i < 0 || fn == nil {
		return false
	}
	name := r.p.CalleeName(call)
	for _, known := range readers {
		if known.name == name && known.arg == i {
			return true
		}
	}
	if funcname.Match(name, formatters...) {
		return true
	}
	sig := fn.Signature()
	if fn.Pkg() != r.p.Pkg || sig.Variadic() || i >= sig.Params().Len() || sig.TypeParams() != nil {
		return false
	}
	decl := r.declaration(fn)
	if decl == nil || decl.Body == nil {
		return false
	}
	return r.reads(decl, sig.Params().At(i))
}

func (r *reading) declaration(fn *types.Func) *ast.FuncDecl {
	for _, f := range r.p.Files() {
		for _, d := range f.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && r.p.Object(decl.Name) == fn {
				return decl
			}
		}
	}
	return nil
}

// reads reports whether a function only reads a variable, and the variables that it assigns it to.
func (r *reading) reads(decl *ast.FuncDecl, v *types.Var) bool {
	if r.asked[v] {
		return true
	}
	r.asked[v] = true
	held := map[types.Object]bool{v: true}
	for known := 0; known < len(held); {
		known = len(held)
		ok := true
		var around []ast.Node
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			if n == nil {
				around = around[:len(around)-1]
				return true
			}
			if id, is := n.(*ast.Ident); is && held[r.p.Object(id)] {
				ok = ok && r.use(id, around, held)
			}
			around = append(around, n)
			return true
		})
		if !ok {
			return false
		}
	}
	return true
}

// use judges one use of a slice; around are the nodes around it, outermost first. It adds a
// variable that the slice is assigned to to held.
func (r *reading) use(id *ast.Ident, around []ast.Node, held map[types.Object]bool) bool {
	var child ast.Expr = id
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.ParenExpr:
			child = n
			continue
		case *ast.SliceExpr:
			if n.X != child {
				return true // a bound
			}
			child = n
			continue
		case *ast.IndexExpr:
			return n.X != child || !r.written(n, around[:i])
		case *ast.RangeStmt:
			return n.X == child
		case *ast.BinaryExpr:
			return true // nil, or a length
		case *ast.CallExpr:
			return r.call(n, child)
		case *ast.AssignStmt:
			return r.assigned(n, child, held)
		default:
			return false
		}
	}
	return false
}

// written reports whether an element is assigned to, or its address is taken.
func (r *reading) written(e ast.Expr, around []ast.Node) bool {
	switch n := around[len(around)-1].(type) {
	case *ast.AssignStmt:
		return slices.Contains(n.Lhs, e)
	case *ast.IncDecStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op.String() == "&"
	case *ast.RangeStmt:
		return n.Key == e || n.Value == e
	}
	return false
}

func (r *reading) call(n *ast.CallExpr, child ast.Expr) bool {
	if t, ok := r.p.Conversion(n); ok {
		b, is := t.Underlying().(*types.Basic)
		return is && b.Kind() == types.String
	}
	switch r.p.CalleeName(n) {
	case "len", "cap":
		return true
	case "copy":
		return len(n.Args) == 2 && ast.Unparen(n.Args[1]) == ast.Unparen(child)
	case "append":
		return n.Ellipsis.IsValid() && ast.Unparen(n.Args[0]) != ast.Unparen(child)
	}
	return r.passed(n, ast.Unparen(child))
}

func (r *reading) assigned(n *ast.AssignStmt, child ast.Expr, held map[types.Object]bool) bool {
	if slices.Contains(n.Lhs, child) {
		return true // it gets another value
	}
	if len(n.Lhs) != len(n.Rhs) {
		return false
	}
	for i, rhs := range n.Rhs {
		if rhs != child {
			continue
		}
		id, ok := ast.Unparen(n.Lhs[i]).(*ast.Ident)
		if !ok {
			return false // a field or an element keeps it
		}
		if id.Name == "_" {
			return true
		}
		v, ok := r.p.Object(id).(*types.Var)
		if !ok || v.Parent() == nil || v.Parent() == r.p.Pkg.Scope() || v.Kind() == types.ResultVar {
			return false
		}
		held[v] = true
		return true
	}
	return false
}
