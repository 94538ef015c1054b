package valuesprefetched

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const module = "github.com/dgraph-io/badger"

// of reports whether a type is the named one of the store, or a pointer to it.
func of(t types.Type, name string) bool {
	if t == nil {
		return false
	}
	named, ok := types.Unalias(syntax.Pointed(t)).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && strings.HasPrefix(named.Obj().Pkg().Path(), module)
}

// look returns the loop whose iterator a line moves, if it uses few of the values that the iterator
// reads ahead; nil for others.
func look(p *rule.Pass, f *site.Frame, place *gocode.Place) *walk {
	if place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	calls := syntax.Calls(place)
	place = place.Outer()
	for _, call := range calls {
		to := syntax.Receiver(call)
		if to == nil || !of(place.TypeOf(to), "Iterator") {
			continue
		}
		it := syntax.LocalVar(place, to)
		if it == nil {
			return nil
		}
		options := ahead(place, it)
		loop := stepping(place, it)
		if options == nil || loop == nil || len(loop.Body.List) == 0 {
			return nil
		}
		w := &walk{place: place, head: syntax.Line(place, loop.Pos()), options: options}
		if !w.few(p, f, loop, it) {
			return nil
		}
		return w
	}
	return nil
}

// ahead returns the options of an iterator that reads values ahead; nil if it does not, or if that
// is unknown.
func ahead(p *gocode.Place, it *types.Var) ast.Expr {
	_, value := syntax.Declared(p, it)
	made, ok := ast.Unparen(syntax.OrBad(value)).(*ast.CallExpr)
	if !ok || len(syntax.Assigned(p, it)) > 1 || p.Callee(made) == nil || p.Callee(made).Name() != "NewIterator" || len(made.Args) != 1 {
		return nil
	}
	options := made.Args[0]
	if v := syntax.LocalVar(p, options); v != nil {
		if unset(p, v) {
			return nil
		}
		_, value := syntax.Declared(p, v)
		options = syntax.OrBad(value)
	}
	switch e := ast.Unparen(options).(type) {
	case *ast.SelectorExpr:
		if e.Sel.Name == "DefaultIteratorOptions" {
			return made.Args[0]
		}
	case *ast.CompositeLit:
		if _, value := syntax.Field(p, e, p.TypeOf(e).String(), "PrefetchValues"); value != nil {
			if c, ok := p.Const(value); ok && c.String() == "true" {
				return made.Args[0]
			}
		}
	}
	return nil
}

// unset reports whether a function sets the option of its variable v, or passes its address on.
func unset(p *gocode.Place, v *types.Var) bool {
	return slices.ContainsFunc(syntax.Uses(p, v), func(use *ast.Ident) bool {
		switch n := syntax.Parent(p, use).(type) {
		case *ast.SelectorExpr:
			return n.Sel.Name == "PrefetchValues" && syntax.Defines(p, n)
		case *ast.UnaryExpr:
			return true
		case *ast.AssignStmt:
			return len(n.Lhs) == 1 && n.Lhs[0] == ast.Expr(use) && p.Info.Defs[use] == nil
		}
		return false
	})
}

// stepping returns the one loop that moves an iterator to the next entry; nil for none.
func stepping(p *gocode.Place, it *types.Var) (loop *ast.ForStmt) {
	for _, use := range syntax.Uses(p, it) {
		if sel, ok := syntax.Parent(p, use).(*ast.SelectorExpr); !ok || sel.Sel.Name != "Next" {
			continue
		}
		for _, n := range p.Enclosing(use) {
			if around, ok := n.(*ast.ForStmt); ok {
				if loop != nil && loop != around {
					return nil
				}
				loop = around
				break
			}
		}
	}
	return loop
}

// few counts the entries that a loop visits and the values that it asks for, and reports whether
// these are few.
func (w *walk) few(p *rule.Pass, f *site.Frame, loop *ast.ForStmt, it *types.Var) bool {
	l, ok := p.Counts.Loop(f.Owner.Package, f.File, w.head)
	visited, seen := evidence.ReachedAt(p, w.place, loop.Body.List[0].Pos())
	if !ok || !seen || l.Entries <= 0 {
		return false
	}
	var read float64
	for _, use := range syntax.Uses(w.place, it) {
		if use.Pos() == it.Pos() {
			continue
		}
		sel, ok := syntax.Parent(w.place, use).(*ast.SelectorExpr)
		if !ok {
			return false // passed on
		}
		if sel.Sel.Name != "Item" {
			continue
		}
		n, ok := w.values(p, sel)
		if !ok {
			return false
		}
		read += n
	}
	w.visited, w.read = visited/l.Entries, read/l.Entries
	return w.visited >= leastVisited && w.read <= mostRead*w.visited
}

// values returns how often the values of the entry that a call x.Item() returns are asked for;
// false if the entry is passed on, so that this is unknown.
func (w *walk) values(p *rule.Pass, item *ast.SelectorExpr) (n float64, ok bool) {
	call, ok := syntax.Parent(w.place, item).(*ast.CallExpr)
	if !ok {
		return 0, false
	}
	uses := []ast.Node{call}
	if v := syntax.Result(w.place, call); v != nil {
		uses = nil
		for _, use := range syntax.Uses(w.place, v) {
			if use.Pos() != v.Pos() {
				uses = append(uses, use)
			}
		}
	}
	for _, use := range uses {
		sel, ok := syntax.Parent(w.place, use).(*ast.SelectorExpr)
		if !ok {
			return 0, false
		}
		if sel.Sel.Name != "Value" && sel.Sel.Name != "ValueCopy" {
			continue
		}
		runs, ok := evidence.ReachedAt(p, w.place, sel.Pos())
		if !ok {
			return 0, false
		}
		n += runs
	}
	return n, true
}
