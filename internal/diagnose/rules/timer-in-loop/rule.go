// Package timerinloop finds timers that a loop or a hot function creates each time.
package timerinloop

import (
	"context"
	"fmt"
	"go/ast"
	"go/constant"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

var makers = []string{"time.After", "time.NewTimer", "time.Tick", "time.NewTicker"}

// Rule is timer-in-loop.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "timer-in-loop",
		Kind:  rule.Alloc,
		Title: "A new timer in every iteration or call",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Reset costs as much as starting a timer, without allocating the timer and its
				// channel.
				Fraction:    rule.Fraction{Expect: 0.75, Low: 0.5, High: 0.9},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `time.After creates a timer and a channel. In a select in a loop it does so in
every iteration, also when another case is ready: three allocations and an entry
in the runtime's timer heap for a timeout that hardly ever fires.

The same holds for a hot function whose select mostly finds another case ready:
a semaphore with a timeout, a send with a deadline. Try the other cases first,
in a select with a default, and create the timer only to wait.

In a loop, create one timer before it and Reset it in each iteration. Since Go
1.23 (by the go line of go.mod) Reset needs no Stop and no draining before, and
the collector frees unreferenced timers. With an older go line the timers of
time.After are kept until they fire, so a long timeout in a busy loop leaks
memory for as long as the timeout lasts.

It is fine in a loop that waits most of the time, for example one that retries
after a pause: the timer then does fire, and iterations are few. Outside of
loops the rule reports only a time.After or a NewTimer for a select with other
cases, and no timeouts below 10 ms, which may well fire.

Seen in the field: cockroachdb/cockroach#4367, hashicorp/nomad#11982.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	old := oldTimers(p)
	judge := func(c *finder.Case) bool { return guilty(c.Place, c.Match, old) }
	take := func(s *site.Site) rule.Match { return finder.TakeCalls(s, makers...) }
	return finder.Line{Start: finder.Rows(take), Judge: judge}
}

// oldTimers reports whether the program's timers are kept until they fire, by the go line of its
// main module (GODEBUG asynctimerchan, Go 1.23).
func oldTimers(p *rule.Pass) bool {
	return p.Code != nil && strings.Contains(p.Code.Setting("DefaultGODEBUG"), "asynctimerchan=1")
}

func guilty(p *gocode.Place, m *rule.Match, old bool) bool {
	for _, call := range syntax.CallsOf(p, makers...) {
		name := p.CalleeName(call)
		loop := p.LoopAround(call)
		switch {
		case loop != nil && !loops.AtMost(p, loop, call, 2) && !kept(p, call):
			m.Cause = fmt.Sprintf("%s creates a timer and its channel in every iteration of the loop on line %d%s.", name, syntax.Line(p, loop.Pos()), alsoWhen(p, call))
			m.Fix = "Create one timer before the loop and call its Reset in each iteration."
		case loop == nil && name == "time.After" && beside(p, call):
			m.Cause = fmt.Sprintf("%s creates a timer and its channel each time %s is called%s.", name, syntax.FuncName(p), alsoWhen(p, call))
			m.Fix = "Try the other cases first, in a select with a default; create a time.NewTimer only when none is ready, and Stop it when one is."
		case loop == nil && name == "time.NewTimer" && waitedFor(p, call):
			m.Cause = fmt.Sprintf("%s creates a timer and its channel each time %s is called, also when another case of the select is ready.", name, syntax.FuncName(p))
			m.Fix = "Try the other cases first, in a select with a default; create the timer only when none is ready."
		default:
			continue
		}
		if old && !stopped(p, call) {
			m.Cause += " The go line of the main module is below 1.23, so each timer is kept until it fires."
			if loop != nil {
				m.Fix += " With a go line below 1.23 in go.mod, Stop it and drain its channel before Reset."
			}
		}
		return true
	}
	return false
}

// stopped reports whether the function stops the timer that a call creates.
func stopped(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	return v != nil && slices.ContainsFunc(syntax.Reads(p, v), func(use *ast.Ident) bool {
		field, ok := syntax.Parent(p.Outer(), use).(*ast.SelectorExpr)
		return ok && field.Sel.Name == "Stop"
	})
}

// shortest is the shortest timeout that seldom fires on a hot line.
const shortest = 10 * time.Millisecond

// beside reports whether a select with other cases receives from a channel of time.After.
func beside(p *gocode.Place, call *ast.CallExpr) bool { return !short(p, call) && others(p, call) > 0 }

// waitedFor reports whether the timer that a call creates is only stopped, and waited for by a
// select with other cases.
func waitedFor(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	if v == nil || short(p, call) || len(syntax.Assigned(p, v)) != 1 {
		return false
	}
	selected := false
	at := p.Outer()
	for _, use := range syntax.Reads(p, v) {
		field, ok := syntax.Parent(at, use).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		switch field.Sel.Name {
		case "Stop":
		case "C":
			if others(at, field) < 1 {
				return false
			}
			selected = true
		default:
			return false // Reset: it serves more than once
		}
	}
	return selected
}

// others returns the number of other cases of the select around a node, none of which is a default;
// -1 for no such select.
func others(p *gocode.Place, n ast.Node) int {
	for _, around := range p.Enclosing(n) {
		s, ok := around.(*ast.SelectStmt)
		if !ok {
			continue
		}
		for _, c := range s.Body.List {
			if c.(*ast.CommClause).Comm == nil {
				return -1 // the timer of a select with a default is another mistake
			}
		}
		return len(s.Body.List) - 1
	}
	return -1
}

// short reports whether the timeout of a call is so short that it may well fire.
func short(p *gocode.Place, call *ast.CallExpr) bool {
	d, ok := p.Const(call.Args[0])
	if !ok {
		return false
	}
	ns, exact := constant.Int64Val(d)
	return exact && time.Duration(ns) < shortest
}

// alsoWhen returns the words for a timer in a select, which mostly does not wait for it.
func alsoWhen(p *gocode.Place, call *ast.CallExpr) string {
	for _, n := range p.Enclosing(call) {
		if _, ok := n.(*ast.CommClause); ok {
			return ", also when another case of the select is ready"
		}
	}
	return ""
}

// kept reports whether the timer is assigned to a field or element: each iteration then has its
// own.
func kept(p *gocode.Place, call *ast.CallExpr) bool {
	switch parent := syntax.Parent(p, call).(type) {
	case *ast.KeyValueExpr, *ast.CompositeLit, *ast.ReturnStmt:
		return true
	case *ast.CallExpr:
		return parent.Fun != call // an argument
	}
	to := syntax.AssignedTo(p, call)
	if to == nil {
		return false
	}
	v := syntax.LocalVar(p, to)
	if v == nil {
		return true
	}
	for _, use := range syntax.Reads(p, v) {
		switch syntax.Parent(p.Outer(), use).(type) {
		case *ast.SelectorExpr, *ast.UnaryExpr, *ast.BinaryExpr:
		default:
			return true // goes elsewhere
		}
	}
	return false
}
