package functionofbyte

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// input is what the arguments of a call depend on.
type input struct {
	bits  int    // of the one value that varies; 0 for none
	text  string // that value
	given bool   // also on something that the loops around the call do not change
}

// inputOf returns what the arguments of a call depend on: one value of at most 16 bits, constants,
// and what the loops around the call do not change. It reports false if that is not so.
func inputOf(p *gocode.Place, call *ast.CallExpr) (input, bool) {
	around := loops.Around(p, call)
	r := reader{Place: p}
	if len(around) > 0 {
		r.loop = around[len(around)-1]
	}
	ok := len(call.Args) > 0 && !call.Ellipsis.IsValid()
	for _, arg := range call.Args {
		ok = ok && r.read(arg)
	}
	return r.input, ok
}

// reader goes through the expressions from which arguments are computed.
type reader struct {
	*gocode.Place
	loop ast.Node // outermost around the call; nil for none
	input
	depth int
}

// read adds what an expression depends on; false for something other than [inputOf] accepts.
func (r *reader) read(e ast.Expr) bool {
	if r.depth++; r.depth > 40 {
		return false
	}
	e = ast.Unparen(e)
	if _, ok := r.Const(e); ok {
		return true
	}
	if bits := r.width(e); bits > 0 {
		return r.vary(e, bits)
	}
	switch x := e.(type) {
	case *ast.BinaryExpr:
		return r.read(x.X) && r.read(x.Y)
	case *ast.UnaryExpr:
		return (x.Op == token.SUB || x.Op == token.ADD) && r.read(x.X)
	case *ast.CallExpr:
		if _, ok := r.Conversion(x); ok {
			return r.read(x.Args[0])
		}
		fn := r.Callee(x)
		if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "math" {
			return false
		}
		for _, arg := range x.Args {
			if !r.read(arg) {
				return false
			}
		}
		return true
	case *ast.Ident:
		if origin := syntax.Origin(r.Place, x); origin != ast.Expr(x) {
			return r.read(origin)
		}
	}
	if r.loop == nil || !loops.Steady(r.Place, r.loop, e) {
		return false
	}
	r.given = true
	return true
}

// vary notes the value that varies; there may be only one.
func (r *reader) vary(e ast.Expr, bits int) bool {
	text := syntax.Text(e)
	if r.bits != 0 && r.text != text {
		return false
	}
	r.bits, r.text = bits, text
	return true
}

// width returns how many bits the value of an expression has, if that is 16 at most: by its type,
// by a mask, or because it is a channel of a color.Color. 0 for others.
func (r *reader) width(e ast.Expr) int {
	if t, ok := r.TypeOf(e).Underlying().(*types.Basic); ok {
		switch t.Kind() {
		case types.Uint8, types.Int8:
			return 8
		case types.Uint16, types.Int16:
			return 16
		}
	}
	switch x := e.(type) {
	case *ast.BinaryExpr:
		n, ok := r.constant(x.Y)
		switch {
		case !ok:
		case x.Op == token.AND && n > 0 && n < 1<<8:
			return 8
		case x.Op == token.AND && n > 0 && n < 1<<16:
			return 16
		case x.Op == token.SHR && n == 8 && r.channel(x.X):
			return 8
		}
	case *ast.Ident:
		if r.channel(x) {
			return 16
		}
	}
	return 0
}

// constant returns the value of a constant integer.
func (r *reader) constant(e ast.Expr) (int64, bool) {
	v, ok := r.Const(e)
	if !ok || v.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(v)
}

// channel reports whether an expression is a variable that only gets a result of a method
// RGBA() (r, g, b, a uint32), as of a color.Color: 16 bits.
func (r *reader) channel(e ast.Expr) bool {
	v := syntax.LocalVar(r.Place, e)
	stmt, value := syntax.Declared(r.Place, v)
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || value != nil || len(a.Lhs) != 4 || len(a.Rhs) != 1 || len(syntax.Assigned(r.Place, v)) > 0 {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := r.Callee(call)
	return fn != nil && fn.Name() == "RGBA" && fn.Signature().Recv() != nil
}
