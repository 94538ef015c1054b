package receivers

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastBlocked is the minimum share of its time that the goroutine waits below the call.
	leastBlocked = 0.5
	// mostCalls is how many calls lie between the goroutine's loop and that over the receivers.
	mostCalls = 3
	// fewest receivers, on average: a queue for each helps none if there is only one.
	fewest = 2
)

// Call is a call of each of some receivers, one after the other, below which a goroutine waits.
type Call struct {
	Site   *site.Site
	Callee string      // as the source writes it: "s.Deliver"
	Of     string      // the receivers: "d.sinks"
	Where  string      // the loop: "line 12"
	Wait   *wall.Place // of most of the time below it
	Share  float64     // of the goroutine's time
}

// Called returns the call of receivers in which a lasting goroutine spends at least half of its
// time; nil for none. The goroutine receives values in a loop, and the receivers are a list that
// does not come with them: other lists are the work to be done for a value.
func Called(p *rule.Pass, g *wall.Group) *Call {
	if g.Runtime || g.Found+g.Created-g.Ended < 1 || p.Syntax == nil || g.Seconds <= 0 {
		return nil
	}
	entry := placeOf(p, g)
	if entry == nil {
		return nil
	}
	for i := range g.Stacks { // most time first
		s := &g.Stacks[i]
		if s.What != "blocked" && s.What != "syscall" || s.Seconds < leastBlocked*g.Seconds {
			continue
		}
		f := follow{pass: p, wait: s.Line, seen: map[*ast.FuncDecl]bool{}}
		if c := f.in(entry, false, mostCalls); c != nil {
			c.Wait, c.Share = s, s.Seconds/g.Seconds
			return c
		}
	}
	return nil
}

// placeOf returns a place in the function that goroutines were started with; nil if the trace shows
// no line of it.
func placeOf(p *rule.Pass, g *wall.Group) *gocode.Place {
	at := func(l exectrace.Line) *gocode.Place {
		if l.Function != g.Function {
			return nil
		}
		s := traced.SiteAt(p, l)
		if s == nil {
			return nil
		}
		return p.Place(s)
	}
	for i := range g.Stacks {
		if place := at(g.Stacks[i].Line); place != nil {
			return place
		}
	}
	for i := range p.Trace.Blocking.Waits {
		w := &p.Trace.Blocking.Waits[i]
		for _, c := range w.Callers {
			if place := at(c.Line); place != nil {
				return place
			}
		}
		for _, by := range w.Wakers {
			if place := at(by.Line); place != nil {
				return place
			}
		}
	}
	return nil
}

// follow searches the functions that a goroutine runs for the call that leads to a wait.
type follow struct {
	pass *rule.Pass
	wait exectrace.Line
	seen map[*ast.FuncDecl]bool
}

// in returns the call in the function of a place. received says that the function runs for each
// value that the goroutine receives.
func (f *follow) in(p *gocode.Place, received bool, calls int) *Call {
	var found *Call
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if found != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return n == p.Func
		case *ast.RangeStmt:
			if (received || receiving(p, n) != nil) && ofState(p, n) {
				found = f.each(p, n)
			}
		case *ast.CallExpr:
			if calls > 0 && (received || receiving(p, n) != nil) {
				found = f.below(p, n, calls)
			}
		}
		return found == nil
	})
	return found
}

// below continues in a function that a call calls.
func (f *follow) below(p *gocode.Place, call *ast.CallExpr, calls int) *Call {
	fn := p.Callee(call)
	if fn == nil {
		return nil
	}
	in, ok := f.pass.Syntax.Declared(fn)
	if !ok || in.Decl == nil || f.seen[in.Decl] {
		return nil
	}
	f.seen[in.Decl] = true
	return f.in(in, true, calls-1)
}

// each returns the call of the elements of a loop that leads to the wait.
func (f *follow) each(p *gocode.Place, loop *ast.RangeStmt) *Call {
	file := p.Fset.Position(loop.Pos()).Filename
	line := locks.Between(p, loop.Body.Pos(), loop.Body.End(), loop.X).LeadsTo(f.pass, file, f.wait)
	if line == 0 || f.few(p, loop) {
		return nil
	}
	var found *ast.CallExpr
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.CallExpr:
			if found == nil && syntax.Line(p, n.Lparen) == line && ofElement(p, loop, n) {
				found = n
			}
		}
		return found == nil
	})
	if found == nil {
		return nil
	}
	s := traced.SiteAt(f.pass, exectrace.Line{Function: syntax.ProfileName(p), File: file, Line: line})
	if s == nil {
		return nil
	}
	return &Call{Site: s, Callee: syntax.Text(found.Fun), Of: syntax.Text(loop.X), Where: syntax.Where(p, loop.Pos())}
}

// few reports whether a loop has fewer than two elements on average, as counted.
func (f *follow) few(p *gocode.Place, loop *ast.RangeStmt) bool {
	if len(loop.Body.List) == 0 {
		return true
	}
	all, counted := evidence.ReachedAt(f.pass, p, loop.Body.List[0].Pos())
	times, ok := evidence.ReachedAt(f.pass, p, loop.Pos())
	return counted && ok && all < fewest*times
}

// ofElement reports whether a call is one of a method of the loop's element, of a function that it
// is or has, or passes it to a function.
func ofElement(p *gocode.Place, loop *ast.RangeStmt, call *ast.CallExpr) bool {
	for _, e := range append([]ast.Expr{call.Fun}, call.Args...) {
		root, _ := syntax.Var(p, e)
		for _, of := range []ast.Expr{loop.Key, loop.Value} {
			if of == nil || root == nil {
				continue
			}
			if v, _ := syntax.Var(p, of); v == root {
				return true
			}
		}
	}
	return false
}

// receiving returns the innermost loop around a node that receives values from a channel, other
// than times; nil for none.
func receiving(p *gocode.Place, n ast.Node) ast.Node {
	for _, loop := range loops.Around(p, n) {
		if r, ok := loop.(*ast.RangeStmt); ok {
			if _, channel := p.TypeOf(r.X).Underlying().(*types.Chan); channel && !syntax.Times(p, r.X) {
				return loop
			}
			continue
		}
		receives := false
		ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW && !syntax.Times(p, u.X) {
				receives = true
			}
			_, inner := n.(*ast.FuncLit)
			return !receives && !inner
		})
		if receives {
			return loop
		}
	}
	return nil
}

// ofState reports whether the list of a loop belongs to what the goroutine keeps: its receiver, a
// package variable, or a variable from before the loop that receives values.
func ofState(p *gocode.Place, loop *ast.RangeStmt) bool {
	list := syntax.Origin(p, loop.X)
	if call, ok := list.(*ast.CallExpr); ok {
		list = syntax.Receiver(call)
	}
	if list == nil {
		return false
	}
	root, _ := syntax.Var(p, list)
	switch {
	case root == nil:
		return false
	case root.Pkg() != nil && root.Parent() == root.Pkg().Scope():
		return true
	case p.Decl != nil && p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, root.Pos()):
		return true
	}
	outer := receiving(p, loop)
	return outer != nil && root.Pos() < outer.Pos()
}
