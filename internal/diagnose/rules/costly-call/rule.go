// Package costlycall finds calls on hot paths of functions that are known to be expensive, and for
// which there is a cheaper way.
package costlycall

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
)

// Rule is costly-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "costly-call",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Call of a function that has a cheaper alternative",
		Doc:   doc,
		Finder: finder.Patterns{
			// Rules that know more about a line, such as that its inputs repeat, come first.
			Claim: rule.Claim{Fraction: kept, Specificity: -1, Removes: true},
			Prepare: func(*rule.Pass) []finder.Line {
				return []finder.Line{{Start: finder.Frames(callers()), Judge: judge}}
			},
			Lines: []finder.Line{
				{Start: finder.Rows(finder.TakeOwn), Judge: boxed},
				{Start: finder.Callers{Functions: []string{exporter}, Keep: stacks.Steady}, Judge: exports},
				{Start: finder.Calls{Functions: []string{"runtime.Caller"}}, Judge: frameByFrame},
			},
		},
	}
}

const doc = `Some functions are meant for the start of a program, for people who debug, or for
tests: they prepare something that later calls use (a client with its
connections, a schema, a font), format a value for a person to read, or compare
and copy values of any type by reflection. On a hot path each of them has a
cheaper alternative, which the finding names: create the object once and keep
it, leave the formatting to whoever reads it, write out the few lines that copy
or compare the fields.

It is fine where it runs seldom. The rule knows a list of such functions of the
standard library and of well-known modules. It reports calls that run for at
least one request in twenty, or a hundred times in each run of a program that
exits, and leaves alone those that only fill a value that is kept.

Seen in the field: hyperledger-archives/fabric#647 (15 % of the time in lookups
of settings), opencloud-eu/opencloud#3288 (a policy prepared for each query: 15
times as long), helm/helm#31342, hashicorp/hcl-lang#40 (copies by reflection),
drand/drand#595 (a client for each call), Clever/wag#292 (indented JSON),
stretchr/testify#1614 (frames of the stack, one runtime.Caller for each).`

// callers returns a function that finds, in the stack of a row, the line that calls one of the
// functions from outside of their module.
func callers() func(*site.Row) int {
	all := functions()
	listed := map[string]bool{} // by name: stacks have the same names again and again
	return func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			callee, f := r.Stack[i-1], r.Stack[i]
			is, seen := listed[callee.Function]
			if !seen {
				is = funcname.Match(callee.Function, all...)
				listed[callee.Function] = is
			}
			if is && f.Owner.Module != callee.Owner.Module {
				return i
			}
		}
		return -1
	}
}

func judge(c *finder.Case) bool {
	calls := syntax.CallsOf(c.Place, funcname.TypedAll(functions())...)
	if len(calls) == 0 || !loops.PerCall(c.Place, calls[0]) {
		return false
	}
	call := calls[0]
	e, ok := evidence.ExecutionsAt(c.Pass, c.Place, call.Pos())
	if !ok || !evidence.Hot(c.Pass, e) {
		return false
	}
	name := c.Place.CalleeName(call)
	for _, k := range known() {
		if !funcname.Match(name, funcname.TypedAll(k.functions)...) {
			continue
		}
		if k.services && c.Pass.Manifest.Unit() == "run" {
			return false
		}
		c.Cause = fmt.Sprintf("%s %s. It runs %s per %s.", syntax.Text(call.Fun), k.does, evidence.Times(e.PerUnit), c.Pass.Manifest.Unit())
		c.Fix = k.instead
		c.Fraction = &k.saves
		c.Confidence = rule.Likely
		if k.waits {
			wait(c)
		}
		return true
	}
	return false
}

// leastWaited is the minimum share of the requests' time that they wait at a line for that wait to
// matter more than the CPU of its calls.
const leastWaited = 0.1

// wait prices a line by the time that requests wait at it, if the trace shows that they wait long.
func wait(c *finder.Case) {
	t := traced.QueueAt(c.Pass, c.Site, leastWaited)
	if t == nil {
		return
	}
	c.CPU, c.Allocs, c.Fraction = nil, nil, nil
	c.Saving = t.Saving()
	c.Cause += fmt.Sprintf(" Requests wait there for %s of their time.", t.Share())
	c.Evidence = append(c.Evidence, t.Evidence(c.Pass, "the other side", "woken at")...)
}

// boxed judges a line that converts a value to an interface only to set something to it by
// reflection.
func boxed(c *finder.Case) bool {
	for _, call := range syntax.CallsOf(c.Place, "reflect.ValueOf") {
		if len(call.Args) != 1 || !syntax.Boxes(c.Place, call.Args[0]) || !loops.PerCall(c.Place, call) || !syntax.AllocatesOnly(c.Place, call) {
			continue
		}
		x := syntax.Text(call.Args[0])
		c.Cause = fmt.Sprintf("reflect.ValueOf takes its argument as an interface, so %s is boxed: each call allocates memory for a copy of it.", x)
		c.Fix = fmt.Sprintf("Use a method that takes the value itself (SetInt, SetString, …), or make one reflect.Value of a pointer (reflect.ValueOf(&%s).Elem()) and use it for all.", x)
		c.Confidence = rule.Measured
		return true
	}
	return false
}

// exporter is what sends each span on its own.
const exporter = "go.opentelemetry.io/otel/sdk/trace.(*simpleSpanProcessor).OnEnd"

// exports judges a line that ends a span.
func exports(c *finder.Case) bool {
	c.Cause = "The tracer is set up to export each span when it ends (WithSyncer, or a simple span processor): the request waits until the exporter has encoded and sent it."
	c.Fix = "Use a batch span processor (sdktrace.WithBatcher): spans are sent many at a time by another goroutine."
	c.Fraction = &rule.Fraction{Expect: 0.6, Low: 0.3, High: 0.9} // spans are still encoded
	c.Confidence = rule.Likely
	return true
}
