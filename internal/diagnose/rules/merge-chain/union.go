package mergechain

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// union is a function that returns a new list, map or set with the elements of two operands.
type union struct {
	function, name string
	calls          float64 // for each unit of work
	operands       map[*types.Var]operand
	sig            *types.Signature
	variadic       bool // its operands are the elements of one parameter
}

// operand is a parameter, or the receiver, whose elements the result gets.
type operand struct {
	found    bool
	each     []ast.Node // statements that add one element
	elements float64    // that they added, for each unit of work
	whole    bool       // there is a statement that copies many at once
}

// operand returns the operand that the parameter with an index is; -1 for the receiver.
func (u *union) operand(i int) operand {
	v := u.sig.Recv()
	if i >= 0 {
		v = u.sig.Params().At(i)
	}
	return u.operands[v]
}

// total returns how many elements of all operands were added one by one.
func (u *union) total() (n float64) {
	for _, o := range u.operands {
		n += o.elements
	}
	return n
}

// uniter follows the elements of parameters to a result.
type uniter struct {
	p      *gocode.Place
	result *types.Var
	from   map[*types.Var]*types.Var // variables that hold elements, with their operand
	*union
}

// unites returns what the function of a place merges; nil when it returns nothing new with elements
// of two operands.
func unites(p *gocode.Place) *union {
	sig := syntax.SignatureOf(p)
	result := returned(p)
	if sig == nil || result == nil {
		return nil
	}
	u := &uniter{p: p, result: result, from: map[*types.Var]*types.Var{}, union: &union{operands: map[*types.Var]operand{}, sig: sig}}
	if sig.Recv() != nil {
		u.from[sig.Recv()] = sig.Recv()
	}
	for i := range sig.Params().Len() {
		u.from[sig.Params().At(i)] = sig.Params().At(i)
	}
	if u.from[result] != nil {
		return nil // added in place
	}
	_, value := syntax.Declared(p, result)
	if value != nil {
		if v, _ := syntax.Var(p, value); v != nil {
			return nil // another name of an operand
		}
	}
	ast.Inspect(p.Decl.Body, u.visit)
	if len(u.operands) == 1 && sig.Variadic() && u.operands[sig.Params().At(sig.Params().Len()-1)].found {
		u.variadic = true // union(sets ...set): one of them is the result so far
		return u.union
	}
	if len(u.operands) != 2 {
		return nil
	}
	return u.union
}

// returned returns the local variable that a function returns first, in each of its last return
// statements; nil when there is none.
func returned(p *gocode.Place) *types.Var {
	if len(p.Decl.Body.List) == 0 {
		return nil
	}
	r, ok := p.Decl.Body.List[len(p.Decl.Body.List)-1].(*ast.ReturnStmt)
	if !ok || len(r.Results) == 0 {
		return nil
	}
	e := ast.Unparen(r.Results[0])
	for {
		call, ok := e.(*ast.CallExpr)
		if !ok || p.CalleeName(call) != "append" { // return append(out, b...)
			break
		}
		e = ast.Unparen(call.Args[0])
	}
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok && len(lit.Elts) == 1 { // set{m}
		e = lit.Elts[0]
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
	}
	return syntax.LocalVar(p, e)
}

func (u *uniter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.RangeStmt:
		if of := u.operandIn(n.X); of != nil {
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if v := syntax.LocalVar(u.p, syntax.OrBad(e)); v != nil {
					u.from[v] = of
				}
			}
		}
	case *ast.AssignStmt:
		u.assigned(n)
	case *ast.ReturnStmt:
		if len(n.Results) > 0 {
			u.appended(n.Results[0], n)
		}
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			break
		}
		if funcname.Match(u.p.CalleeName(call), "copy", "maps.Copy") && len(call.Args) == 2 {
			if u.ofResult(call.Args[0]) {
				u.add(u.operandIn(call.Args[1]), n, true)
			}
		} else if to := syntax.Receiver(call); to != nil && u.ofResult(to) {
			for _, arg := range call.Args {
				u.add(u.operandIn(arg), n, call.Ellipsis.IsValid())
			}
		}
	}
	return true
}

// assigned follows an assignment: to the result, or of an element to a variable.
func (u *uniter) assigned(a *ast.AssignStmt) {
	for i, lhs := range a.Lhs {
		rhs := a.Rhs[min(i, len(a.Rhs)-1)]
		if !u.ofResult(lhs) {
			if v := syntax.LocalVar(u.p, lhs); v != nil && u.from[v] == nil && a.Tok == token.DEFINE {
				if of := u.operandIn(rhs); of != nil {
					u.from[v] = of
				}
			}
			continue
		}
		if call, ok := ast.Unparen(rhs).(*ast.CallExpr); ok {
			u.called(call, a)
			continue
		}
		for _, side := range append([]ast.Expr{rhs}, index(lhs)...) {
			u.add(u.operandIn(side), a, false)
		}
	}
}

// called follows a call whose value the result gets: append, a constructor, a copy.
func (u *uniter) called(call *ast.CallExpr, in ast.Node) {
	name := u.p.CalleeName(call)
	if name == "make" {
		return
	}
	args := call.Args
	if to := syntax.Receiver(call); to != nil {
		args = append([]ast.Expr{to}, args...)
	}
	for _, arg := range args {
		u.add(u.operandIn(arg), in, name != "append" || call.Ellipsis.IsValid())
	}
}

// appended follows calls of append, one for the value of the other, that add to the result.
func (u *uniter) appended(e ast.Expr, in ast.Node) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || u.p.CalleeName(call) != "append" || !u.ofResult(call.Args[0]) && !u.appended(call.Args[0], in) {
		return false
	}
	for _, arg := range call.Args[1:] {
		u.add(u.operandIn(arg), in, call.Ellipsis.IsValid())
	}
	return true
}

// index returns the keys of an entry that is assigned to.
func index(e ast.Expr) []ast.Expr {
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		return []ast.Expr{x.Index}
	}
	return nil
}

// ofResult reports whether an expression is the result or a part of it.
func (u *uniter) ofResult(e ast.Expr) bool {
	if s, ok := ast.Unparen(e).(*ast.SliceExpr); ok {
		e = s.X
	}
	v, _ := syntax.Var(u.p, e)
	return v == u.result
}

// operandIn returns the operand of which an expression has elements; nil for none. Its length is
// none of them.
func (u *uniter) operandIn(e ast.Expr) (of *types.Var) {
	ast.Inspect(syntax.OrBad(e), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if name := u.p.CalleeName(n); name == "len" || name == "cap" {
				return false
			}
		case *ast.Ident:
			if v, ok := u.p.Object(n).(*types.Var); ok && of == nil {
				of = u.from[v]
			}
		}
		return of == nil
	})
	return of
}

// add notes that a statement adds elements of an operand to the result.
func (u *uniter) add(of *types.Var, n ast.Node, whole bool) {
	if of == nil {
		return
	}
	o := u.operands[of]
	o.found = true
	if whole {
		o.whole = true
	} else if len(o.each) == 0 || o.each[len(o.each)-1] != n {
		o.each = append(o.each, n)
	}
	u.operands[of] = o
}
