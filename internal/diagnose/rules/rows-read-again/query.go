package rowsreadagain

import (
	"go/ast"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// search examines lines of one recording.
type search struct {
	pass    *rule.Pass
	sql     sqltext.Program
	lines   *finder.Lines[query]
	queries map[gocode.Pos]*query // by the lines of the calls
}

// query is a call that reads the same rows each time.
type query struct {
	place   *gocode.Place
	call    *ast.CallExpr
	sent    *sqltext.Sent
	at      gocode.Pos // of the call
	tables  []string
	perUnit float64
	values  []ast.Expr  // arguments that the request may decide
	rows    []*site.Row // spent on the query and on reading its result
	inTx    bool        // it ran in a transaction
}

// mapped reports whether the main module uses a library that composes statements, so that its texts
// do not show which tables it writes to.
func (s *search) mapped() bool {
	libraries := []string{"gorm.io/gorm", "xorm.io/xorm", "github.com/uptrace/bun", "entgo.io/ent", "github.com/Masterminds/squirrel", "github.com/doug-martin/goqu", "github.com/go-pg/pg"}
	return len(s.pass.Syntax.Calls(func(fn *types.Func) bool {
		return fn.Pkg() != nil && slices.ContainsFunc(libraries, func(l string) bool { return strings.HasPrefix(fn.Pkg().Path(), l) })
	})) > 0
}

// look returns the query that a line sends, or whose result it reads; nil for none that reads the
// same rows each time.
func (s *search) look(f *site.Frame, p *gocode.Place) *query {
	if p.Decl == nil {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		sent := call
		if name := p.CalleeName(call); strings.HasPrefix(name, "(*database/sql.Rows).") || strings.HasPrefix(name, "(*database/sql.Row).") {
			if sent = sender(p, call); sent == nil {
				continue
			}
		}
		at := gocode.Pos{File: f.File, Line: syntax.Line(p, sent.Lparen)}
		q, seen := s.queries[at]
		if !seen || q == nil {
			q = s.examine(f, p, sent)
			s.queries[at] = q
		}
		if q != nil {
			q.at = at
			return q
		}
	}
	return nil
}

// sender returns the call whose result a call reads, in the same function; nil for none.
func sender(p *gocode.Place, read *ast.CallExpr) (from *ast.CallExpr) {
	of := syntax.Receiver(read)
	if call, ok := ast.Unparen(of).(*ast.CallExpr); ok {
		return call
	}
	v := syntax.LocalVar(p, of)
	if v == nil {
		return nil
	}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && syntax.Result(p, call) == v {
			from = call
		}
		return from == nil
	})
	return from
}

// examine returns the query of a call; nil if it may read other rows each time, or seldom runs.
func (s *search) examine(f *site.Frame, p *gocode.Place, call *ast.CallExpr) *query {
	sent := s.sql.Sent(p, call)
	if sent == nil || !sent.Reads() || sent.InTx() {
		return nil
	}
	q := &query{place: p, call: call, sent: sent, tables: sqltext.Tables(sent.Text)}
	runs, ok := evidence.ExecutionsAt(s.pass, p, call.Lparen)
	if q.perUnit = runs.PerUnit; len(q.tables) == 0 || !ok || !s.often(q.perUnit) && !(s.requests() && q.perUnit >= leastHeld) || slices.ContainsFunc(q.tables, queue) {
		return nil
	}
	for _, arg := range sent.Args {
		if s.fixed(f, p, arg, q.perUnit) {
			continue
		}
		if timed(p, arg) {
			return nil
		}
		q.values = append(q.values, arg)
	}
	for _, table := range q.tables {
		if s.sql.Written(table, sent.Text, nil, seldom*q.perUnit) {
			return nil
		}
	}
	return q
}

// sends reports whether a name is that of a method that sends a query.
func sends(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "Context"), "x")
	return slices.Contains([]string{"Query", "QueryRow", "Get", "Select"}, name)
}

// queue reports whether the name of a table says that reading it again is the purpose: others put
// work or messages there.
func queue(table string) bool {
	return slices.ContainsFunc([]string{"job", "queue", "task", "outbox", "inbox", "event", "message", "mail", "notification", "lock", "lease", "pending"},
		func(word string) bool { return strings.Contains(table, word) })
}

// fixed reports whether an argument is a constant, wherever it comes from in the main module, or a
// variable that was set before and hardly ever changes.
func (s *search) fixed(f *site.Frame, p *gocode.Place, arg ast.Expr, perUnit float64) bool {
	if flow.Constants(s.pass.Syntax, p, arg) != nil {
		return true
	}
	e := syntax.Origin(p, arg)
	v := kept.Var(p, e)
	t := p.TypeOf(e)
	if v == nil || t == nil || v.Exported() && p.Pkg.Name() != "main" {
		return false
	}
	if _, basic := t.Underlying().(*types.Basic); !basic {
		return false
	}
	if sel, field := e.(*ast.SelectorExpr); field && v.IsField() {
		owner := p.TypeOf(sel.X)
		if ptr, ok := owner.(*types.Pointer); ok {
			owner = ptr.Elem()
		}
		if len(s.pass.Syntax.ValuesOf(types.TypeString(owner, nil), v.Name())) == 0 {
			return false // decoded
		}
	}
	c := kept.Changes{Pass: s.pass, Frame: f, Place: p, Var: v}
	changes, known := c.Count()
	return known && changes <= seldom*perUnit
}

// counted returns the calls of a query whose input could be compared with an earlier one, and how
// many of them had the same.
func (s *search) counted(q *query) (calls, same int64) {
	if s.pass.Inputs == nil {
		return 0, 0
	}
	file := path.Base(filepath.ToSlash(q.at.File))
	for _, in := range s.pass.Inputs.Functions {
		if !client(in.Name) {
			continue
		}
		for _, at := range in.Sites {
			if at.Line != q.at.Line || path.Base(filepath.ToSlash(at.File)) != file {
				continue
			}
			for _, a := range at.Again {
				if a.Calls > 0 && (calls == 0 || a.Same*calls > same*a.Calls) {
					calls, same = a.Calls, a.Same
				}
			}
		}
	}
	return calls, same
}
