package scanperlookup

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// invalidates reports whether a search goes through all entries of a cache for each change, to
// remove those that the change is about.
func (s *search) invalidates(p *gocode.Place) bool {
	return s.kind == matching && s.filters && s.drops(p) && s.perCall(p)
}

// drops reports whether what a search does with an element that it finds is to remove it.
func (s *search) drops(p *gocode.Place) bool {
	stmt, ok := s.hit.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(stmt.X).(*ast.CallExpr)
	if _, vars := walked(p, s.scan); !ok || !vars.in(p, call.Args...) {
		return false
	}
	name := p.CalleeName(call)
	if fn := p.Callee(call); fn != nil {
		name = fn.Name()
	}
	switch name {
	case "delete", "Delete", "Del", "Remove", "Evict", "Invalidate", "Forget", "Purge", "drop", "remove", "evict", "invalidate", "forget":
		return true
	}
	return false
}

// perCall reports whether the test of a search depends on what its function got, so that each call
// tests all elements again: on a parameter, or on a variable that is made from one.
func (s *search) perCall(p *gocode.Place) bool {
	var test ast.Node = s.cond
	if s.counts != nil {
		test = s.counts
	}
	found := false
	ast.Inspect(test, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v := syntax.LocalVar(p, id)
			found = found || v != nil && !syntax.Inside(s.scan, v.Pos()) && given(p, v)
		}
		return !found
	})
	return found
}

// given reports whether a variable is a parameter, but for the time, or gets one in a call:
// t.add(name), or t := newTree(name).
func given(p *gocode.Place, v *types.Var) bool {
	if p.Decl == nil || isTime(v.Type()) || p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos()) {
		return false
	}
	if syntax.Param(p, v) {
		return true
	}
	_, value := syntax.Declared(p, v)
	found := value != nil && passesParam(p, value)
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && !found {
			recv := syntax.Receiver(call)
			found = recv != nil && syntax.LocalVar(p, recv) == v && passesParam(p, call)
		}
		return !found
	})
	return found
}

// passesParam reports whether an expression is a call that gets a parameter of the function.
func passesParam(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	for _, arg := range call.Args {
		if v := syntax.LocalVar(p, arg); v != nil && syntax.Param(p, v) {
			return true
		}
	}
	return false
}

// dropWords fills in a pass over a cache for each change, to remove the entries that it concerns.
func (s *search) dropWords(p *gocode.Place, m *rule.Match, n, grows string) {
	store, name, test := s.over, syntax.FuncName(p), syntax.Text(s.cond)
	if call, ok := ast.Unparen(store).(*ast.CallExpr); ok && syntax.Receiver(call) != nil {
		store = syntax.Receiver(call) // the keys of a cache
	}
	of := syntax.Text(store)
	m.Cause = fmt.Sprintf("Each call of %s tests all %s entries of %s (line %d), to remove those where %s, and removes %s of them. The cost is the number of changes times the number of entries.%s",
		name, n, of, s.head, test, s.few(), grows)
	m.Fix = fmt.Sprintf("Collect what the calls of %s are about, and go through %s once for all of it, every 100 ms or so, with one test for many changes. If entries must be removed at once, index %s by a part that entry and change have in common, and test only the entries with it.", name, of, of)
	m.Confidence = rule.Likely // whether entries may be outdated for a while is not known
	m.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.99}
}
