package regexpunanchored

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// kind is what a value says about a match.
type kind int

const (
	positions kind = iota // where the match and its groups start and end
	texts                 // of the match and its groups
	text                  // of the match
	start                 // where the match starts
	part                  // anything else of it
)

// match follows the result of a search through a function.
type match struct {
	place    *gocode.Place
	syntax   *gocode.Syntax
	searched string // the text, as the code writes it
	depth    int    // of the callers that it is followed to
	seen     map[types.Object]bool
	// starts are tests of where the match starts, with their value when that is the start of the
	// text; absent are tests of whether there is one, with their value when there is none.
	starts, absent map[ast.Expr]bool
	uses           []ast.Expr // that need a test
	where          token.Pos  // a test
}

// onlyAtStart reports whether a search's result is used only after a test that it is at the start
// of the text, and returns a name of the test.
func onlyAtStart(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (test string, ok bool) {
	m := newMatch(s, p, syntax.Text(call.Args[0]))
	name := p.CalleeName(call)
	k := text
	switch {
	case strings.HasSuffix(name, "Index"):
		k = positions
	case strings.HasSuffix(name, "Submatch"):
		k = texts
	}
	if ret, is := syntax.Parent(m.place, call).(*ast.ReturnStmt); is && len(ret.Results) == 1 {
		return m.callers(call, k)
	}
	return m.judge(call, k)
}

func newMatch(s *gocode.Syntax, p *gocode.Place, searched string) *match {
	return &match{place: p.Outer(), syntax: s, searched: searched, seen: map[types.Object]bool{},
		starts: map[ast.Expr]bool{}, absent: map[ast.Expr]bool{}}
}

// judge decides about all uses of a result.
func (m *match) judge(e ast.Expr, k kind) (test string, ok bool) {
	if !m.use(e, k) || len(m.starts) == 0 {
		return "", false
	}
	for _, use := range m.uses {
		if !m.guarded(use) {
			return "", false
		}
	}
	for leaf := range m.absent {
		if !m.alike(leaf) {
			return "", false
		}
	}
	return fmt.Sprintf("the test at %s", syntax.Where(m.place, m.where)), true
}

// mostCallers is through how many functions a result is followed.
const mostCallers = 2

// callers is judge for all calls of the function that returns what a search finds.
func (m *match) callers(call *ast.CallExpr, k kind) (test string, ok bool) {
	p := m.place
	if m.depth == mostCallers || p.Decl == nil {
		return "", false
	}
	self, _ := p.Info.Defs[p.Decl.Name].(*types.Func)
	if self == nil || inLiteral(p, call) {
		return "", false
	}
	param := syntax.LocalVar(p, call.Args[0])
	for _, in := range m.syntax.Calls(func(fn *types.Func) bool { return fn == self }) {
		for _, above := range in.Calls() {
			if in.Callee(above) != self {
				continue
			}
			outer := newMatch(m.syntax, in, "")
			outer.depth = m.depth + 1
			if arg := flow.ArgumentFor(p, above, param); arg != nil {
				outer.searched = syntax.Text(arg)
			}
			if test, ok = outer.judge(above, k); !ok {
				return "", false
			}
		}
	}
	return test, ok
}

func inLiteral(p *gocode.Place, n ast.Node) bool {
	for _, x := range p.Enclosing(n) {
		if _, ok := x.(*ast.FuncLit); ok {
			return true
		}
	}
	return false
}

// use notes one use of a value; false if the value goes where it is not followed.
func (m *match) use(e ast.Expr, k kind) bool {
	switch n := syntax.Parent(m.place, e).(type) {
	case *ast.IndexExpr:
		if ast.Unparen(n.X) != e || k != positions && k != texts {
			break
		}
		if i, constant := syntax.ConstInt(m.place, n.Index); constant && i == 0 {
			return m.use(n, map[kind]kind{positions: start, texts: text}[k])
		}
		return m.use(n, part)
	case *ast.BinaryExpr:
		if m.tested(n, e, k) {
			return true
		}
		if (k == start || k == part) && (n.Op == token.ADD || n.Op == token.SUB) {
			return m.use(n, part)
		}
	case *ast.CallExpr:
		if m.called(n, e, k) {
			return true
		}
	case *ast.AssignStmt, *ast.ValueSpec:
		to, ok := syntax.AssignedTo(m.place, e).(*ast.Ident)
		if !ok {
			break
		}
		v := syntax.LocalVar(m.place, to)
		if v != nil && (m.place.Info.Defs[to] != nil || k != start && k != part) && len(syntax.Assigned(m.place, v)) == 1 {
			return m.variable(v, k)
		}
	}
	m.uses = append(m.uses, e)
	return true
}

// variable notes the uses of a local variable that has a value.
func (m *match) variable(v *types.Var, k kind) bool {
	if m.seen[v] || syntax.IsResult(m.place, v) {
		return false
	}
	m.seen[v] = true
	for _, id := range syntax.Reads(m.place, v) {
		if !m.use(id, k) {
			return false
		}
	}
	return true
}

// tested notes a comparison that asks whether there is a match, or where it starts.
func (m *match) tested(b *ast.BinaryExpr, e ast.Expr, k kind) bool {
	other := b.Y
	if ast.Unparen(b.Y) == e {
		other = b.X
	}
	n, constant := syntax.ConstInt(m.place, other)
	empty := m.place.Info.Types[other].IsNil()
	if s, ok := syntax.ConstString(m.place, other); ok && s == "" {
		empty = true
	}
	left := ast.Unparen(b.X) == e
	switch {
	case k == start && constant && n == 0 && (b.Op == token.EQL || b.Op == token.LEQ && left):
		m.starts[b] = true
	case k == start && constant && n == 0 && (b.Op == token.NEQ || b.Op == token.GTR && left):
		m.starts[b] = false
	case k == start && constant && n == 1 && b.Op == token.LSS && left:
		m.starts[b] = true
	case k != start && k != part && empty && (b.Op == token.EQL || b.Op == token.NEQ):
		m.absent[b] = b.Op == token.EQL
		return true
	default:
		return false
	}
	m.where = b.Pos()
	return true
}

// called notes a call that asks about the match: its length, or whether the text starts with it.
func (m *match) called(call *ast.CallExpr, e ast.Expr, k kind) bool {
	p := m.place
	name := p.CalleeName(call)
	b, compared := syntax.Parent(p, call).(*ast.BinaryExpr)
	switch {
	case name == "len" && compared && k != start && k != part:
		n, constant := syntax.ConstInt(p, b.Y)
		if constant && n == 0 && (b.Op == token.EQL || b.Op == token.NEQ || b.Op == token.GTR) {
			m.absent[b] = b.Op == token.EQL
			return true
		}
	case k == text && len(call.Args) == 2 && call.Args[1] == e && syntax.Text(call.Args[0]) == m.searched:
		if funcname.Match(name, "strings.HasPrefix", "bytes.HasPrefix") {
			m.starts[call], m.where = true, call.Pos()
			return true
		}
		return funcname.Match(name, "strings.Index", "bytes.Index") && compared && m.tested(b, call, start)
	}
	return false
}

// guarded reports whether a use runs only after a test that the match is at the start.
func (m *match) guarded(use ast.Node) bool {
	child := use
	for _, up := range m.place.Enclosing(use) {
		switch up := up.(type) {
		case *ast.BinaryExpr:
			right := ast.Unparen(up.Y) == child || up.Y == child
			if right && (up.Op == token.LAND && m.implies(up.X, true) || up.Op == token.LOR && m.implies(up.X, false)) {
				return true
			}
		case *ast.IfStmt:
			if child == ast.Node(up.Body) && m.implies(up.Cond, true) || up.Else != nil && child == ast.Node(up.Else) && m.implies(up.Cond, false) {
				return true
			}
		case *ast.BlockStmt:
			if m.after(up.List, child) || m.clauses(up, child) {
				return true
			}
		case *ast.CaseClause:
			if m.caught(up, child) || m.after(up.Body, child) {
				return true
			}
		case *ast.CommClause:
			if m.after(up.Body, child) {
				return true
			}
		}
		child = up
	}
	return false
}

// caught reports whether a case without a tag runs only for a match at the start.
func (m *match) caught(c *ast.CaseClause, child ast.Node) bool {
	in := false
	for _, s := range c.Body {
		in = in || s == child
	}
	return in && len(c.List) == 1 && m.implies(c.List[0], true)
}

// clauses reports whether an earlier case of a switch without a tag takes all other matches.
func (m *match) clauses(body *ast.BlockStmt, child ast.Node) bool {
	for _, s := range body.List {
		c, ok := s.(*ast.CaseClause)
		if !ok || s == child {
			return false
		}
		for _, cond := range c.List {
			if m.implies(cond, false) {
				return true
			}
		}
	}
	return false
}

// after reports whether a statement before child in a list leaves it for all other matches.
func (m *match) after(list []ast.Stmt, child ast.Node) bool {
	for _, s := range list {
		if s == child {
			return false
		}
		if is, ok := s.(*ast.IfStmt); ok && m.implies(is.Cond, false) && syntax.Leaves(is.Body) {
			return true
		}
	}
	return false
}
