package sqlfullscan

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// created returns the program's texts that create tables and indexes. It returns none if embedded
// files could not be read, or if formatted texts create indexes, whose columns are then unknown.
func created(p *rule.Pass) []string {
	texts := p.Syntax.Strings(func(s string) bool {
		s = strings.ToLower(s)
		return strings.Contains(s, "create ") || strings.Contains(s, "alter table")
	})
	files, ok := p.Syntax.Embedded(".sql")
	if !ok || slices.ContainsFunc(texts, composed) {
		return nil
	}
	return append(texts, files...)
}

// composed reports whether a text creates an index with a table or columns that come from a format.
func composed(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "index") && (strings.Contains(text, "%s") || strings.Contains(text, "%v"))
}

type line struct {
	file   string
	number int
}

// search remembers the queries of lines.
type search struct {
	pass   *rule.Pass
	sql    sqltext.Program
	tables schema
	lines  map[line]*query // nil for lines without a query that reads a whole table
}

// collect adds up the CPU of each query over its lines.
func (s *search) collect() {
	s.pass.EachRow(func(r *site.Row) {
		i := s.frame(r)
		if i < 0 {
			return
		}
		f := r.Stack[i]
		q := s.at(f)
		if q.values == nil {
			q.values = map[line]int64{}
		}
		at := line{f.File, f.Line}
		q.rows = append(q.rows, r)
		q.values[at] += r.Value
		if q.most == nil || q.values[at] > q.values[line{q.most.File, q.most.Line}] {
			q.most = f
		}
	})
}

// mostHelpers is how many functions that get a query may be between it and the client.
const mostHelpers = 3

// frame returns the index of the program's line for which a row queries; -1 for none. Lines of a
// driver have no call of database/sql below them.
func (s *search) frame(r *site.Row) int {
	queries := false
	for i, f := range r.Stack {
		queries = queries || strings.HasPrefix(f.Function, "database/sql.")
		if !queries || f.Owner.Kind != gocode.Main {
			continue
		}
		for at := i; at < min(len(r.Stack), i+mostHelpers) && r.Stack[at].Owner.Kind == gocode.Main; at++ {
			if q := s.at(r.Stack[at]); q != nil {
				if q.sender == nil {
					q.sender = f
				}
				return at
			}
		}
		return -1
	}
	return -1
}

// at returns the query of a line; nil when it has none that reads a whole table.
func (s *search) at(f *site.Frame) *query {
	key := line{f.File, f.Line}
	q, seen := s.lines[key]
	if seen {
		return q
	}
	if p, ok := s.pass.Syntax.At(f.File, f.Line); ok {
		if call, rows := s.callAt(p); call != nil {
			callLine := line{f.File, syntax.Line(p, call.Pos())}
			if q, seen = s.lines[callLine]; !seen || q == nil {
				q = s.judge(p, f, call, rows)
				s.lines[callLine] = q
			}
		}
		if q == nil {
			q = s.composed(p, f)
		}
	}
	s.lines[key] = q
	return q
}

// callAt returns the call that queries for a line (a call on the line, or the call whose result the
// line reads), and the variable of the result.
func (s *search) callAt(p *gocode.Place) (*ast.CallExpr, *types.Var) {
	for _, call := range p.Calls() {
		if s.sql.Sent(p, call) != nil || queries(p.CalleeName(call)) {
			return call, syntax.Result(p, call)
		}
		if !funcname.Match(p.CalleeName(call), "(*database/sql.Rows).*") {
			continue
		}
		rows := syntax.LocalVar(p, syntax.Receiver(call))
		if rows == nil {
			continue
		}
		var from *ast.CallExpr
		ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && queries(p.CalleeName(call)) && syntax.Result(p, call) == rows {
				from = call
			}
			return true
		})
		return from, rows
	}
	return nil, nil
}

// queries reports whether a method of database/sql sends a query.
func queries(name string) bool {
	return funcname.Match(name, "(*database/sql.DB).Query*", "(*database/sql.Tx).Query*", "(*database/sql.Conn).Query*", "(*database/sql.Stmt).Query*",
		"(*database/sql.DB).Exec*", "(*database/sql.Tx).Exec*", "(*database/sql.Conn).Exec*", "(*database/sql.Stmt).Exec*")
}

// judge returns the query of a call if it reads a whole table.
func (s *search) judge(p *gocode.Place, f *site.Frame, call *ast.CallExpr, rows *types.Var) *query {
	sent := s.sql.Sent(p, call)
	var texts []string
	if sent != nil && sent.Text != "" {
		texts = []string{sent.Text}
	} else if texts = textOf(p, call); len(texts) != 1 {
		return nil
	}
	q := &query{call: *f}
	var ok bool
	if q.table, q.column, ok = s.tables.scanned(texts[0]); !ok {
		if sortsRandomly(texts[0]) {
			return nil // see composed
		}
		if q.table, q.by, ok = s.tables.sorted(texts[0]); !ok {
			if q.table, q.counts = s.tables.counted(texts[0]); !q.counts {
				return nil
			}
		}
	}
	q.call.Line = syntax.Line(p, call.Pos())
	if sent != nil && sent.Rows() {
		ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
			if loop, ok := n.(*ast.ForStmt); ok && rows != nil && len(loop.Body.List) > 0 {
				if next, ok := loop.Cond.(*ast.CallExpr); ok && syntax.LocalVar(p, syntax.Receiver(next)) == rows {
					q.loop = syntax.Line(p, loop.Body.List[0].Pos())
				}
			}
			return true
		})
		if q.loop == 0 {
			return nil // another function reads the result
		}
	}
	return q
}

// textOf returns the SQL of a call: an argument, or the text from which the package prepares the
// statement that is called.
func textOf(p *gocode.Place, call *ast.CallExpr) (texts []string) {
	for _, arg := range call.Args[:min(2, len(call.Args))] {
		if text, ok := syntax.ConstString(p, arg); ok && len(text) > 10 {
			return []string{text}
		}
	}
	stmt := syntax.Receiver(call)
	if stmt == nil || !strings.HasSuffix(p.TypeOf(stmt).String(), "sql.Stmt") {
		return nil
	}
	v := syntax.Named(p, stmt)
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || v == nil || len(a.Rhs) != 1 || syntax.Named(p, a.Lhs[0]) != v {
				return true
			}
			prepare, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
			if !ok || !strings.Contains(p.CalleeName(prepare), ").Prepare") {
				texts = append(texts, "", "") // something else
				return true
			}
			for _, arg := range prepare.Args {
				if text, ok := syntax.ConstString(p, arg); ok {
					texts = append(texts, text)
				}
			}
			return true
		})
	}
	return texts
}
