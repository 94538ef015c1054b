package sqltext

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// Sent is a statement that a call sends: a method of a client, or a helper, which is a function of
// the program that passes a text and its parameters on:
//
//	func (s *store) exec(query string, args ...any) error { _, err := s.db.Exec(query, args...); … }
type Sent struct {
	Text   string // "" if it is not known
	Args   []ast.Expr
	Method string // of the client: Exec, QueryRowContext

	prepared *flow.Argument // the call that prepares it
	place    *gocode.Place
	call     *ast.CallExpr
	fn       *types.Func
	in       *helper // nil where the call is that of the client
}

// helper is a function that sends the statements which it gets.
type helper struct {
	place *gocode.Place
	*Sent
	text *types.Var // the parameter with the text; nil where the function has the text itself
}

// deepestHelper is how many helpers may be between a statement and the client.
const deepestHelper = 3

// Sent returns the statement that a call sends; nil for other calls.
func (s Program) Sent(p *gocode.Place, call *ast.CallExpr) *Sent {
	return s.sent(p, call, deepestHelper)
}

func (s Program) sent(p *gocode.Place, call *ast.CallExpr, depth int) *Sent {
	fn := p.Callee(call)
	if call.Ellipsis.IsValid() || !takesParameters(fn) || fn.Signature().Params().Len()-1 > len(call.Args) {
		return nil
	}
	n := fn.Signature().Params().Len() - 1
	out := &Sent{Args: call.Args[n:], place: p, call: call, fn: fn}
	if sends(fn) {
		out.Method = fn.Name()
		if out.Text, out.prepared = s.Prepared(p, call); n > 0 && syntax.IsString(p, call.Args[n-1]) {
			out.Text = s.Text(p, call.Args[n-1])
		}
		return out
	}
	if out.in = s.helperOf(fn, depth); out.in == nil {
		return nil
	}
	out.Method, out.Text, out.prepared = out.in.Method, out.in.Text, out.in.prepared
	if text := flow.ArgumentFor(out.in.place, call, out.in.text); text != nil {
		out.Text = s.Text(p, text)
	}
	return out
}

// Sends reports whether a call sends a statement, as far as the name of a client's method shows.
func (s Program) Sends(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	return takesParameters(fn) && (sends(fn) && client(fn) || s.helperOf(fn, deepestHelper) != nil)
}

// client reports whether a function is one of a client of a database.
func client(fn *types.Func) bool {
	return slices.ContainsFunc([]string{"database/sql", "github.com/jmoiron/sqlx", "github.com/jackc/pgx"}, func(path string) bool {
		return strings.HasPrefix(fn.Pkg().Path(), path)
	})
}

// takesParameters reports whether a function may take the parameters of a statement: args ...any.
func takesParameters(fn *types.Func) bool {
	if fn == nil || fn.Pkg() == nil || !fn.Signature().Variadic() {
		return false
	}
	elem := syntax.Elem(fn.Signature().Params().At(fn.Signature().Params().Len() - 1).Type())
	return elem != nil && types.IsInterface(elem)
}

// sends reports whether a function has the name of a method of a client that sends a statement.
func sends(fn *types.Func) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(fn.Name(), "Context"), "x")
	return fn.Signature().Recv() != nil && slices.Contains([]string{"Query", "QueryRow", "Exec", "MustExec", "Get", "Select"}, name)
}

// helperOf returns what a function sends with its parameters; nil for other functions, and for
// those that may send several statements.
func (s Program) helperOf(fn *types.Func, depth int) *helper {
	if depth == 0 || !takesParameters(fn) || symbol.Standard(fn.Pkg().Path()) {
		return nil
	}
	full := fn.Origin().FullName()
	if known, ok := s.helpers[full]; ok {
		return known
	}
	s.helpers[full] = nil // a recursion
	place := s.Declared(fn)
	if place == nil || place.Decl == nil {
		return nil
	}
	own, ok := place.Info.Defs[place.Decl.Name].(*types.Func)
	if !ok || !takesParameters(own) {
		return nil
	}
	params := own.Signature().Params().At(own.Signature().Params().Len() - 1)
	if len(syntax.Assigned(place, params)) > 0 {
		return nil
	}
	var found *helper
	several := false
	ast.Inspect(place.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !call.Ellipsis.IsValid() || syntax.LocalVar(place, call.Args[len(call.Args)-1]) != params {
			return true
		}
		if h := s.passing(place, call, depth); h != nil {
			several = several || found != nil || len(loops.Around(place, call)) > 0
			found = h
		}
		return true
	})
	if !several {
		s.helpers[full] = found
	}
	return s.helpers[full]
}

// helps reports whether a call is the one of a helper, whose callers have the text.
func (s Program) helps(p *gocode.Place, call *ast.CallExpr) bool {
	if p.Decl == nil || !call.Ellipsis.IsValid() {
		return false
	}
	fn, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok {
		return false
	}
	h := s.helperOf(fn, deepestHelper)
	return h != nil && h.call == call && h.text != nil
}

// passing is the helper around a call that passes all parameters on; nil if the call sends no
// statement, or one with another text.
func (s Program) passing(p *gocode.Place, call *ast.CallExpr, depth int) *helper {
	fn := p.Callee(call)
	if !takesParameters(fn) || len(call.Args) != fn.Signature().Params().Len() {
		return nil
	}
	h := &helper{place: p, Sent: &Sent{place: p, call: call, fn: fn}}
	var text ast.Expr
	if sends(fn) {
		h.Method = fn.Name()
		if h.Text, h.prepared = s.Prepared(p, call); len(call.Args) > 1 && syntax.IsString(p, call.Args[len(call.Args)-2]) {
			text = call.Args[len(call.Args)-2]
		}
	} else if h.in = s.helperOf(fn, depth-1); h.in != nil {
		h.Method, h.Text, h.prepared = h.in.Method, h.in.Text, h.in.prepared
		text = flow.ArgumentFor(h.in.place, call, h.in.text)
	} else {
		return nil
	}
	if text == nil {
		return h
	}
	if h.text = syntax.LocalVar(p, text); h.text != nil && syntax.Param(p, h.text) {
		return h
	}
	if h.text = nil; h.Text == "" {
		h.Text = s.Text(p, text)
	}
	return h
}

// Declared returns the body of a function, or of the only method of the program that a method of an
// interface may call; nil for none.
func (s Program) Declared(fn *types.Func) *gocode.Place {
	if p, ok := s.Pass.Syntax.Declared(fn); ok {
		return p
	}
	if recv := fn.Signature().Recv(); recv == nil || !types.IsInterface(recv.Type()) {
		return nil
	}
	var only *gocode.Place
	for _, p := range s.Pass.Syntax.Methods(fn.Name()) {
		method, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
		if !ok || !awaited.Implements(method, fn) {
			continue
		}
		if only != nil {
			return nil
		}
		only = p
	}
	return only
}

// Calls reports whether a function of a profile is the one that the call calls.
func (q *Sent) Calls(function string) bool {
	return funcname.Name(function) == q.fn.Name()
}

// Reads reports whether the method of the client is one that queries.
func (q *Sent) Reads() bool { return !strings.Contains(q.Method, "Exec") }

// Rows reports whether the result may have several rows.
func (q *Sent) Rows() bool {
	return strings.HasPrefix(q.Method, "Select") || strings.HasPrefix(q.Method, "Query") && !strings.HasPrefix(q.Method, "QueryRow")
}

// InTx reports whether a transaction sends the statement, or something that is not known.
func (q *Sent) InTx() bool {
	p, to := q.client()
	if inTx(p, to) {
		return true
	}
	if q.prepared == nil {
		return false
	}
	made, ok := ast.Unparen(q.prepared.Value).(*ast.CallExpr)
	return !ok || inTx(q.prepared.Place, syntax.Receiver(made))
}

// client returns the expression whose method sends the statement, and its place.
func (q *Sent) client() (*gocode.Place, ast.Expr) {
	if q.in == nil {
		return q.place, syntax.Receiver(q.call)
	}
	p, to := q.in.client()
	if p.Decl == q.in.place.Decl {
		if given := flow.ArgumentFor(p, q.call, syntax.LocalVar(p, to)); given != nil {
			return q.place, given
		}
	}
	return p, to
}

// inTx reports whether an expression is a transaction, or a statement of one.
func inTx(p *gocode.Place, to ast.Expr) bool {
	if to == nil || p.TypeOf(to) == nil || strings.HasSuffix(types.TypeString(p.TypeOf(to), nil), "Tx") {
		return true
	}
	from, ok := syntax.Origin(p, to).(*ast.CallExpr)
	return ok && syntax.Receiver(from) != nil && inTx(p, syntax.Receiver(from)) // tx.Stmt(s)
}

// Dropped reports whether nothing uses what the call returns, other than an error.
func (q *Sent) Dropped() bool {
	if q.in != nil {
		results := q.fn.Signature().Results()
		if none := results.Len() == 0 || results.Len() == 1 && syntax.IsError(results.At(0).Type()); none {
			return true
		}
	}
	switch n := syntax.Parent(q.place.Outer(), q.call).(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return true
	case *ast.AssignStmt:
		id, ok := n.Lhs[0].(*ast.Ident)
		return ok && id.Name == "_"
	}
	return false
}
