// Package metriclabelpercall finds metrics whose labels are formatted and looked up for each event.
package metriclabelpercall

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/labelled"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

// formatters allocate a string for a value. FormatBool is not one: it returns constants.
var formatters = []string{"strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint", "strconv.FormatFloat", "strconv.Quote", "fmt.Sprint*"}

// Of at least manyCalls lookups, at most fewLabels different ones can be kept.
const manyCalls, fewLabels = 10_000, 200

// Rule is metric-label-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "metric-label-per-call",
		Kind:  rule.Alloc,
		Title: "Metric labels formatted and looked up on every event",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// A child that is kept costs a lookup by the number, or nothing. Of 692 ns for
				// WithLabelValues with strconv.Itoa and Inc (8,000 children, client_golang 1.23, Go
				// 1.26) 85 remained with slices of children in a map by the number, 32 of them for
				// Inc, which the rows leave out. A fix that does not follow the advice saves less:
				// a map by a struct with a string took 369 ns. Beside, which was measured with the
				// first, covers the error elsewhere.
				Fraction: rule.Fraction{Expect: 0.92, Low: 0.92, High: 0.92},
				// With nine kinds of other work the whole program saved 0.98 to 1.31 times the
				// line's cost, 1.12 (1.01 to 1.22) on average (go run ./tools/cases -litter
				// labels). Thousands of children that are looked up probably evict other data from
				// the caches.
				Beside:      stats.Interval{Value: 0.2, Low: 0.09, High: 0.3},
				Specificity: 3,
			},
			Start: finder.Frames(caller),
			Judge: guilty,
		},
	}
}

const doc = `requests.WithLabelValues(strconv.Itoa(code), method).Inc() formats a number into
a string, puts the strings into a slice, hashes all of them and looks up the
child under a lock, to add one to a counter. With(prometheus.Labels{…}) builds a
map in addition.

Labels have few values, else the metric itself would be a leak. So keep what is
created for them: the child of a constant label set in a variable, or children
in a map or array by the number; or at least the strings of the numbers in a
table.

It is fine for rare events. Labels that are strings already are reported if the
inputs of the lookup were counted and are few.

Seen in the field: weaviate/weaviate#12036, pingcap/ticdc#5107,
crowdsecurity/cs-haproxy-spoa-bouncer#130, and Coralogix's log parser (2020),
where customer numbers were formatted for each rule that ran.`

// deepest is the number of frames of a client, below the call that resolves a child, up to which
// they are searched.
const deepest = 10

// caller returns the frame that resolves a metric, or that itself formats or allocates. Of a
// client's resolvers, which call each other, the first counts.
func caller(r *site.Row) int {
	if r.Owner < 0 {
		return -1
	}
	at := r.Owner
	for i := r.Owner + 1; i < len(r.Stack) && i < r.Owner+deepest; i++ {
		if labelled.Resolves(r.Stack[i-1].Function) {
			at = i
		}
	}
	return at
}

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, call := range syntax.Calls(p) {
		if labelled.Resolver(p, call) && loops.PerCall(p, call) && usedAtOnce(p, call) {
			if all, _ := labelled.Labels(c.Pass.Syntax, p, call); len(labelled.Unlimited(c.Pass.Syntax, all)) > 0 {
				continue // there is nothing to keep: see unbounded-labels
			}
			if how, fix := labels(c.Pass.Syntax, p, call); how != "" {
				narrow(m, true)
				m.Cause = fmt.Sprintf("%s %s for each event, to find the same few children again and again.", syntax.Text(call.Fun), how)
				m.Fix = fix
				return !m.Empty()
			}
			if n, calls := different(c.Pass, m); n > 0 {
				narrow(m, true)
				m.Cause = fmt.Sprintf("%s hashes the labels and looks up the child under a lock for each event: %s different labels in %s calls.",
					syntax.Text(call.Fun), units.Count(n), units.Count(calls))
				m.Fix = "Look each child up once and keep it: in a field of what the labels belong to, or in an array or a map by its number."
				return !m.Empty()
			}
		}
		if funcname.Match(p.CalleeName(call), formatters...) {
			if to := handedTo(p, call); to != nil {
				narrow(m, false)
				m.Cause = fmt.Sprintf("%s formats a string for each event that is only a label for %s.", syntax.Text(call), syntax.Text(to.Fun))
				m.Fix = "Keep the children by the number they belong to, or at least the strings of the few numbers in a table."
				return !m.Empty()
			}
		}
	}
	return false
}

// different returns how many different labels the lookups of a match had, if they are few, and the
// number of lookups; 0 if they are many or were not counted.
func different(p *rule.Pass, m *rule.Match) (labels, calls int64) {
	for _, r := range m.CPU {
		for i := range r.Stack {
			f := r.Stack[i]
			if f.Line == m.Site.Line && f.Function == m.Site.Function {
				break // what is below was the client's
			}
			in := p.Inputs.Of(f.Function)
			if in != nil && in.Calls >= manyCalls && in.Hashed == in.Calls && in.Different <= fewLabels && in.Different > labels {
				labels, calls = in.Different, in.Calls
			}
		}
	}
	return labels, calls
}

// narrow keeps the rows of formatting, and with all also those of resolving and of the line's
// allocations for it.
func narrow(m *rule.Match, all bool) {
	keep := func(r *site.Row) bool {
		callee := calleeAt(r, m.Site)
		if funcname.Match(callee, formatters...) {
			return true
		}
		return all && (labelled.Resolves(callee) || strings.HasPrefix(callee, "runtime.") || callee == "")
	}
	// The line's own work remains. The client's work below it does not, even if a line of the
	// client owns it.
	m.CPU = stacks.Select(m.CPU, func(r *site.Row) bool { return calleeAt(r, m.Site) != "" && keep(r) })
	m.Allocs = stacks.Select(m.Allocs, keep)
	m.Live = stacks.Select(m.Live, keep)
	m.Callees = formatters
}

// calleeAt returns the function that the site's line called in a row; "" when the line is the leaf.
func calleeAt(r *site.Row, s *site.Site) string {
	for i := 1; i < len(r.Stack); i++ {
		if f := r.Stack[i]; f.Line == s.Line && f.Function == s.Function && f.File == s.File {
			return r.Stack[i-1].Function
		}
	}
	return ""
}

// usedAtOnce reports whether the child that a call returns is only used to record something here,
// and is not stored or returned.
func usedAtOnce(p *gocode.Place, call *ast.CallExpr) bool {
	if _, ok := syntax.Parent(p, call).(*ast.SelectorExpr); ok {
		return true
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	if v == nil {
		return false
	}
	for _, use := range syntax.Reads(p, v) {
		if _, ok := syntax.Parent(p.Outer(), use).(*ast.SelectorExpr); !ok {
			return false
		}
	}
	return true
}

// scope reports whether a call returns a scope, which has metrics by name.
func scope(p *gocode.Place, call *ast.CallExpr) bool {
	obj, _, _ := types.LookupFieldOrMethod(p.Callee(call).Signature().Results().At(0).Type(), true, p.Pkg, "Counter")
	return obj != nil
}

// labels returns what is wrong with the labels of a call, and the fix; "" when they are strings
// that differ.
func labels(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (how, fix string) {
	values, isMap := labelled.Values(p, call)
	var formatted []string
	constant := len(values) > 0
	for _, v := range values {
		if _, ok := p.Const(v); !ok {
			constant = false
		}
		for _, from := range flow.Sources(s, p, v) {
			if formats(from.Place, from.Value) {
				formatted = append(formatted, syntax.Text(from.Value))
				break
			}
		}
	}
	switch {
	case constant:
		return "looks up labels that are always the same", fmt.Sprintf("Resolve the child once, into a variable: var child = %s, and use that.", syntax.Text(call))
	case len(formatted) > 0:
		return "is given " + funcname.List(formatted) + ", made into a string and looked up", "Keep the children by the number they belong to (a map or an array by the number alone, filled when a number is first seen, bounded where numbers come from outside), or at least the strings of the few numbers in a table."
	case isMap && syntax.Receiver(call) != nil && scope(p, call):
		return "is given a map that is built, and sorts its tags into a key", "Resolve the scopes and their counters once, and keep them in an array or a map by what they belong to."
	case isMap:
		return "is given a map that is built", "Use WithLabelValues, which needs no map; better, keep the children in a map or an array by what they belong to."
	}
	return "", ""
}

// formats reports whether an expression makes a new string: of a value of another type, or of
// several strings.
func formats(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		name := p.CalleeName(e)
		return funcname.Match(name, formatters...) || strings.HasSuffix(name, ").String") && len(e.Args) == 0
	case *ast.BinaryExpr:
		_, constant := p.Const(e)
		return syntax.IsString(p, e) && !constant
	}
	return false
}

// handedTo returns the call that gets the string of a formatting call through a local variable with
// no other use; nil when there is none.
func handedTo(p *gocode.Place, call *ast.CallExpr) (to *ast.CallExpr) {
	target := syntax.AssignedTo(p, call)
	if target == nil {
		return nil
	}
	v := syntax.LocalVar(p, target)
	if v == nil || len(syntax.Assigned(p, v)) != 1 {
		return nil
	}
	for _, use := range syntax.Reads(p, v) {
		c, ok := syntax.Parent(p.Outer(), use).(*ast.CallExpr)
		if !ok || !labelled.Resolver(p, c) || !usedAtOnce(p.Outer(), c) {
			return nil
		}
		to = c
	}
	return to
}
