package fewworkers

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// leastIdle is the minimum share of their time in which workers with a channel each must be idle
// while requests queue for others of them.
const leastIdle = 0.5

// uneven returns the queue of requests for some of the workers while others are idle, because each
// takes from a channel of its own; nil for none.
func (w *workers) uneven() *traced.Queue {
	if w.n < 2 || w.takes == nil || w.idle < leastIdle*w.Seconds || !separate(w.pass, w.takes) {
		return nil
	}
	t := traced.LongestQueue(w.pass, leastShare, w.ends)
	working := max(1, (w.Seconds-w.idle)/w.pass.Trace.Parallelism.Length)
	if t == nil || t.Waited/t.Length < (1+queue)*working {
		return nil
	}
	return t
}

func (w *workers) unevenMatch(t *traced.Queue) rule.Match {
	name := symbol.Short(funcname.Typed(w.Function))
	return rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // jobs may have to stay in order
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("Requests spend %s of their time waiting for %s, of which %s goroutines run, each with a channel of its own: on average %s requests wait at a time, while %s of the goroutines have nothing to do. Jobs queue behind each other for the one that their key selects.",
			t.Share(), name, units.Count(w.n), t.Waiting(), units.Number(w.idle/t.Length)),
		Fix: fmt.Sprintf("Let all goroutines with %s%s take from one channel: then no request waits while one of them is idle. If jobs of one key must stay in order, keep a list of jobs for each key, and let an idle goroutine take the next key that none works on.",
			name, w.started(t)),
		Evidence: append(t.Evidence(w.pass, name, "mostly ended at"),
			rule.Evidence{What: "goroutines of " + name, Value: fmt.Sprintf("%d, %s of their time idle", w.n, units.Percent(w.idle/w.Seconds)), Command: evidence.ViewCommand(w.pass, "goroutines")}),
	}
}

// separate reports whether each goroutine that takes work at a place has a channel of its own, as
// far as the source shows: the loop that starts them makes or selects one for each.
func separate(pass *rule.Pass, worker *gocode.Place) bool {
	ch := taken(worker)
	if ch == nil {
		return false
	}
	if lit, ok := worker.Func.(*ast.FuncLit); ok {
		out := worker.Outer()
		call, ok := syntax.Parent(out, lit).(*ast.CallExpr)
		if !ok {
			return false
		}
		if sig, ok := worker.TypeOf(lit).(*types.Signature); ok {
			v, _ := syntax.Var(worker, ch)
			if i := syntax.ParamIndex(sig, v); i >= 0 && i < len(call.Args) {
				ch = call.Args[i]
			}
		}
		return each(pass, out, call, ch, ch)
	}
	if worker.Decl == nil {
		return false
	}
	self := worker.Object(worker.Decl.Name)
	v, _ := syntax.Var(worker, ch)
	for _, p := range pass.Syntax.Calls(func(fn *types.Func) bool { return types.Object(fn) == self }) {
		for _, call := range p.Calls() {
			if fn := p.Callee(call); fn == nil || types.Object(fn.Origin()) != self {
				continue
			}
			if given := flow.ArgumentFor(worker, call, v); given == nil || !each(pass, p, call, given, ch) {
				return false
			}
		}
	}
	return v != nil
}

// taken returns the channel from which a line receives work; nil for none, or several.
func taken(p *gocode.Place) (found ast.Expr) {
	add := func(e ast.Expr) bool {
		ch, ok := p.TypeOf(e).Underlying().(*types.Chan)
		if !ok {
			return true
		}
		elem := ch.Elem().Underlying()
		if s, ok := elem.(*types.Struct); ok && (s.NumFields() == 0 || types.TypeString(ch.Elem(), nil) == "time.Time") {
			return true // a signal, a timer
		}
		if found != nil {
			return false
		}
		found = e
		return true
	}
	for _, n := range p.Nodes {
		ok := true
		switch n := n.(type) {
		case *ast.RangeStmt:
			ok = syntax.Line(p, n.Pos()) != p.Line || add(n.X)
		case *ast.UnaryExpr:
			ok = n.Op != token.ARROW || add(n.X)
		case *ast.SelectStmt:
			for _, c := range n.Body.List {
				if from, _ := syntax.ReceivesFrom(c.(*ast.CommClause).Comm); from != nil {
					ok = ok && add(from)
				}
			}
		}
		if !ok {
			return nil
		}
	}
	return found
}

// each reports whether a call that starts a worker is in a loop and gives it another channel in
// each iteration: the channel itself, or what has it in a field (as ch names it in the worker).
func each(pass *rule.Pass, p *gocode.Place, call *ast.CallExpr, given, ch ast.Expr) bool {
	if _, ok := syntax.Parent(p, call).(*ast.GoStmt); !ok {
		return false
	}
	loop := p.LoopAround(call)
	if loop == nil {
		return false
	}
	if i, ok := ast.Unparen(given).(*ast.IndexExpr); ok {
		v, _ := syntax.Var(p, i.Index)
		return v != nil && syntax.Inside(loop, v.Pos())
	}
	v, _ := syntax.Var(p, given)
	if v == nil || !syntax.Inside(loop, v.Pos()) {
		return false
	}
	stmt, value := syntax.Declared(p, v)
	if _, ok := stmt.(*ast.RangeStmt); !ok {
		switch ast.Unparen(value).(type) {
		case *ast.CallExpr, *ast.IndexExpr, *ast.UnaryExpr, *ast.CompositeLit:
		default:
			return false // another name for one channel
		}
	}
	sel, ok := ast.Unparen(ch).(*ast.SelectorExpr)
	return !ok || made(pass, p, sel)
}

// made reports whether a field gets a new channel wherever it is set.
func made(pass *rule.Pass, p *gocode.Place, field *ast.SelectorExpr) bool {
	t := p.TypeOf(field.X)
	if t == nil {
		return false
	}
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	values := pass.Syntax.ValuesOf(types.TypeString(t, nil), field.Sel.Name)
	for _, v := range values {
		call, ok := ast.Unparen(v.Value).(*ast.CallExpr)
		if !ok {
			return false
		}
		if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "make" {
			return false
		}
	}
	return len(values) > 0
}
