package rowaskedtwice

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// deepest is how many functions below a call are searched for its statement.
const deepest = 3

// access is what a call does to one row, in terms of the function around the call.
type access struct {
	*sqltext.Access
	call *ast.CallExpr
	keys []ast.Expr // values that identify the row; none for an INSERT
	text string     // the statement
	rows bool       // it may return several rows
	unit string     // of a command to Redis or a request: what it is about; "" for a statement
	asks bool       // a command that only asks whether there is something
}

// reads reports whether the access is a query.
func (a *access) reads() bool { return a.Verb == "select" }

// summary is the only access in a function, in terms of the function.
type summary struct {
	place *gocode.Place
	*access
}

// accessOf returns the only statement that a call sends, itself or in functions of the program
// below it; nil for none, for several, and for statements about more than one row of one table.
func (s *search) accessOf(p *gocode.Place, call *ast.CallExpr, depth int) *access {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil {
		return nil
	}
	if sent := s.sql.Sent(p, call); sent != nil {
		return s.statement(call, sent)
	}
	if a := s.keyedAccess(p, call); a != nil {
		return a
	}
	if a := remoteAccess(p, call); a != nil {
		return a
	}
	if depth == 0 || symbol.Standard(fn.Pkg().Path()) {
		return nil
	}
	in := s.summaryOf(fn, depth-1)
	if in == nil {
		return nil
	}
	a := &access{Access: in.Access, call: call, text: in.text, rows: in.unit == "" && returnsRows(fn), unit: in.unit, asks: in.asks}
	for _, key := range in.keys {
		v := root(in.place, key)
		if v == nil || in.place.Decl.Recv != nil && syntax.Inside(in.place.Decl.Recv, v.Pos()) {
			continue // a constant, or what the store is set to
		}
		if given := flow.ArgumentFor(in.place, call, v); given != nil {
			a.keys = append(a.keys, given)
		}
	}
	if len(a.keys) == 0 && a.Verb != "insert" {
		return nil
	}
	if a.unit == "" {
		return a
	}
	table, ok := composed(p, in.Table, a.keys)
	if !ok {
		return nil
	}
	a.asks = a.asks || (a.unit == resource || a.unit == object) && asksIn(fn)
	a.Access = &sqltext.Access{Verb: in.Verb, Table: table, Sums: a.asks}
	return a
}

// statement is accessOf for a call that sends a statement.
func (s *search) statement(call *ast.CallExpr, sent *sqltext.Sent) *access {
	of := sqltext.AccessOf(sent.Text)
	if of == nil {
		return nil
	}
	a := &access{Access: of, call: call, text: sent.Text, rows: sent.Rows()}
	for _, i := range of.Params {
		if i >= len(sent.Args) {
			return nil
		}
		a.keys = append(a.keys, sent.Args[i])
	}
	return a
}

// returnsRows reports whether the first result of a function is a list.
func returnsRows(fn *types.Func) bool {
	results := fn.Signature().Results()
	if results.Len() == 0 {
		return false
	}
	switch t := results.At(0).Type().Underlying().(type) {
	case *types.Slice:
		b, ok := t.Elem().Underlying().(*types.Basic)
		return !ok || b.Kind() != types.Byte
	case *types.Map, *types.Chan, *types.Signature:
		return true
	}
	return false
}

// summaryOf returns the only access in a function of the program; nil for none.
func (s *search) summaryOf(fn *types.Func, depth int) *summary {
	full := gocode.FullName(fn)
	if known, ok := s.summaries[full]; ok {
		return known
	}
	s.summaries[full] = nil // a recursion
	place := s.sql.Declared(fn)
	if place == nil || place.Decl == nil {
		return nil
	}
	var found *access
	several := false
	ast.Inspect(place.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || several {
			return !several
		}
		a := s.accessOf(place, call, depth)
		if a == nil && (s.sql.Sends(place, call) || sendsOther(place, call)) {
			several = true // one that is not known
			return false
		}
		if a != nil {
			several = found != nil || len(loops.Around(place, call)) > 0
			found = a
		}
		return !several
	})
	if found != nil && !several {
		s.summaries[full] = &summary{place, found}
	}
	return s.summaries[full]
}

// only returns the only expression of a list that is not a constant or a field; nil for several.
func only(p *gocode.Place, list []ast.Expr) (found ast.Expr) {
	for _, e := range list {
		if fixed(p, e) {
			continue
		}
		if found != nil {
			return nil
		}
		found = e
	}
	return found
}

// fixed reports whether an expression is a constant, a field, or both put together.
func fixed(p *gocode.Place, e ast.Expr) bool {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok {
		return fixed(p, b.X) && fixed(p, b.Y)
	}
	if _, constant := p.Const(e); constant {
		return true
	}
	v := syntax.Named(p, e)
	return v != nil && (v.IsField() || v.Parent() == v.Pkg().Scope())
}

// root returns the variable that an expression is, or is a part of, or is computed from as its only
// operand; nil for others.
func root(p *gocode.Place, e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return syntax.LocalVar(p, x)
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		case *ast.BinaryExpr: // a prefix and a key
			if e = only(p, []ast.Expr{x.X, x.Y}); e == nil {
				return nil
			}
		case *ast.CallExpr:
			if _, conversion := p.Conversion(x); conversion || len(x.Args) == 1 && syntax.Receiver(x) == nil {
				e = x.Args[0]
				continue
			}
			if len(x.Args) > 0 && syntax.IsString(p, x) { // a function that makes a key
				if e = only(p, x.Args); e == nil {
					return nil
				}
				continue
			}
			to := syntax.Receiver(x)
			if to == nil || len(x.Args) > 0 {
				return nil
			}
			e = to
		default:
			return nil
		}
	}
}
