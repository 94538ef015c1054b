package locks

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// taken is a call that locks a mutex and returns the function that unlocks it:
//
//	unlock := s.lock(key)
//	defer unlock()
type taken struct {
	lock  *ast.CallExpr
	mutex ast.Expr // that the function locks; the call, if it is of another package
	read  bool
}

// takenBy returns what a call unlocks, if it calls a function that another one returned which locks
// a mutex: by the source of that function or, in another package, by its name. It is nil for other
// calls.
func takenBy(p *gocode.Place, unlock *ast.CallExpr) *taken {
	if len(unlock.Args) > 0 {
		return nil
	}
	lock, ok := ast.Unparen(unlock.Fun).(*ast.CallExpr) // defer s.lock(key)()
	name := ""
	if !ok {
		v := syntax.LocalVar(p, unlock.Fun)
		if v == nil || p.Decl == nil {
			return nil
		}
		name = v.Name()
		stmt, _ := syntax.Declared(p.Outer(), v)
		set, is := stmt.(*ast.AssignStmt)
		if !is || len(set.Rhs) != 1 {
			return nil
		}
		if lock, ok = ast.Unparen(set.Rhs[0]).(*ast.CallExpr); !ok {
			return nil
		}
	}
	fn := p.Callee(lock)
	if fn == nil || !slices.ContainsFunc(slices.Collect(fn.Signature().Results().Variables()), isFunc) {
		return nil
	}
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
		in := p.Entry(decl)
		mutex, read := lockedIn(in)
		if mutex == nil || !returnsUnlock(in) {
			return nil
		}
		return &taken{lock, mutex, read}
	}
	if words := append(awaited.Words(fn.Name()), awaited.Words(name)...); !slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"lock", "rlock", "unlock", "runlock"}, w)
	}) {
		return nil
	}
	return &taken{lock, lock, slices.Contains(awaited.Words(fn.Name()), "rlock")}
}

// isFunc reports whether a variable is a function without parameters.
func isFunc(v *types.Var) bool {
	sig, ok := v.Type().Underlying().(*types.Signature)
	return ok && sig.Params().Len() == 0
}

// lockedIn returns the last mutex that a function locks, and whether only for reading; nil for
// none.
func lockedIn(p *gocode.Place) (mutex ast.Expr, read bool) {
	own(p, func(n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && locking(p, call) {
			mutex, read = syntax.Receiver(call), methodName(p, call) == "RLock"
		}
	})
	return mutex, read
}

// returnsUnlock reports whether a function returns mu.Unlock, or a literal that calls it.
func returnsUnlock(p *gocode.Place) (found bool) {
	names := func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		return ok && (sel.Sel.Name == "Unlock" || sel.Sel.Name == "RUnlock")
	}
	own(p, func(n ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok {
			return
		}
		for _, e := range ret.Results {
			value := syntax.Origin(p, e)
			if names(ast.Unparen(value)) {
				found = true
			}
			if lit, ok := ast.Unparen(value).(*ast.FuncLit); ok {
				ast.Inspect(lit.Body, func(n ast.Node) bool {
					found = found || names(n)
					return !found
				})
			}
		}
	})
	return found
}

// takenFrom returns the section from the call that returns the function which unlocks to its call;
// nil if it is not such a call.
func takenFrom(p *gocode.Place, unlock *ast.CallExpr) *Section {
	t := takenBy(p, unlock)
	if t == nil || t.lock.Pos() >= unlock.Pos() && ast.Unparen(unlock.Fun) != ast.Expr(t.lock) {
		return nil
	}
	s := &Section{Lock: t.lock, Unlock: unlock, Mutex: t.mutex, Read: t.read, place: p, start: t.lock.End(), end: unlock.Pos()}
	if _, s.Deferred = syntax.Parent(p, unlock).(*ast.DeferStmt); s.Deferred {
		s.end = syntax.Body(p).End()
	}
	s.From, s.To = syntax.Line(p, s.start), syntax.Line(p, s.end)
	return s
}
