// Package clockperitem finds loops that read the clock in every iteration.
package clockperitem

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// least is the minimum number of readings for each call of the function: a loop of fewer iterations
// is short, however often it runs.
const least = 64

// Rule is clock-per-item.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "clock-per-item",
		Kind:  rule.CPU,
		Title: "Clock read in every iteration",
		Doc:   doc,
		Needs: []rule.Need{rule.NeedCounts},
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are the readings; one in a thousand remains, and the test that skips the
				// others.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Start: finder.Calls{Functions: []string{"time.Now", "time.Since", "time.Until"}},
			Judge: judge,
		},
	}
}

const doc = `time.Now takes about 40 ns, and several times that on virtual
machines whose clock needs a system call. In a loop that handles an element
about as fast, reading the clock is a large part of its time, although the
result is almost the same for all elements.

Read the clock once before the loop and use that time for all elements. Test a
deadline once in 1,024 iterations. To measure a step that takes nanoseconds,
time the whole batch, or one step in a hundred.

It is fine where an iteration takes microseconds or waits. The rule reports
loops with at least 64 readings for each call of the function, as counted in the
recording, also where a function that the loop calls reads the clock, and leaves
alone loops that wait.

Seen in the field: ryodocx/kube-credential-cache#70 (two thirds less time),
cockroachdb/cockroach#133315 (1 % of CPU in a whole database).`

func judge(c *finder.Case) bool {
	for _, call := range c.Calls {
		around := loops.Around(c.Place, call)
		if len(around) == 0 || loops.Waits(c.Place, around[len(around)-1]) {
			continue
		}
		ran, ok := evidence.Executions(c.Pass, c.Site.Frame)
		if !ok || ran.PerCall < least {
			return false
		}
		name := symbol.Short(c.Place.CalleeName(call))
		c.Cause = fmt.Sprintf("%s reads the clock %s per call of %s, once in every iteration.",
			name, evidence.Times(ran.PerCall), syntax.FuncName(c.Place))
		c.Fix = "Read the clock once before the loop and use that time for all iterations."
		switch {
		case limits(c.Place, call):
			c.Fix = "Test the limit once in 1,024 iterations."
		case name == "time.Since":
			c.Fix = "Time the whole loop, or one iteration in a hundred."
		}
		if each, ok := evidence.PerExecution(c.Pass, c.Site.Frame, c.Site.Cost.CPUSeconds); ok {
			c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s per call of the function, %.2g ns each", evidence.Times(ran.PerCall), each*1e9)})
		}
		return true
	}
	return inCaller(c)
}

// levels is how many callers away from the reading the loop may be.
const levels = 3

// inCaller judges a function that reads the clock once, such as a method that reports whether an
// entry has expired, and that a loop of a caller calls for each item.
func inCaller(c *finder.Case) bool {
	if !c.All(func(call *ast.CallExpr) bool { return len(loops.Around(c.Place, call)) == 0 && compares(c.Place, call) }) {
		return false
	}
	var by loops.Caller
	var ran counts.Executions
	c.Keep(func(r *site.Row) bool {
		l, ok := loops.Calling(c.Pass.Syntax, r.Stack, r.Owner, levels)
		if !ok {
			return false
		}
		if around := loops.Around(l.Place, l.Call); loops.Waits(l.Place, around[len(around)-1]) {
			return false
		}
		times, ok := evidence.Executions(c.Pass, *l.Frame)
		if !ok || times.PerCall < least {
			return false
		}
		by, ran = l, times
		return true
	})
	if c.Empty() {
		return false
	}
	name := syntax.FuncName(c.Place)
	c.Cause = fmt.Sprintf("%s reads the clock, and the loop on line %d of %s calls it in every iteration, %s per call: %s each time.",
		name, by.Line(), by.Name(), evidence.Times(ran.PerCall), symbol.Short(c.Name()))
	c.Fix = fmt.Sprintf("Read the clock once before the loop on line %d of %s, and pass the time to %s.", by.Line(), by.Name(), name)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s per call of %s", evidence.Times(ran.PerCall), by.Name())})
	return true
}

// compares reports whether a reading is only compared with another time, or is the only result of
// the function: a time for each item says no more than one for all of them. One that measures the
// item itself does.
func compares(p *gocode.Place, call *ast.CallExpr) bool {
	switch n := syntax.Parent(p, call).(type) {
	case *ast.ReturnStmt:
		return len(n.Results) == 1
	case *ast.SelectorExpr: // time.Now().After(…)
		return true
	case *ast.BinaryExpr: // time.Since(…) > …
		return true
	case *ast.CallExpr: // ….Before(time.Now())
		return strings.HasPrefix(p.CalleeName(n), "(time.Time).")
	}
	return false
}

// limits reports whether the loop ends by the reading: if time.Since(start) > limit { break }.
func limits(p *gocode.Place, call *ast.CallExpr) bool {
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.ForStmt:
			return n.Cond != nil && syntax.Within(n.Cond, call)
		case *ast.IfStmt:
			if !syntax.Within(n.Cond, call) || len(n.Body.List) == 0 {
				return false
			}
			switch last := n.Body.List[len(n.Body.List)-1].(type) {
			case *ast.ReturnStmt:
				return true
			case *ast.BranchStmt:
				return last.Tok == token.BREAK
			}
			return false
		}
	}
	return false
}
