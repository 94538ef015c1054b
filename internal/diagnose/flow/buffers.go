package flow

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// lends are the methods whose contract is not to retain their buffer argument (packages io, hash,
// crypto/cipher, net).
var lends = []string{
	"Read", "ReadAt", "Write", "WriteAt", "XORKeyStream", "Encrypt", "Decrypt", "CryptBlocks", "ReadFrom", "WriteTo", "Sum", "PutUint16", "PutUint32", "PutUint64",
}

// Use is what a function does with a buffer.
type Use struct {
	// Contained: nothing keeps the buffer after the function returns, according to syntax,
	// contracts of the standard library, and the compiler's facts about the package's own
	// functions.
	Contained bool
	// Interface is the first call of an interface's method that gets the buffer; nil for none.
	Interface *ast.CallExpr
}

// BufferUse follows a local array or slice through its function.
func BufferUse(p *rule.Pass, place *gocode.Place, v *types.Var) Use {
	u := Use{Contained: true}
	b := borrow{pass: p, place: place.Outer(), use: &u, seen: map[*types.Var]bool{}}
	b.variable(v)
	return u
}

// borrow follows a buffer.
type borrow struct {
	pass  *rule.Pass
	place *gocode.Place
	use   *Use
	seen  map[*types.Var]bool
}

func (b *borrow) variable(v *types.Var) {
	if v == nil || b.seen[v] {
		return
	}
	b.seen[v] = true
	for _, id := range syntax.Reads(b.place, v) {
		b.value(id)
	}
}

// value follows an expression that is the buffer or a part of it.
func (b *borrow) value(e ast.Expr) {
	p := b.place
	switch n := syntax.Parent(p, e).(type) {
	case *ast.IndexExpr:
		if ast.Unparen(n.X) != e {
			break
		}
		if _, basic := p.TypeOf(n).Underlying().(*types.Basic); !basic {
			b.use.Contained = false // an element may be any value
		}
	case *ast.SliceExpr:
		if ast.Unparen(n.X) == e {
			b.value(n)
		}
	case *ast.UnaryExpr:
		b.use.Contained = false
	case *ast.RangeStmt, *ast.ExprStmt:
	case *ast.BinaryExpr: // compared
	case *ast.CallExpr:
		b.argument(n, e)
	case *ast.AssignStmt, *ast.ValueSpec:
		to := syntax.AssignedTo(p, e)
		if to == nil { // on the left-hand side
			return
		}
		if id, ok := to.(*ast.Ident); ok && id.Name == "_" {
			return
		}
		if _, array := p.TypeOf(e).Underlying().(*types.Array); array {
			return // a copy
		}
		v := syntax.LocalVar(p, to)
		if v == nil || syntax.IsResult(p, v) {
			b.use.Contained = false
			return
		}
		b.variable(v)
	default:
		b.use.Contained = false
	}
}

// argument judges a call that gets the buffer.
func (b *borrow) argument(call *ast.CallExpr, e ast.Expr) {
	p := b.place
	if t, ok := p.Conversion(call); ok {
		if _, basic := t.Underlying().(*types.Basic); !basic {
			b.value(call)
		}
		return
	}
	name := p.CalleeName(call)
	switch name {
	case "len", "cap", "copy", "clear", "print", "println", "min", "max":
		return
	case "append":
		if call.Args[0] == e {
			b.value(call)
		}
		return
	}
	fn := p.Callee(call)
	if fn == nil {
		b.use.Contained = false
		return
	}
	sig := fn.Signature()
	lent := false
	for _, l := range lends {
		lent = lent || fn.Name() == l
	}
	switch {
	case sig.Recv() != nil && types.IsInterface(sig.Recv().Type()):
		if b.use.Interface == nil {
			b.use.Interface = call
		}
		b.keep(lent && (fn.Name() != "Sum" || b.dropped(call)))
	case fn.Pkg() != nil && fn.Pkg() == p.Pkg:
		b.keep(!b.leaks(fn, call, e))
	case fn.Pkg() != nil && standard(fn.Pkg().Path()):
		b.keep(!returnsView(sig) || b.followed(call))
	default:
		b.keep(false)
	}
}

func (b *borrow) keep(contained bool) { b.use.Contained = b.use.Contained && contained }

// dropped reports whether a call's result is not used.
func (b *borrow) dropped(call *ast.CallExpr) bool {
	_, ok := syntax.Parent(b.place, call).(*ast.ExprStmt)
	return ok
}

// followed follows a result that may share the buffer.
func (b *borrow) followed(call *ast.CallExpr) bool {
	b.value(call)
	return true
}

// returnsView reports whether a function has results that may share memory with its arguments.
func returnsView(sig *types.Signature) bool {
	for v := range sig.Results().Variables() {
		switch v.Type().Underlying().(type) {
		case *types.Basic:
		case *types.Interface:
			if !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
				return true
			}
		case *types.Array: // a copy
		default:
			return true
		}
	}
	return false
}

// standard reports whether an import path is in the standard library: no dot in its first element.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// leaks reports whether a parameter of a function of the package leaks according to the compiler,
// or is unknown.
func (b *borrow) leaks(fn *types.Func, call *ast.CallExpr, e ast.Expr) bool {
	i := -1
	for k, arg := range call.Args {
		if ast.Unparen(arg) == e {
			i = k
		}
	}
	sig := fn.Signature()
	if i < 0 || i >= sig.Params().Len() || sig.Variadic() || b.pass.Facts == nil || returnsView(sig) {
		return true
	}
	have, _ := b.pass.Facts.Packages()
	known := false
	for _, h := range have {
		known = known || h == fn.Pkg().Path()
	}
	param := sig.Params().At(i)
	at := b.place.Fset.Position(param.Pos())
	for _, f := range b.pass.Facts.At(at.Filename, at.Line) {
		if f.Code == "leak" && strings.HasPrefix(f.Message, "parameter "+param.Name()+" ") {
			return true
		}
	}
	return !known
}
