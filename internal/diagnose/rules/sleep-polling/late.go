package sleeppolling

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// leastShare of the requests' time that they must sleep in a loop which polls.
const leastShare = 0.2

// late finds loops in which requests poll for a result, with sleeps so long that they notice it
// late.
func late(p *rule.Pass) (matches []rule.Match) {
	if !traced.Long(p) || !traced.Serves(p) || p.Trace.Requests == nil || p.Trace.Requests.All == nil {
		return nil
	}
	total := traced.LatencyTotal(p)
	for _, place := range p.Trace.Requests.All.Places {
		slept := float64(place.Time) / 1e9
		timed := place.Part == requests.WaitSelect || place.Part == requests.WaitChanReceive
		if place.Part != requests.WaitSleep && !timed || place.Waiter == nil || total <= 0 || slept < leastShare*total {
			continue
		}
		s := traced.SiteAt(p, *place.Waiter)
		if s == nil {
			continue
		}
		syn := p.Place(s)
		if syn == nil || !timed && !polls(syn) || timed && !ticks(syn) {
			continue
		}
		with, asleep := "a sleep", "asleep"
		if timed {
			with, asleep = "a timer", "waiting for it"
		}
		each, ok := sleep(p, syn)
		if !ok {
			each = slept / float64(max(p.Trace.Requests.Count, 1))
		}
		// Each request notices its result late by half a sleep at least, and need not have slept at
		// all if the result comes at once.
		least := min(slept, float64(p.Trace.Requests.Count)*each/2)
		matches = append(matches, rule.Match{
			Site:       s,
			Confidence: rule.Likely,
			Saving:     &rule.Saving{Seconds: (least + slept) / 2, Low: least, High: slept, Latency: total, Cost: slept},
			Cause: fmt.Sprintf("Requests poll here for a result, with %s of %s each time: they spend %s of their time %s, and notice the result up to that much too late, however soon it is available.",
				with, units.Seconds(each), units.Percent(slept/total), asleep),
			Fix: "Signal the result where it becomes available: close a channel or send on it, and select on that and the context here.",
			Evidence: []rule.Evidence{{
				What: "time of requests " + asleep, Value: units.Seconds(slept) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests"),
			}},
		})
	}
	return matches
}

// sleep returns the constant time in seconds of a sleep on the line.
func sleep(pass *rule.Pass, p *gocode.Place) (float64, bool) {
	calls := syntax.CallsOf(p, "time.Sleep", "time.After", "time.Tick")
	if len(calls) == 0 {
		calls = tickers(p)
	}
	if len(calls) != 1 {
		return 0, false
	}
	values := flow.Constants(pass.Syntax, p, calls[0].Args[0])
	if len(values) != 1 {
		return 0, false
	}
	ns, ok := constant.Int64Val(constant.ToInt(values[0]))
	return float64(ns) / 1e9, ok
}

// polls reports whether the line sleeps in a loop that waits for something in memory: the loop
// counts no attempts, ends when a condition is true, and calls nothing that could fail and be tried
// again.
func polls(p *gocode.Place) bool {
	loop, ok := p.Loop().(*ast.ForStmt)
	if !ok || loop.Init != nil || loop.Post != nil {
		return false
	}
	return checks(p, loop.Body, loop.Cond != nil)
}

// checks reports whether the body of a loop only checks whether the loop may end.
func checks(p *gocode.Place, body ast.Node, leaves bool) bool {
	retries := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt:
			leaves = true
		case *ast.CallExpr:
			retries = retries || mayRetry(p, n)
		}
		return true
	})
	return leaves && !retries
}

// mayRetry reports whether a call returns an error and does not only say why the loop ends: a loop
// that retries backs off on purpose.
func mayRetry(p *gocode.Place, call *ast.CallExpr) bool {
	if fn := p.Callee(call); fn != nil && funcname.Match(fn.FullName(), "(context.Context).Err", "fmt.Errorf", "errors.*", "context.Cause") {
		return false
	}
	sig, ok := p.TypeOf(call.Fun).Underlying().(*types.Signature)
	return ok && sig.Results().Len() > 0 && types.Identical(sig.Results().At(sig.Results().Len()-1).Type(), types.Universe.Lookup("error").Type())
}
