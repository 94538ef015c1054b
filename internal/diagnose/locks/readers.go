package locks

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Published is the advice for functions that wait for the mutex of a section only to read what it
// guards, in a sentence with a space before it; "" if none of the waiters does only that.
func (s *Section) Published(p *rule.Pass, waiters []wall.Waker) string {
	if s.Read || p == nil || p.Syntax == nil {
		return ""
	}
	var names []string
	for _, w := range waiters {
		place, ok := p.Syntax.At(w.Line.File, w.Line.Line)
		if !ok || place.Decl == nil || place.Decl == s.place.Decl || !s.readIn(place) {
			continue
		}
		if name := syntax.FuncName(place); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	verb, who := "reads", "it"
	if len(names) > 1 {
		verb, who = "read", "them"
	}
	return fmt.Sprintf(" %s only %s what %s guards: let %s read a snapshot without the lock, which writers publish in an atomic.Pointer at each change.",
		funcname.List(names), verb, syntax.Text(s.Mutex), who)
}

// readIn reports whether a line locks the mutex of the section in a function that only reads, and
// no map: a snapshot of one is a copy of all entries at each change.
func (s *Section) readIn(p *gocode.Place) bool {
	mutex := syntax.Named(s.place, s.Mutex)
	locks := slices.ContainsFunc(syntax.Calls(p), func(c *ast.CallExpr) bool {
		x := syntax.Receiver(c)
		return x != nil && locking(p, c) && syntax.Named(p, x) == mutex
	})
	return mutex != nil && locks && effects.OnlyReads(p.Outer()) && !readsMap(p)
}

// readsMap reports whether the function around a place looks something up in a map, or visits its
// entries.
func readsMap(p *gocode.Place) (found bool) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		var x ast.Expr
		switch n := n.(type) {
		case *ast.IndexExpr:
			x = n.X
		case *ast.RangeStmt:
			x = n.X
		}
		if x != nil && p.TypeOf(x) != nil {
			_, ok := p.TypeOf(x).Underlying().(*types.Map)
			found = found || ok
		}
		return !found
	})
	return found
}
