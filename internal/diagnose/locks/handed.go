package locks

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostCallers is how many callers of a function that unlocks are named.
const mostCallers = 3

// handed returns the critical section that a function ends on a site's line, if its callers lock
// the mutex and call it with the mutex held; nil for none. The part of the section in the function
// is returned, or that in the caller that made others wait longest, if only that one calls
// something or waits.
func handed(p *rule.Pass, s *site.Site) *Found {
	place := p.Place(s)
	if place == nil || place.Decl == nil || place.Func != ast.Node(place.Decl) {
		return nil
	}
	for _, unlock := range ends(place) {
		mutex := syntax.Receiver(unlock)
		if mutex == nil || section(place, unlock) != nil {
			continue
		}
		var locked []string
		var above *Found
		for _, f := range callersOf(p, s) {
			sec := handing(p, f, place, mutex, methodName(place, unlock) == "RUnlock")
			if sec == nil {
				continue
			}
			if where := fmt.Sprintf("%s (%s)", syntax.FuncName(sec.place), syntax.Where(sec.place, sec.Lock.Pos())); len(locked) < mostCallers && !slices.Contains(locked, where) {
				locked = append(locked, where)
			}
			if above == nil {
				above = &Found{Section: sec, Place: sec.place, File: f.File}
			}
		}
		if above == nil {
			continue
		}
		below := &Found{Section: received(place, unlock, mutex), Place: place, File: s.File}
		how := fmt.Sprintf("on line %d", below.To)
		if below.Deferred {
			how = fmt.Sprintf("when it returns, on line %d", below.To)
		}
		words := fmt.Sprintf(" %s is locked in %s. %s, which is called with it held, unlocks it %s.", syntax.Text(mutex), funcname.List(locked), syntax.FuncName(place), how)
		found := below
		if above.waits(p) && !below.waits(p) || len(below.Calls()) == 0 && len(above.Calls()) > 0 {
			found = above
		}
		found.held = words
		return found
	}
	return nil
}

// waits reports whether a section waits for something.
func (f *Found) waits(p *rule.Pass) bool {
	_, _, ok := f.Outside(p, f.File)
	return ok
}

// received returns the section from the start of a function to its Unlock.
func received(place *gocode.Place, unlock *ast.CallExpr, mutex ast.Expr) *Section {
	s := &Section{Unlock: unlock, Mutex: mutex, place: place, start: place.Decl.Body.Lbrace + 1, end: unlock.Pos()}
	s.Read = methodName(place, unlock) == "RUnlock"
	_, s.Deferred = syntax.Parent(place, unlock).(*ast.DeferStmt)
	if s.Deferred {
		s.end = place.Decl.Body.End()
	}
	s.From, s.To = syntax.Line(place, s.start), syntax.Line(place, s.end)
	return s
}

// callersOf returns the frames that call a site's function, in the stacks of Unlocks on its line,
// those first that made others wait longest.
func callersOf(p *rule.Pass, s *site.Site) []*site.Frame {
	sums := map[site.Frame]int64{}
	for _, other := range p.Table.Sites {
		if other.File != s.File || other.Line != s.Line {
			continue
		}
		for _, r := range other.Mutex {
			i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.File == s.File && f.Line == s.Line && f.Function == s.Function })
			if i >= 0 && i+1 < len(r.Stack) {
				sums[*r.Stack[i+1]] += r.Value
			}
		}
	}
	var frames []*site.Frame
	for f := range sums {
		frames = append(frames, &f)
	}
	slices.SortFunc(frames, func(a, b *site.Frame) int {
		return cmp.Or(cmp.Compare(sums[*b], sums[*a]), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return frames
}

// handing returns the section of a caller that locks a mutex and calls, on the frame's line, the
// function that unlocks it; nil if it does not. callee and mutex are of that function.
func handing(p *rule.Pass, f *site.Frame, callee *gocode.Place, mutex ast.Expr, read bool) *Section {
	place, ok := p.Syntax.At(f.File, f.Line)
	if !ok {
		return nil
	}
	for _, call := range syntax.Calls(place) {
		fn := place.Callee(call)
		if fn == nil || place.Declaration(fn) != callee.Decl {
			continue
		}
		name := as(call, fn, callee, mutex)
		if name == "" {
			continue
		}
		lock := lockedBefore(place, call, syntax.Named(callee, mutex), name, read)
		if lock == nil {
			continue
		}
		return &Section{
			Lock: lock, Unlock: call, Mutex: syntax.Receiver(lock), Read: read, place: place, start: lock.End(), end: call.Pos(),
			From: syntax.Line(place, lock.End()), To: syntax.Line(place, call.Pos()),
		}
	}
	return nil
}

// as returns the name that a caller has for an expression of the function that it calls: "x.mu" is
// "d.indexer.mu" if x is the receiver, and the call is of d.indexer.flush. It is "" if the
// expression starts with neither a parameter nor a variable of the package.
func as(call *ast.CallExpr, fn *types.Func, callee *gocode.Place, e ast.Expr) string {
	text := types.ExprString(ast.Unparen(e))
	first := e
	for {
		sel, ok := ast.Unparen(first).(*ast.SelectorExpr)
		if !ok {
			break
		}
		first = sel.X
	}
	id, ok := ast.Unparen(first).(*ast.Ident)
	if !ok {
		return ""
	}
	v, ok := callee.Object(id).(*types.Var)
	if !ok {
		return ""
	}
	if v.Parent() == callee.Pkg.Scope() {
		return text
	}
	given := argument(call, fn, v)
	if given == nil {
		return ""
	}
	return types.ExprString(given) + strings.TrimPrefix(text, id.Name)
}

// argument returns what a call passes for a parameter or the receiver of its function, without &.
func argument(call *ast.CallExpr, fn *types.Func, v *types.Var) ast.Expr {
	var given ast.Expr
	sig := fn.Signature()
	if recv := sig.Recv(); recv != nil && recv.Pos() == v.Pos() {
		given = syntax.Receiver(call)
	}
	for i := range min(sig.Params().Len(), len(call.Args)) {
		if sig.Params().At(i).Pos() == v.Pos() {
			given = call.Args[i]
		}
	}
	given = ast.Unparen(given)
	if u, ok := given.(*ast.UnaryExpr); ok && u.Op == token.AND {
		return ast.Unparen(u.X)
	}
	return given
}

// lockedBefore returns the call before another that locks the mutex with a name, if the mutex is
// held when the other call is reached; nil otherwise. An Unlock in between is of another path if
// its block leaves.
func lockedBefore(p *gocode.Place, call *ast.CallExpr, mutex *types.Var, name string, read bool) *ast.CallExpr {
	var lock *ast.CallExpr
	lost := false
	own(p, func(n ast.Node) {
		c, ok := n.(*ast.CallExpr)
		if !ok || c.Pos() >= call.Pos() || mutex == nil {
			return
		}
		x := syntax.Receiver(c)
		if x == nil || syntax.Named(p, x) != mutex || types.ExprString(ast.Unparen(x)) != name {
			return
		}
		switch {
		case locking(p, c) && read == (methodName(p, c) == "RLock"):
			lock, lost = c, false
		case unlocking(p, c):
			lost = lost || !elsewhere(p, c, call)
		}
	})
	if lost {
		return nil
	}
	return lock
}

// elsewhere reports whether an Unlock is on a path that does not reach a later call: in a block
// without it that leaves.
func elsewhere(p *gocode.Place, unlock, call *ast.CallExpr) bool {
	for _, n := range p.Enclosing(unlock) {
		b, ok := n.(*ast.BlockStmt)
		if !ok {
			continue
		}
		if syntax.Inside(b, call.Pos()) {
			return false
		}
		if syntax.Leaves(b) {
			_, deferred := syntax.Parent(p, unlock).(*ast.DeferStmt)
			return !deferred
		}
	}
	return false
}
