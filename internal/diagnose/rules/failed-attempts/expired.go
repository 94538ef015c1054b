package failedattempts

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// mostly is the share of the waits at a place that timeouts must end.
const mostly = 0.5

// expired returns a match for a place where timeouts end most of the wait, and how many seconds
// they end; nil for others.
func expired(p *rule.Pass, place *requests.PlaceTime) (*rule.Match, float64) {
	var ended float64
	var timer bool
	for _, w := range place.Wakers {
		switch {
		case w.Line == nil:
			timer = timer || w.Share >= mostly
		case w.Line.Function == "context.(*cancelCtx).cancel" && strings.HasPrefix(w.Start, "context.WithDeadline"):
			ended += w.Share
		}
	}
	s := traced.SiteAt(p, *cmp.Or(place.Caller, place.Waiter))
	if s == nil {
		return nil, 0
	}
	in := p.Place(s)
	if in == nil || onPurpose(in) {
		return nil, 0
	}
	object := place.Object
	if timer && ended < mostly && place.Part == requests.WaitSelect && place.Caller == nil {
		if of := replyAt(in); of != "" {
			ended, object = 1, "a value of "+of
			for _, w := range place.Wakers {
				if w.Line != nil {
					ended -= w.Share
				}
			}
		}
	}
	if ended < mostly {
		return nil, 0
	}
	if !place.Named() && object == place.Object {
		object = "what a call on this line asks for"
	}
	waited := ended * float64(place.Time) / 1e9
	return &rule.Match{
		Site: s,
		Cause: fmt.Sprintf("Requests spend %s of their time waiting here for %s until a timeout ends the wait; %s of the waiting time ended this way. The answer does not come in time, and the next request waits for it again.",
			units.Percent(waited/traced.LatencyTotal(p)), object, units.Percent(ended)),
		Fix: "Do not wait for something that has just failed to answer: after some timeouts in a row, go on at once as after a timeout, and let one request in some seconds try again (a circuit breaker). Set the timeout a little above the time that answers usually take. If the other side only has too much to do, ask it less often or for fewer things at a time.",
	}, waited
}

// onPurpose reports whether the function around a place waits for news, by its name: a request that
// gets none in time is answered all the same.
func onPurpose(p *gocode.Place) bool {
	var names []string
	if decl := p.Outer().Decl; decl != nil {
		names = awaited.Words(decl.Name.Name)
	}
	for _, call := range syntax.Calls(p) {
		if fn := p.Callee(call); fn != nil {
			names = append(names, awaited.Words(fn.Name())...)
		}
	}
	return slices.ContainsFunc(names, func(w string) bool {
		return slices.Contains([]string{"poll", "longpoll", "watch", "listen", "subscribe", "stream", "events", "updates", "changes", "follow", "tail", "news", "await", "acquire"}, w)
	})
}

// replyAt returns the channel of which a select on the line waits for a value, with a timer as the
// alternative, if the function made it: for the answer to what it asked. The select must end the
// wait: in a loop, or before another receive from the same channel, the timer may only start
// another attempt. "" for others.
func replyAt(p *gocode.Place) string {
	for _, n := range p.Nodes {
		sel, ok := n.(*ast.SelectStmt)
		if !ok || syntax.Line(p, sel.Pos()) != p.Line || p.LoopAround(sel) != nil {
			continue
		}
		var reply ast.Expr
		timer := false
		for _, c := range sel.Body.List {
			from, used := syntax.ReceivesFrom(c.(*ast.CommClause).Comm)
			switch {
			case from == nil:
				return ""
			case syntax.Times(p, from):
				timer = true
			case used:
				reply = from
			}
		}
		if timer && reply != nil && made(p, reply) && once(p, reply) {
			return syntax.Text(reply)
		}
	}
	return ""
}

// made reports whether the function makes the channel, or what it is a field of.
func made(p *gocode.Place, ch ast.Expr) bool {
	v, part := syntax.Var(p, ch)
	if v == nil || !syntax.Local(p, v) {
		return false
	}
	_, value := syntax.Declared(p, v)
	switch value := ast.Unparen(value).(type) {
	case *ast.CallExpr:
		return funcname.Match(p.CalleeName(value), "make") || syntax.Text(value.Fun) == "make"
	case *ast.CompositeLit:
		return part
	case *ast.UnaryExpr:
		_, lit := value.X.(*ast.CompositeLit)
		return part && lit
	}
	return false
}

// once reports whether the function receives from a channel in one place only.
func once(p *gocode.Place, ch ast.Expr) bool {
	n := 0
	ast.Inspect(syntax.Body(p), func(x ast.Node) bool {
		if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.ARROW && syntax.Same(p, u.X, ch) {
			n++
		}
		return true
	})
	return n == 1
}
