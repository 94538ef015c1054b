// Package closurepercall finds functions that are created on every call, though they could be
// created once: methods that are bound to their receiver, and chains of handlers.
package closurepercall

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is closure-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "closure-per-call",
		Kind:  rule.Alloc,
		Title: "Function created again on every call",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// All of the allocation is saved where the function is created once.
				Fraction: rule.Fraction{Expect: 0.95, Low: 0.6, High: 1},
			},
			Lines: []finder.Line{
				{Start: finder.Rows(finder.TakeOwn), Judge: guilty},
				{Start: finder.Rows(finder.TakeOwn), Judge: recursive},
			},
			Prepare: chains,
		},
	}
}

const doc = `A method value (handler.serve, without a call) is a new function with its
receiver bound. If it outlives the statement, or the compiler cannot see that it
does not, each evaluation allocates it: in a chain of middleware, once per stage
and request. A loop that wraps a handler by each function of a list (h = wrap(h))
allocates a function for each of them, and runs what the functions prepare. So
does a function that calls itself for the rest of the list and returns a new
function for its first element.

Bind the method where the object is created, and keep the function in a field; or
pass the object itself as an interface, which allocates nothing for a pointer.
Build a chain once, where its list or its route is set up.

It is fine where it runs seldom. The rule reports method values that escape
according to the compiler, and whose receiver is a variable or a field; loops
that build a chain which the same function then calls; and recursions over a list
that return a new function for each element.

Seen in the field: urfave/negroni#249 (a chain of middleware bound again for each
request), gofr-dev/gofr#4165 (13 % of all objects of a server),
grafana/grafana-plugin-sdk-go#1437, grpc/grpc-go#4524 (44 % less time).`

func guilty(c *finder.Case) bool {
	words, known := evidence.Escapes(c.Pass, c.Site)
	if !known {
		return false
	}
	var bound []ast.Node
	for _, n := range syntax.Allocating(c.Place) {
		sel, ok := n.(*ast.SelectorExpr)
		if ok && steady(c.Place, sel.X) && slices.ContainsFunc(words, func(w string) bool { return evidence.Escaping(w) == types.ExprString(sel) }) {
			bound = append(bound, sel)
		}
	}
	if len(bound) == 0 || !syntax.AllocatesOnly(c.Place, bound...) || !loops.PerCall(c.Place, bound[0]) {
		return false
	}
	sel, _ := bound[0].(*ast.SelectorExpr)
	name, receiver := syntax.Text(sel), syntax.Text(sel.X)
	c.Cause = fmt.Sprintf("%s is a method value: a new function, with its receiver bound, is allocated each time (the compiler: %s escapes to heap).", name, name)
	c.Fix = fmt.Sprintf("Bind the method once, where %s is created, and keep the function in a field; or pass %s itself as an interface.", receiver, receiver)
	c.Confidence = rule.Measured
	return true
}

// steady reports whether a receiver is a variable or a field, which may be bound in advance.
func steady(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, ok := p.Object(e).(*types.Var)
		return ok
	case *ast.SelectorExpr:
		return steady(p, e.X)
	case *ast.IndexExpr:
		return steady(p, e.X)
	case *ast.UnaryExpr:
		return steady(p, e.X)
	case *ast.StarExpr:
		return steady(p, e.X)
	}
	return false
}
