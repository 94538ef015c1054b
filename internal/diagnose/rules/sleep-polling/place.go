package sleeppolling

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// poll is a line of the program where requests poll.
type poll struct {
	site  *site.Site
	place *gocode.Place // with the pause
	line  exectrace.Line
	from  string // in words, who calls the function that polls, if it gets the condition; or ""
}

// pollOf returns the line of the program where requests poll that wait for a timer at a place of
// the trace: the line that waits, the loop that calls the function which does, or a call that
// passes a condition to a module; nil if they do not.
func pollOf(p *rule.Pass, at *requests.Place) *poll {
	s := traced.SiteAt(p, *at.Waiter)
	if s == nil {
		return nil
	}
	if at.Caller != nil {
		if c := traced.SiteAt(p, *at.Caller); c != nil {
			if place := p.Place(c); place != nil && slices.ContainsFunc(place.Calls(), func(call *ast.CallExpr) bool { return asksFor(place, call) }) {
				return &poll{site: c, place: place, line: *at.Waiter}
			}
		}
	}
	place := p.Place(s)
	if place == nil {
		return nil
	}
	wait := pause(place)
	if wait == nil {
		return nil
	}
	if loop := loopOf(place, wait); loop != nil {
		if !pollsAt(place, loop, wait) {
			return nil
		}
		return &poll{site: s, place: place, line: *at.Waiter, from: givers(p, s, place)}
	}
	return pausing(p, place, at)
}

// pausing returns the line that calls the function around a place, which only pauses, in a loop
// that polls; nil for none.
func pausing(p *rule.Pass, in *gocode.Place, at *requests.Place) *poll {
	self := in.Outer()
	if self.Decl == nil {
		return nil
	}
	for _, place := range p.Syntax.Calls(func(fn *types.Func) bool { return types.Object(fn) == in.Object(self.Decl.Name) }) {
		for _, call := range syntax.Calls(place) {
			fn := place.Callee(call)
			if fn == nil || types.Object(fn.Origin()) != in.Object(self.Decl.Name) {
				continue
			}
			loop := place.LoopAround(call)
			if loop == nil || !pollsAt(place, loop, call) {
				continue
			}
			file := place.Fset.Position(call.Pos()).Filename
			s := traced.SiteAt(p, exectrace.Line{Function: syntax.ProfileName(place), File: file, Line: syntax.Line(place, call.Pos())})
			if s != nil {
				return &poll{site: s, place: place, line: *at.Waiter}
			}
		}
	}
	return nil
}

// asksFor reports whether a call passes a condition to a function that asks for it again and again,
// by its name: wait.PollUntilContextTimeout of Kubernetes.
func asksFor(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || !slices.ContainsFunc(awaited.Words(fn.Name()), func(w string) bool { return slices.Contains([]string{"poll", "until", "wait", "eventually"}, w) }) {
		return false
	}
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return condition(p.TypeOf(arg)) })
}

// condition reports whether a type is that of functions which report whether something is true.
func condition(t types.Type) bool {
	if t == nil {
		return false
	}
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || sig.Results().Len() == 0 {
		return false
	}
	b, ok := sig.Results().At(0).Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// givers says which line passes the condition, if the function around a place gets it from its
// caller.
func givers(p *rule.Pass, s *site.Site, in *gocode.Place) string {
	decl := in.Outer().Decl
	if decl == nil {
		return ""
	}
	fn, ok := in.Object(decl.Name).(*types.Func)
	if !ok || !hasCondition(fn) {
		return ""
	}
	callers := p.Syntax.Calls(func(o *types.Func) bool { return o == fn })
	if len(callers) != 1 {
		return ""
	}
	c := callers[0]
	at := exectrace.Line{Function: syntax.ProfileName(c), File: c.Fset.Position(c.Nodes[0].Pos()).Filename, Line: c.Line}
	return fmt.Sprintf(" What they wait for is asked on %s.", evidence.Near(p, s, at))
}

func hasCondition(fn *types.Func) bool {
	for v := range fn.Signature().Params().Variables() {
		if condition(v.Type()) {
			return true
		}
	}
	return false
}

// each returns how long a pause takes, in seconds: the constant in the source, or the mean in the
// trace.
func (a *poll) each(p *rule.Pass) (float64, bool) {
	if each, ok := sleep(p, a.place); ok {
		return each, true
	}
	for _, w := range p.Trace.Blocking.Waits {
		if w.Line == a.line && w.Count > w.Open {
			return w.Seconds / float64(w.Count), true
		}
	}
	return 0, false
}
