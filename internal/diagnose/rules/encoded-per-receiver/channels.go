package encodedperreceiver

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// reception is a value that a goroutine receives from a channel.
type reception struct {
	to   *types.Var
	from ast.Expr
}

// received returns the reception of the value, if the values consist of one that the function
// around receives and of constants; nil if they do not.
func received(p *gocode.Place, values []ast.Expr) *reception {
	if p.Func == nil {
		return nil
	}
	vars, ok := roots(p, p.Func, values)
	if !ok || len(vars) != 1 {
		return nil
	}
	var r *reception
	is := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && p.Object(id) == vars[0]
	}
	ast.Inspect(p.Func, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if _, ok := p.TypeOf(n.X).Underlying().(*types.Chan); ok && n.Key != nil && is(n.Key) {
				r = &reception{vars[0], n.X}
			}
		case *ast.AssignStmt:
			if len(n.Rhs) != 1 || !is(n.Lhs[0]) {
				break
			}
			if u, ok := ast.Unparen(n.Rhs[0]).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
				r = &reception{vars[0], u.X}
			}
		}
		return r == nil
	})
	return r
}

// sentToAll reports whether a loop over the receivers' channels sends them the same value.
func (s *search) sentToAll(f *found, p *gocode.Place, r *reception) bool {
	ch, ok := p.TypeOf(r.from).Underlying().(*types.Chan)
	if !ok || !message(ch.Elem()) {
		return false
	}
	f.sent = true
	ok = false
	s.sends(p, ch.Elem(), func(in *gocode.Place, at ast.Node, to []ast.Expr, value ast.Expr, call *ast.CallExpr) {
		loop := loops.Repeating(in, at)
		if ok || loop == nil || !overReceivers(in, loop) || !same(in, loop, call, []ast.Expr{value}) {
			return
		}
		if slices.ContainsFunc(to, func(e ast.Expr) bool { return !loops.FromOutside(in, loop, e) }) {
			ok = s.counted(f, in, loop)
		}
	})
	return ok
}

// message reports whether a type of elements of channels is that of messages: not a number, a
// signal or a text.
func message(t types.Type) bool {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return u.NumFields() > 0
	case *types.Map:
		return true
	}
	return false
}

// sends calls each for the statements of a package that send to channels of an element type, and
// for the calls of methods that send what they get.
func (s *search) sends(p *gocode.Place, elem types.Type, each func(in *gocode.Place, at ast.Node, to []ast.Expr, value ast.Expr, call *ast.CallExpr)) {
	methods := map[*types.Func]int{} // with the index of the parameter that they send
	eachFunc(p, func(decl *ast.FuncDecl) {
		var in *gocode.Place
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			send, ok := n.(*ast.SendStmt)
			if !ok {
				return true
			}
			ch, ok := p.TypeOf(send.Chan).Underlying().(*types.Chan)
			if !ok || !types.Identical(ch.Elem(), elem) {
				return true
			}
			if in == nil {
				in = p.Entry(decl)
			}
			each(in, send, []ast.Expr{send.Chan}, send.Value, nil)
			if fn, ok := p.Info.Defs[decl.Name].(*types.Func); ok && fn.Signature().Recv() != nil {
				if v := syntax.LocalVar(in, send.Value); v != nil && syntax.ParamIndex(fn.Signature(), v) >= 0 && !changed(in, decl.Body, v, nil) {
					methods[fn] = syntax.ParamIndex(fn.Signature(), v)
				}
			}
			return true
		})
	})
	if len(methods) == 0 {
		return
	}
	eachFunc(p, func(decl *ast.FuncDecl) {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			k, known := methods[p.Callee(call)]
			if recv := syntax.Receiver(call); known && recv != nil && k < len(call.Args) {
				each(p.Entry(decl), call, []ast.Expr{recv}, call.Args[k], call)
			}
			return true
		})
	})
}

func eachFunc(p *gocode.Place, do func(*ast.FuncDecl)) {
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				do(decl)
			}
		}
	}
}
