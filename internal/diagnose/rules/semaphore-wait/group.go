package semaphorewait

import (
	"cmp"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// mostStarted is the largest number of goroutines of a request that wait for other requests only.
const mostStarted = 2

// sharedGroup reports whether the errgroup for whose room requests wait is one that they share: a
// field, a variable of the package, or one that a handler captures.
func sharedGroup(p *rule.Pass, at *requests.PlaceTime) bool {
	if p.Syntax == nil {
		return false
	}
	place, calls := callsOf(p, at)
	if place == nil {
		return false
	}
	for _, call := range calls {
		v, _ := syntax.Var(place, syntax.Receiver(call))
		if v == nil || syntax.Param(place.Outer(), v) {
			continue
		}
		if ran, ok := evidence.ExecutionsAt(p, place, call.Pos()); ok && ran.PerUnit > mostStarted {
			continue // a request may wait for its own calls
		}
		return v.Kind() == types.RecvVar || v.Parent() == v.Pkg().Scope() || !syntax.Inside(place.Func, v.Pos())
	}
	return false
}

// callsOf returns the calls of Go on the line of the program that waits: if the program has the
// errgroup in its own tree, those of the only line that calls it.
func callsOf(p *rule.Pass, at *requests.PlaceTime) (*gocode.Place, []*ast.CallExpr) {
	s := traced.SiteAt(p, *cmp.Or(at.Caller, at.Waiter))
	if s == nil {
		return nil, nil
	}
	place := p.Place(s)
	if place == nil {
		return nil, nil
	}
	if calls := syntax.CallsOf(place, "(*golang.org/x/sync/errgroup.Group).Go"); len(calls) > 0 {
		return place, calls
	}
	above, call := flow.RunningCall(p, place.Outer())
	if call == nil {
		return nil, nil
	}
	return above, []*ast.CallExpr{call}
}
