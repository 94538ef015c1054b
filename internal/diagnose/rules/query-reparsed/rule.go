// Package queryreparsed finds URLs whose query is parsed more than once.
package queryreparsed

import (
	"fmt"
	"go/ast"
	"math"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is query-reparsed.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "query-reparsed",
		Kind:  rule.CPU,
		Title: "URL query parsed more than once",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// In a loop all but one of n calls go; a match outside of loops has its own
				// fraction.
				Fraction: rule.Fraction{Expect: 0.8, Low: 0.5, High: 1},
			},
			Start: finder.Calls{Functions: []string{"net/url.(*URL).Query"}},
			Judge: judge,
		},
	}
}

const doc = `URL.Query is not a cheap accessor: each call parses RawQuery again, unescapes
every key and value, and builds a map of slices. A handler that calls
r.URL.Query() for each parameter parses the whole query once per parameter.

Call it once and keep the Values. r.FormValue also parses only once, but it
reads the body too, whose values take precedence over those of the query.

It is fine once per request. Calls of which only one runs (in the branches of an
if or switch) are not counted.

Seen in the field: goadesign/goa#3505 (41 % of a service's allocations),
couchbase/sync_gateway#1850, DataDog/datadog-agent#35211, golang/go#37583.`

func judge(c *finder.Case) bool {
	call := c.Calls[0]
	url := syntax.Receiver(call)
	if url == nil {
		return false
	}
	if loop := loopAround(c.Place, call, url); loop != nil {
		c.Cause = fmt.Sprintf("%s parses the query in every iteration of the loop on line %d, although it does not change.", syntax.Text(call), syntax.Line(c.Place, loop.Pos()))
		c.Fix = fmt.Sprintf("Call %s once before the loop and keep the Values.", syntax.Text(call))
		return true
	}
	n := len(together(c.Place, call, url))
	if n < 2 {
		return helper(c, call, url)
	}
	// One of n calls remains. Without other knowledge the lines share its cost evenly.
	saved := 1 - 1/float64(n)
	c.Fraction = &rule.Fraction{Expect: saved, Low: saved * 0.6, High: math.Min(1, saved*1.3)}
	c.Cause = fmt.Sprintf("%s calls %s at %d places: each call parses the whole query and builds a new map.", syntax.FuncName(c.Place), syntax.Text(call), n)
	c.Fix = fmt.Sprintf("Call it once: q := %s, then q.Get and so on.", syntax.Text(call))
	return true
}

// mostFrames is the number of callers in which several calls are searched.
const mostFrames = 3

// helper judges a function that parses the query of a request that it gets, to return one
// parameter of it: its caller calls it for several parameters. The caller is that of the row that
// costs most.
func helper(c *finder.Case, call *ast.CallExpr, url ast.Expr) bool {
	row := stacks.Largest(slices.Concat(c.CPU, c.Allocs))
	if row == nil || c.Place.Func != c.Place.Decl || assigned(c.Place, c.Place.Func, url) || !named(c.Place) {
		return false
	}
	at := c.Place
	for i := row.Owner + 1; i < len(row.Stack) && i <= row.Owner+mostFrames; i++ {
		f := row.Stack[i]
		place, ok := c.Pass.Syntax.At(f.File, f.Line)
		if !ok || f.Owner.Kind != gocode.Main {
			return false
		}
		root, _ := syntax.Var(at, url)
		up := flow.CallAbove(at, place)
		if up == nil || root == nil {
			return false
		}
		given := flow.ArgumentFor(at, up, root)
		if given == nil {
			return false
		}
		if at == c.Place && loopAround(place, up, given) != nil {
			c.Cause = fmt.Sprintf("%s parses the whole query each time that %s calls it in a loop, although it does not change.", syntax.FuncName(at), syntax.FuncName(place))
			c.Fix = fmt.Sprintf("Call %s once before the loop, and pass the Values to %s.", syntax.Text(call), syntax.FuncName(c.Place))
			return true
		}
		if n := len(same(place, up, given)); n > 1 {
			saved := 1 - 1/float64(n)
			c.Fraction = &rule.Fraction{Expect: saved, Low: saved * 0.6, High: math.Min(1, saved*1.3)}
			c.Cause = fmt.Sprintf("%s calls %s %d times, which parses the whole query each time (%s) and builds a new map.", syntax.FuncName(place), syntax.FuncName(at), n, syntax.Text(call))
			c.Fix = fmt.Sprintf("Call %s once, and pass the Values to %s.", syntax.Text(call), syntax.FuncName(c.Place))
			return true
		}
		at, url = place, given
	}
	return false
}

// named reports whether a function looks up a parameter whose name it gets.
func named(p *gocode.Place) bool {
	found := false
	name := func(of, key ast.Expr) bool {
		t, v := p.TypeOf(of), syntax.LocalVar(p, key)
		return t != nil && t.String() == "net/url.Values" && v != nil && syntax.Param(p, v)
	}
	ast.Inspect(p.Func, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || len(n.Args) > 0 && syntax.Receiver(n) != nil && name(syntax.Receiver(n), n.Args[0])
		case *ast.IndexExpr:
			found = found || name(n.X, n.Index)
		}
		return !found
	})
	return found
}

// same returns the calls of a function in its caller that may run in one execution with the given
// call, itself included, and get the same value.
func same(p *gocode.Place, call *ast.CallExpr, given ast.Expr) (all []*ast.CallExpr) {
	if p.Func == nil {
		return nil
	}
	fn := p.Callee(call)
	ast.Inspect(p.Func, func(n ast.Node) bool {
		other, ok := n.(*ast.CallExpr)
		if !ok || p.Callee(other) != fn {
			return true
		}
		gets := slices.ContainsFunc(append(slices.Clone(other.Args), syntax.Receiver(other)), func(e ast.Expr) bool {
			return e != nil && syntax.Same(p, e, given)
		})
		if other == call || gets && !syntax.Exclusive(p, call, other) {
			all = append(all, other)
		}
		return true
	})
	return all
}

// loopAround returns the innermost loop that calls Query in each iteration on a URL from outside of
// it.
func loopAround(p *gocode.Place, call *ast.CallExpr, url ast.Expr) ast.Node {
	for _, loop := range loops.Around(p, call) {
		if v, _ := syntax.Var(p, url); v != nil && !syntax.Inside(loop, v.Pos()) && !assigned(p, loop, url) && !loops.AtMost(p, loop, call, 1) {
			return loop
		}
	}
	return nil
}

// assigned reports whether a node assigns to the URL, or to the value that contains it.
func assigned(p *gocode.Place, in ast.Node, url ast.Expr) bool {
	root, _ := syntax.Var(p, url)
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			found = found || slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool {
				v, _ := syntax.Var(p, e)
				return v != nil && v == root
			})
		}
		return !found
	})
	return found
}

// together returns the calls of Query on the same URL that may run in one execution of the function
// with the given one, itself included.
func together(p *gocode.Place, call *ast.CallExpr, url ast.Expr) []*ast.CallExpr {
	var all []*ast.CallExpr
	if p.Func == nil || assigned(p, p.Func, url) {
		return nil
	}
	ast.Inspect(p.Func, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && lit != p.Func {
			return false
		}
		other, ok := n.(*ast.CallExpr)
		if ok && p.CalleeName(other) == "(*net/url.URL).Query" && syntax.Receiver(other) != nil && syntax.Same(p, syntax.Receiver(other), url) &&
			(other == call || !syntax.Exclusive(p, call, other)) {
			all = append(all, other)
		}
		return true
	})
	return all
}
