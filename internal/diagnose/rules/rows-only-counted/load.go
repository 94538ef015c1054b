package rowsonlycounted

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// deepest is how many functions may lie between the caller that counts and the query.
const deepest = 3

// search caches what the functions of the program load.
type search struct {
	pass      *rule.Pass
	sql       sqltext.Program
	summaries map[string]*loading // by the full name; nil for functions that do something else
}

// loading is a query whose rows a call returns or stores.
type loading struct {
	place  *gocode.Place // where the statement is sent
	sent   *ast.CallExpr
	tables []string
	list   *types.Var // that gets the rows, in the function of the call; nil if only the call has them
	next   *ast.CallExpr
	built  *sqltext.Composed // nil for a statement in SQL
}

// use is a line that loads rows of which only the number or a sum is used.
type use struct {
	in    *loading
	call  *ast.CallExpr
	names []string // of functions of the profile that the line calls
	used
}

// calls reports whether a function of a profile is called by the line to load the rows.
func (u *use) calls(function string) bool { return slices.Contains(u.names, funcname.Name(function)) }

// look returns the use of a line that loads rows; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *use {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	if runs, ok := evidence.Executions(s.pass, *f); !ok || !evidence.Hot(s.pass, runs) {
		return nil
	}
	in := p.Outer()
	for _, call := range syntax.Calls(p) {
		if u := s.useOf(in, call); u != nil {
			return u
		}
		if query := looped(in, call); query != nil { // for rows.Next()
			if u := s.useOf(in, query); u != nil && u.in.next == call {
				return u
			}
		}
	}
	return nil
}

// useOf returns how the rows that a call loads are used, if only their number or a sum is.
func (s *search) useOf(p *gocode.Place, call *ast.CallExpr) *use {
	l := s.loads(p, call, deepest)
	if l == nil {
		return nil
	}
	u := &use{in: l, call: call, names: []string{p.Callee(call).Name()}}
	if l.next != nil {
		u.names = []string{"Next"}
	}
	u.used = usedAs(p, call, l.list)
	if !u.ok {
		return nil
	}
	return u
}

// loads returns the query whose rows a call loads, itself or in functions of the program; nil for
// none.
func (s *search) loads(p *gocode.Place, call *ast.CallExpr, depth int) *loading {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil {
		return nil
	}
	if sent := s.sql.Sent(p, call); sent != nil {
		if !sent.Rows() || !countable(sent.Text) {
			return nil
		}
		l := &loading{place: p, sent: call, tables: sqltext.Tables(sent.Text)}
		if l.list = filled(p, call); l.list == nil {
			l.list, l.next = appended(p, call)
		}
		if l.list == nil {
			return nil
		}
		return l
	}
	if built := s.sql.Composed(p, call); built != nil {
		if !built.Countable() {
			return nil
		}
		row := syntax.TypeText(p, syntax.Pointed(syntax.Elem(built.List.Type())))
		return &loading{place: p, sent: call, tables: []string{row}, list: built.List, built: built}
	}
	if depth == 0 || symbol.Standard(fn.Pkg().Path()) {
		return nil
	}
	in := s.summary(fn, depth-1)
	if in == nil {
		return nil
	}
	v := syntax.Result(p, call)
	if v != nil && syntax.LocalVar(p, syntax.AssignedTo(p, call)) != v {
		return nil // a field, which others read
	}
	return &loading{place: in.place, sent: in.sent, tables: in.tables, list: v, built: in.built}
}

// summary returns the only query of a function, if the function returns all its rows; nil for other
// functions.
func (s *search) summary(fn *types.Func, depth int) *loading {
	full := gocode.FullName(fn)
	if known, ok := s.summaries[full]; ok {
		return known
	}
	s.summaries[full] = nil // a recursion
	results := fn.Signature().Results()
	if results.Len() == 0 || syntax.Elem(results.At(0).Type()) == nil {
		return nil
	}
	place := s.sql.Declared(fn)
	if place == nil || place.Decl == nil {
		return nil
	}
	in := place.Entry(place.Decl)
	var found *loading
	var at *ast.CallExpr
	several := false
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || several {
			return !several
		}
		if l := s.loads(in, call, depth); l != nil {
			several = found != nil
			found, at = l, call
		} else if s.sql.Sends(in, call) || sqltext.Sending(in.Callee(call)) {
			several = true // a statement that is not known
		}
		return !several
	})
	if found == nil || several || !returns(in, at, found.list) {
		return nil
	}
	s.summaries[full] = found
	return found
}

// returns reports whether a function returns what a call in it loads, perhaps in a variable, or
// nothing.
func returns(p *gocode.Place, call *ast.CallExpr, list *types.Var) bool {
	some, other := false, false
	named := list != nil && syntax.SignatureOf(p).Results().At(0) == list
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				some, other = some || named, other || !named
				break
			}
			first := ast.Unparen(n.Results[0])
			switch t := p.Info.Types[first]; {
			case t.IsNil():
			case first == ast.Expr(call) || list != nil && syntax.LocalVar(p, first) == list:
				some = true
			default:
				other = true
			}
		}
		return true
	})
	return some && !other
}

// countable reports whether a text is a query whose rows the database can count with the same
// condition.
func countable(text string) bool {
	if len(sqltext.Tables(text)) == 0 {
		return false
	}
	return !slices.ContainsFunc(sqltext.Tokens(text), func(t string) bool {
		return slices.Contains([]string{"limit", "fetch", "top", "group", "having", "distinct", "union", "count", "sum", "for", "offset"}, t)
	})
}

// filled returns the list whose address a call gets, to store rows in: Select(&list, query); nil
// for none.
func filled(p *gocode.Place, call *ast.CallExpr) *types.Var {
	for _, arg := range call.Args {
		if to, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok {
			if v := syntax.LocalVar(p, to.X); v != nil && syntax.Elem(v.Type()) != nil {
				return v
			}
		}
	}
	return nil
}

// appended returns the list to which a loop appends each row of a query, and the call of Next; nil
// for none.
func appended(p *gocode.Place, query *ast.CallExpr) (list *types.Var, next *ast.CallExpr) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		if !ok || list != nil {
			return list == nil
		}
		cond, ok := loop.Cond.(*ast.CallExpr)
		if !ok || looped(p, cond) != query {
			return true
		}
		for _, stmt := range loop.Body.List {
			if v := appends(p, stmt); v != nil {
				list, next = v, cond
			}
		}
		return false
	})
	return list, next
}

// looped returns the call whose rows a call of Next goes through; nil for other calls.
func looped(p *gocode.Place, next *ast.CallExpr) *ast.CallExpr {
	to := syntax.Receiver(next)
	if to == nil || len(next.Args) > 0 || p.Callee(next) == nil || p.Callee(next).Name() != "Next" {
		return nil
	}
	query, _ := syntax.Origin(p, to).(*ast.CallExpr)
	return query
}

// appends returns the local list to which a statement appends an element; nil for none.
func appends(p *gocode.Place, stmt ast.Stmt) *types.Var {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "append" {
		return nil
	}
	v := syntax.LocalVar(p, a.Lhs[0])
	if v == nil || syntax.LocalVar(p, call.Args[0]) != v {
		return nil
	}
	return v
}
