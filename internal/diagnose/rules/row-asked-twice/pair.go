package rowaskedtwice

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// search examines functions of one recording.
type search struct {
	pass      *rule.Pass
	sql       sqltext.Program
	lines     *finder.Lines[pair]
	summaries map[string]*summary
	functions map[*ast.FuncDecl][]*access
}

// pair is a statement that need not be sent, because of another one about the same row.
type pair struct {
	place    *gocode.Place
	needless *access
	by       *access // makes it needless
	use      use     // of a query before a write
	runs     float64 // of the needless one, for each unit of work
}

// look returns the statement on a line that another one in its function makes needless; nil for
// none.
func (s *search) look(f *site.Frame, p *gocode.Place) *pair {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	runs, ok := evidence.Executions(s.pass, *f)
	if !ok || !evidence.Hot(s.pass, runs) {
		return nil
	}
	all := s.accesses(p)
	for _, a := range all {
		if syntax.Line(p, a.call.Lparen) != f.Line {
			continue
		}
		if found := s.needless(p, a, all); found != nil {
			found.runs = runs.PerUnit
			return found
		}
	}
	return nil
}

// accesses returns the statements that the calls in a function send, in the order of the source.
func (s *search) accesses(p *gocode.Place) []*access {
	if known, ok := s.functions[p.Decl]; ok {
		return known
	}
	var all []*access
	in := p.Entry(p.Decl)
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if a := s.accessOf(in, call, deepest); a != nil {
				all = append(all, a)
			}
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b *access) int { return int(a.call.Pos() - b.call.Pos()) })
	s.functions[p.Decl] = all
	return all
}

// needless returns the pair in which a statement need not be sent; nil for none.
func (s *search) needless(p *gocode.Place, a *access, all []*access) *pair {
	if !a.reads() {
		return nil
	}
	in := p.Entry(p.Decl)
	after := map[use][]*access{}
	for _, b := range all {
		switch {
		case b == a || b.Table != a.Table || b.unit != a.unit || a.unit != "" && (!a.asks || b.asks) || syntax.Exclusive(in, a.call, b.call) || in.LoopAround(a.call) != in.LoopAround(b.call):
		case b.call.Pos() < a.call.Pos():
			if !b.reads() && !a.Sums && !a.rows && same(in, a, b) && s.often(in, a, b) {
				return &pair{place: in, needless: a, by: b}
			}
		case same(in, a, b) && !(b.reads() && (b.rows || b.Sums || !sameColumns(a, b))):
			if u := useOf(in, a, b); u != other && !(b.reads() && u != decides) && !(b.Verb != "update" && u == counts) && !(b.Verb == "delete" && u == changes) {
				after[u] = append(after[u], b)
			}
		}
	}
	for _, u := range []use{decides, counts, changes} {
		if bs := after[u]; len(bs) > 0 && s.often(in, a, bs...) {
			return &pair{place: in, needless: a, by: bs[0], use: u}
		}
	}
	return nil
}

// often reports whether some statements run nearly as often as the needless one: a test that mostly
// says that there is nothing to do saves their cost.
func (s *search) often(p *gocode.Place, needless *access, by ...*access) bool {
	own, ok := evidence.ReachedAt(s.pass, p, needless.call.Pos())
	sum := 0.0
	for _, b := range by {
		if n, counted := evidence.ReachedAt(s.pass, p, b.call.Pos()); counted {
			sum += n
		}
	}
	return ok && sum >= mostSaved*own
}

// sameColumns reports whether two statements identify the row by the same columns.
func sameColumns(a, b *access) bool {
	return len(a.Keys) == len(b.Keys) && !slices.ContainsFunc(a.Keys, func(k string) bool { return !slices.Contains(b.Keys, k) })
}

// same reports whether a query and another statement are about the same row: the values that
// identify it for the query are those of the other, or in what it gets.
func same(p *gocode.Place, read, with *access) bool {
	if with.Verb != "insert" && !sameColumns(read, with) && with.reads() {
		return false
	}
	found := false
	for _, key := range read.keys {
		v := root(p, key)
		if v == nil {
			continue
		}
		about := func(arg ast.Expr) bool { return related(p, v, arg, read.call) }
		if !slices.ContainsFunc(with.call.Args, about) && !(with.unit != "" && slices.ContainsFunc(with.keys, about)) {
			return false
		}
		found = true
	}
	return found
}

// related reports whether an argument is a variable, a part of it, or a value that contains it.
func related(p *gocode.Place, v *types.Var, arg ast.Expr, read *ast.CallExpr) bool {
	if contextual(p.TypeOf(arg)) || contextual(v.Type()) {
		return false
	}
	if syntax.Mentions(p, arg, v) {
		return true
	}
	w := root(p, arg)
	if w == nil {
		return false
	}
	if slices.ContainsFunc(syntax.Assigned(p, w), func(value ast.Expr) bool { return syntax.Mentions(p, value, v) }) {
		return true
	}
	if call, ok := syntax.Origin(p, arg).(*ast.CallExpr); ok && call == read {
		return true // the row that was read
	}
	return slices.ContainsFunc(syntax.Assigned(p, v), func(value ast.Expr) bool { return syntax.Mentions(p, value, w) })
}

func contextual(t types.Type) bool {
	return t != nil && types.TypeString(t, nil) == "context.Context"
}
