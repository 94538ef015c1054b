package storescan

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastShare is the minimum share of the scans whose map serves a few lookups; others, such as
// those for a list of all entries, need what they read.
const leastShare = 0.5

// table is a map that a scan fills with what it visits, for a few lookups.
type table struct {
	name    string
	byKey   bool    // its keys are made from those of the store
	where   string  // the function that looks entries up
	lookups float64 // each time
	share   float64 // of the scans
}

// tabled fills in the map that a scan fills; false if most of its entries may be used, or if the
// scan does more than that.
func (s *search) tabled(f *site.Frame, c *scan, n ast.Node) bool {
	m, key := c.fills()
	times, ok := s.times(f, c, n)
	if m == nil || !ok || len(c.body.List) == 0 || !s.often(times) {
		return false
	}
	visited, ok := evidence.ReachedAt(s.pass, c.place, c.body.List[0].Pos())
	c.visited = visited / times
	if !ok || c.visited < leastVisited {
		return false
	}
	t := &table{name: m.Name(), byKey: c.made(key, n)}
	l := &lookups{pass: s.pass, seen: map[ast.Node]bool{}}
	var all, runs, found float64
	for _, e := range l.held(c.place, m, n, times, deepest) {
		all += e.runs
		if e.ok && e.lookups <= mostKept*c.visited*e.runs {
			runs, found = runs+e.runs, found+e.lookups
			if e.where != "" {
				t.where = e.where
			}
		}
	}
	if t.share = runs / max(all, times); t.share < leastShare || t.where == "" {
		return false
	}
	t.lookups, c.table = found/runs, t
	return true
}

// often reports whether a scan that starts so often is worth a look.
func (s *search) often(times float64) bool {
	if s.pass.Manifest.Unit() == "run" {
		return times >= 100
	}
	return times >= 0.05
}

// fills returns the map that the body of a scan puts entries into, and the key of an entry; nil if
// the body changes anything else.
func (c *scan) fills() (m *types.Var, key ast.Expr) {
	fine, sets := true, 0
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if at, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && n.Tok == token.ASSIGN && syntax.IsMap(c.place.TypeOf(at.X)) {
					m, key, sets = syntax.LocalVar(c.place, at.X), at.Index, sets+1
					fine = fine && m != nil && !syntax.Inside(c.body, m.Pos())
					continue
				}
				v, _ := syntax.Var(c.place, lhs)
				fine = fine && (v == nil || syntax.Inside(c.body, v.Pos()) || syntax.IsError(v.Type()))
			}
		case *ast.IncDecStmt:
			v, _ := syntax.Var(c.place, n.X)
			fine = fine && v != nil && syntax.Inside(c.body, v.Pos())
		case *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.ExprStmt, *ast.FuncLit:
			fine = false
		}
		return fine
	})
	if !fine || sets != 1 || m == nil {
		return nil, nil
	}
	for _, id := range syntax.Uses(c.place, m) { // a group or a count needs all entries
		if syntax.Within(c.body, id) {
			sets--
		}
	}
	if sets != 0 {
		return nil, nil
	}
	return m, key
}

// made reports whether the key of a map is made from the key of an entry of the store.
func (c *scan) made(key ast.Expr, n ast.Node) bool {
	var of *types.Var
	switch n := n.(type) {
	case *ast.CallExpr:
		lit := ast.Unparen(n.Args[len(n.Args)-1]).(*ast.FuncLit)
		if sig, ok := c.place.TypeOf(lit).(*types.Signature); ok && sig.Params().Len() == 2 {
			of = sig.Params().At(0)
		}
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok && len(a.Lhs) == 2 {
			of = syntax.LocalVar(c.place, a.Lhs[0])
		}
	}
	found := false
	ast.Inspect(syntax.Origin(c.place, key), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, ok := c.place.Object(n).(*types.Var)
			found = found || ok && v == of
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Key" || n.Sel.Name == "KeyCopy"
		}
		return !found
	})
	return found
}

// describe says what a scan puts into a map, and what to read instead.
func (t *table) describe(s *scan) (cause, fix string, left rule.Fraction) {
	cause = fmt.Sprintf("%s reads all %s entries of the store each time (line %d) and puts them into the map %s, of which %s then looks up %s.",
		syntax.FuncName(s.place), units.Number(s.visited), s.head, t.name, t.where, units.Number(t.lookups))
	fix = "Read only the entries that are asked for: get each by its key, in the same transaction"
	if !t.byKey {
		fix = "Read only the entries that are asked for. The lookups have another key than the store: whenever a value is written, also write its key under the one that lookups have, in the same transaction"
	}
	if t.share < 0.99 {
		fix += ", and keep the function that reads all of them for the callers that need all"
	}
	kept := t.lookups / s.visited // to get an entry by its key takes longer than the next one of a scan
	return cause, fix + ".", rule.Fraction{Expect: t.share * (0.95 - 2*kept), Low: t.share * (0.7 - 4*kept), High: t.share}
}

// outer is a place as its declaration sees it.
func outer(s *gocode.Syntax, p *gocode.Place, at ast.Node) (*gocode.Place, bool) {
	pos := p.Fset.Position(at.Pos())
	in, ok := s.At(pos.Filename, pos.Line)
	if !ok || in.Decl == nil {
		return nil, false
	}
	return in.Outer(), true
}
