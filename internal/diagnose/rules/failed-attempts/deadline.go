package failedattempts

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// mostLate is how many times the requests' wait the failed calls may take in all, each until the
// deadline: with more, most fail sooner.
const mostLate = 1.3

// late returns a match for a wait for the network that mostly ends at a deadline, and how many
// seconds do; nil for others. The trace does not say what ended such a wait. But if calls fail, as
// counted, as often as makes up the wait at a deadline each, they failed then.
func late(p *rule.Pass, place *requests.PlaceTime) (*rule.Match, float64) {
	if place.Part != requests.WaitNetwork {
		return nil, 0
	}
	s := traced.SiteAt(p, *cmp.Or(place.Caller, place.Waiter))
	if s == nil {
		return nil, 0
	}
	in := p.Place(s)
	if in == nil || onPurpose(in) {
		return nil, 0
	}
	deadline, from := deadlineOf(p, in)
	count := float64(p.Trace.Requests.Count)
	if p.Manifest.Unit() == "run" { // of which the trace has one
		count = 1
	}
	if deadline <= 0 || count <= 0 {
		return nil, 0
	}
	var fails float64 // for each unit of work
	for _, call := range syntax.Calls(in) {
		if runs, ok := evidence.ReachedAt(p, in, call.Pos()); ok {
			fails = max(fails, runs*failing(p, in, call, levels))
		}
	}
	waited := float64(place.Time) / 1e9
	failed := fails * deadline.Seconds() * count
	if failed < mostly*waited || failed > mostLate*waited {
		return nil, 0
	}
	waited = min(waited, failed)
	if at := siteOf(p, from); at != nil {
		s = at // the function that sets the deadline can do without the call
	}
	return &rule.Match{
		Site: s,
		Cause: fmt.Sprintf("Requests spend %s of their time waiting here for an answer over the network that does not come: the call fails %s per %s, each time at its deadline of %s. The next request asks the same again.",
			units.Percent(waited/traced.LatencyTotal(p)), evidence.Times(fails), p.Manifest.Unit(), units.Seconds(deadline.Seconds())),
		Fix:      "Count a timeout as a failure, and after some in a row do not ask that server for some seconds, but go on at once or ask another one first; let one request try again then (a circuit breaker). Set the deadline a little above the time that answers usually take.",
		Evidence: []rule.Evidence{{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s failed calls per %s", units.Number(fails), p.Manifest.Unit())}},
	}, waited
}

// call is a call with the place of its function.
type call struct {
	place *gocode.Place
	*ast.CallExpr
}

// deadlineOf returns the constant time after which a call on a line gives up, which its function
// sets or the functions above it, each of which has one caller; 0 if that is unknown. from is the
// call that leads to the line from the function above; nil if its own function sets it.
func deadlineOf(p *rule.Pass, in *gocode.Place) (d time.Duration, from *call) {
	for range levels + 1 {
		if d := limit(in); d > 0 {
			return d, from
		}
		above, leads := flow.OnlyCall(p.Syntax, in.Outer())
		if above == nil {
			return 0, nil
		}
		in, from = above, &call{above, leads}
	}
	return 0, nil
}

// siteOf returns the site of a call; nil for none.
func siteOf(p *rule.Pass, from *call) *site.Site {
	if from == nil {
		return nil
	}
	at := from.place.Fset.Position(from.Lparen)
	return traced.SiteAt(p, exectrace.Line{Function: syntax.ProfileName(from.place), File: at.Filename, Line: at.Line})
}

// limit returns the shortest constant time limit that a function sets for connections or a context;
// 0 for none.
func limit(p *gocode.Place) (least time.Duration) {
	ast.Inspect(syntax.Body(p.Outer()), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		var e ast.Expr
		switch p.CalleeName(call) {
		case "context.WithTimeout", "context.WithTimeoutCause":
			e = call.Args[1]
		case "context.WithDeadline", "context.WithDeadlineCause":
			e = fromNow(p, call.Args[1])
		case "(net.Conn).SetDeadline", "(net.Conn).SetReadDeadline", "(*net.conn).SetDeadline", "(*net.conn).SetReadDeadline":
			e = fromNow(p, call.Args[0])
		}
		if e == nil {
			return true
		}
		if v, ok := p.Const(e); ok {
			if ns, exact := constant.Int64Val(constant.ToInt(v)); exact && ns > 0 && (least == 0 || time.Duration(ns) < least) {
				least = time.Duration(ns)
			}
		}
		return true
	})
	return least
}

// fromNow returns d for time.Now().Add(d); nil for others.
func fromNow(p *gocode.Place, e ast.Expr) ast.Expr {
	add, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || p.CalleeName(add) != "(time.Time).Add" {
		return nil
	}
	if now, ok := ast.Unparen(syntax.Receiver(add)).(*ast.CallExpr); !ok || p.CalleeName(now) != "time.Now" {
		return nil
	}
	return add.Args[0]
}
