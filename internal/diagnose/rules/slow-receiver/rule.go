// Package slowreceiver finds sends to many receivers, one after the other, that wait for the
// slowest of them.
package slowreceiver

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/receivers"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastShare of the requests' time that they must wait for receivers.
	leastShare = 0.15
	// leastBlocked is the minimum share of its time that a goroutine which sends for others must
	// wait for receivers.
	leastBlocked = 0.5
	// bySender is the minimum share of the waits of requests that this goroutine must end.
	bySender = 0.8
)

// Rule is slow-receiver.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "slow-receiver",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Sends to all receivers wait for the slowest one",
		Doc:    doc,
		Finder: finder.Trace{Specificity: 2, Judge: find},
	}
}

const doc = `A loop sends an event to the channel of each subscriber. When the channel of one
is full, because its client or its disk is slow, the send blocks: all others get
their events later, and whoever publishes waits, however fast the others are.
One client that no longer reads can stop a whole service.

Do not wait for a receiver in the loop: send in a select with a default, and
count or drop what does not fit, or disconnect a subscriber whose channel is
full, so that it comes back and reads the current state. A buffer of suitable
size is for bursts. If nothing may be lost, give each subscriber a queue of its
own with a limit, and a goroutine that empties it.

The same holds for a goroutine that takes events from a channel and calls each
subscriber, sink or handler for it: while one of them waits for a webhook or a
disk, nobody takes events. Give each of them a queue and a goroutine.

It is fine where the slowest receiver is meant to slow the sender down. The rule
reports requests that wait for such sends, or for a goroutine that spends half
of its time in them or below such calls, for 15 % of their time and more.

Seen in the field: libp2p/go-libp2p-pubsub#69 (slow subscriptions blocked the
event loop), r3labs/sse#192, anomalyco/sst#7012.`

func find(p *rule.Pass) []rule.Match {
	if p.Syntax == nil {
		return nil
	}
	var at *send
	t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool {
		if place.Part != requests.WaitChanSend && place.Part != requests.WaitSelect {
			return false
		}
		s := sendAt(p, *cmp.Or(place.Caller, place.Waiter)) // LongestQueue asks only for places with a line
		if s != nil && at == nil {                          // places are in the order of their time
			at = s
		}
		return s != nil
	})
	if t != nil && at != nil {
		return []rule.Match{at.match(p, t, "")}
	}
	if p.Trace.Goroutines == nil {
		return nil
	}
	for i := range p.Trace.Goroutines.Groups {
		g := &p.Trace.Goroutines.Groups[i]
		s := sender(p, g)
		if s == nil {
			continue
		}
		t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool { return ends(g, place) })
		if t != nil {
			return []rule.Match{s.match(p, t, symbol.Short(funcname.Typed(g.Function)))}
		}
	}
	for i := range p.Trace.Goroutines.Groups {
		g := &p.Trace.Goroutines.Groups[i]
		t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool { return ends(g, place) })
		if t == nil {
			continue
		}
		if c := receivers.Called(p, g); c != nil {
			return []rule.Match{called(p, t, g, c)}
		}
	}
	return nil
}

// send is a send to each of some channels, in a loop.
type send struct {
	site  *site.Site
	to    string // the channel
	where string // the loop
}

// sendAt returns the send on a line to a channel of each element of a loop, without an alternative
// that is always ready; nil for none.
func sendAt(p *rule.Pass, l exectrace.Line) *send {
	s := traced.SiteAt(p, l)
	if s == nil {
		return nil
	}
	place := p.Place(s)
	if place == nil {
		return nil
	}
	var found *send
	ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
		stmt, ok := n.(*ast.SendStmt)
		if !ok || found != nil || !on(place, stmt) {
			return found == nil
		}
		if in, loop := broadcasts(p.Syntax, place, stmt, stmt.Chan, levels); loop != nil {
			where := fmt.Sprintf("line %d", syntax.Line(in, loop.Pos()))
			if in.Decl != place.Decl {
				where = syntax.Where(in, loop.Pos())
			}
			found = &send{s, syntax.Text(stmt.Chan), where}
		}
		return found == nil
	})
	return found
}

// levels is how many callers away from the send the loop may be.
const levels = 2

// broadcasts returns the loop around a node, of which a channel belongs to the element, with a
// place in its function: here, or around the calls of this function for each element. A function
// that a sync.Map calls for each of its entries is a loop as well.
func broadcasts(s *gocode.Syntax, p *gocode.Place, n ast.Node, channel ast.Expr, levels int) (*gocode.Place, ast.Node) {
	channel = syntax.Origin(p, channel)
	if as, ok := channel.(*ast.TypeAssertExpr); ok {
		channel = as.X
	}
	for _, loop := range loops.Around(p, n) {
		if r, ok := loop.(*ast.RangeStmt); ok && each(p, r, channel) {
			return p, loop
		}
	}
	root, _ := syntax.Var(p, channel)
	if root == nil || p.Decl == nil {
		return nil, nil
	}
	if lit, ok := p.Func.(*ast.FuncLit); ok {
		call, ok := syntax.Parent(p.Outer(), lit).(*ast.CallExpr)
		if ok && p.CalleeName(call) == "(*sync.Map).Range" && ofEntry(p, lit, root) {
			return p, lit
		}
		return nil, nil
	}
	self := p.Info.Defs[p.Decl.Name]
	if s == nil || levels == 0 || self == nil {
		return nil, nil
	}
	for _, in := range s.Calls(func(fn *types.Func) bool { return fn == self }) {
		for _, call := range syntax.Calls(in) {
			if in.Callee(call) != self {
				continue
			}
			passed := flow.ArgumentFor(p, call, root)
			if passed == nil {
				continue
			}
			if at, loop := broadcasts(s, in, call, passed, levels-1); loop != nil {
				return at, loop
			}
		}
	}
	return nil, nil
}

// ofEntry reports whether a variable of a function literal is its parameter, or is set from one.
func ofEntry(p *gocode.Place, lit *ast.FuncLit, v *types.Var) bool {
	if syntax.Inside(lit.Type.Params, v.Pos()) {
		return true
	}
	stmt, value := syntax.Declared(p, v)
	if a, ok := stmt.(*ast.AssignStmt); ok && len(a.Rhs) == 1 { // c, ok := v.(chan int)
		value = a.Rhs[0]
	}
	as, ok := value.(*ast.TypeAssertExpr)
	if !ok {
		return false
	}
	from, _ := syntax.Var(p, as.X)
	return from != nil && syntax.Inside(lit.Type.Params, from.Pos())
}

// on reports whether a send, or the select that it is a case of, starts on the place's line, and
// may block.
func on(p *gocode.Place, stmt *ast.SendStmt) bool {
	for _, n := range p.Enclosing(stmt) {
		switch n := n.(type) {
		case *ast.SelectStmt:
			for _, c := range n.Body.List {
				if c, ok := c.(*ast.CommClause); ok && c.Comm == nil {
					return false
				}
			}
			return syntax.Line(p, n.Pos()) == p.Line
		case *ast.CommClause, *ast.BlockStmt:
			if c, ok := n.(*ast.CommClause); ok && c.Comm != ast.Stmt(stmt) {
				return syntax.Line(p, stmt.Pos()) == p.Line
			}
		default:
			return syntax.Line(p, stmt.Pos()) == p.Line
		}
	}
	return syntax.Line(p, stmt.Pos()) == p.Line
}

// each reports whether a channel is, or belongs to, the element of a loop.
func each(p *gocode.Place, loop *ast.RangeStmt, channel ast.Expr) bool {
	root, _ := syntax.Var(p, channel)
	if root == nil {
		return false
	}
	if over, _ := syntax.Var(p, loop.X); over == root && loop.Key != nil { // list[i] <- v
		index, ok := ast.Unparen(channel).(*ast.IndexExpr)
		return ok && syntax.Same(p, index.Index, loop.Key)
	}
	for _, e := range []ast.Expr{loop.Key, loop.Value} {
		if e == nil {
			continue
		}
		if v, _ := syntax.Var(p, e); v == root {
			return true
		}
	}
	return false
}

// sender returns the send in which a goroutine that stays spends most of its time; nil for none.
func sender(p *rule.Pass, g *wall.Group) *send {
	if g.Runtime || g.Found+g.Created-g.Ended < 1 {
		return nil
	}
	for i := range g.Stacks {
		s := &g.Stacks[i]
		if s.What == "blocked" && s.Seconds >= leastBlocked*g.Seconds {
			return sendAt(p, s.Line)
		}
	}
	return nil
}

// ends reports whether a goroutine ends most waits of requests at a place.
func ends(g *wall.Group, place *requests.PlaceTime) bool {
	switch place.Part {
	case requests.WaitChanSend, requests.WaitChanReceive, requests.WaitSelect:
	default:
		return false
	}
	var by float64
	for _, w := range place.Wakers {
		if w.Line != nil && (w.Line.Function == g.Function || strings.HasPrefix(w.Line.Function, g.Function+".")) {
			by += w.Share
		}
	}
	return by >= bySender
}

// called returns the match of a goroutine that calls each receiver and waits in one of them.
func called(p *rule.Pass, t *traced.Queue, g *wall.Group, c *receivers.Call) rule.Match {
	who := symbol.Short(funcname.Typed(g.Function))
	return rule.Match{
		Site:       c.Site,
		Confidence: rule.Likely, // whether values may be dropped is not known
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("The loop on %s calls %s for each of %s, one after the other: the slowest of them delays all others. %s waits below this line for %s of the time (%s, %s). Requests spend %s of their time waiting for it.",
			c.Where, c.Callee, c.Of, who, units.Percent(c.Share), strings.TrimSpace(c.Wait.What+" "+c.Wait.Why), evidence.Near(p, c.Site, c.Wait.Line), t.Share()),
		Fix: fmt.Sprintf("Give each of %s a queue with a limit and a goroutine of its own that calls %s for what is in it. %s then only puts values into the queues; where one is full, drop the value or the receiver.",
			c.Of, c.Callee, who),
		Evidence: append(t.Evidence(p, who, "mostly ended at"), rule.Evidence{
			What: "waiting at a time", Value: units.Number(t.Waited / t.Length),
		}),
	}
}

func (s *send) match(p *rule.Pass, t *traced.Queue, sender string) rule.Match {
	cause := fmt.Sprintf("The loop on %s sends to the channel of each receiver and waits until it takes the value: one slow receiver delays all others.", s.where)
	if sender == "" {
		cause += fmt.Sprintf(" Requests spend %s of their time waiting here.", t.Share())
	} else {
		cause += fmt.Sprintf(" Requests spend %s of their time waiting for %s, which mostly waits here.", t.Share(), sender)
	}
	return rule.Match{
		Site:       s.site,
		Confidence: rule.Likely, // whether values may be dropped is not known
		Saving:     t.Saving(),
		Cause:      cause,
		Fix: fmt.Sprintf("Do not wait for %s here: send in a select with a default that drops the value or disconnects the receiver, or give each receiver a queue with a limit and a goroutine of its own.",
			s.to),
		Evidence: append(t.Evidence(p, "receivers", "mostly received at"), rule.Evidence{
			What: "waiting at a time", Value: units.Number(t.Waited / t.Length),
		}),
	}
}
