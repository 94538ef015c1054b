// Package cachestampede finds results that several goroutines compute at the same time for one
// cache.
package cachestampede

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// fewest calls that overlap with one of the same input, and their least share of all calls.
	fewest, leastShare = 10, 0.3
	// mostly is the minimum share of the repeated calls that overlap: the others would find the
	// result in the cache.
	mostly = 0.7
	// same is the minimum share of the results that are equal, where they could be compared.
	same = 0.9
)

// Rule is cache-stampede.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "cache-stampede",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedInputs},
		Title: "The same result computed by several goroutines at once",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own fraction.
				Fraction:    rule.Fraction{Expect: 0.7, Low: 0.3, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function looks into a cache, computes what it does not find, and
stores it. While one goroutine computes, others ask for the same, find nothing
either, and compute it as well. When an entry expires, or after a start, that
may be as many as there are requests at that moment (a cache stampede). The
cache's own lock does not help, because it is not held during the computation.

Use golang.org/x/sync/singleflight: Group.Do with the key runs the function once,
and gives its result to all that ask meanwhile. Or keep an entry with a sync.Once
(sync.OnceValue) in the cache. Look into the cache again inside.

It is fine where computing is cheap, or where the keys hardly repeat. The rule
counts calls that began while another call with the same input was running on
another goroutine; it reports functions for which most repeated calls did.

Seen in the field: caddyserver/caddy#5344 (passwords hashed again),
stormkit-io/stormkit-io#147 (26 queries for one host at one moment).`

func prepare(_ context.Context, p *rule.Pass) (finder.Line, bool) {
	if p.Inputs == nil {
		return finder.Line{}, false
	}
	var suspects []*inputs.Function
	for i := range p.Inputs.Functions {
		if f := &p.Inputs.Functions[i]; overlaps(f) {
			suspects = append(suspects, f)
		}
	}
	if len(suspects) == 0 {
		return finder.Line{}, false
	}
	at := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			k := r.Stack[i].Owner.Kind
			if (k == gocode.Main || k == gocode.Dependency) && slices.ContainsFunc(suspects, func(f *inputs.Function) bool { return f.Name == r.Stack[i-1].Function }) {
				return i
			}
		}
		return -1
	}
	return finder.Line{Start: finder.Frames(at), Judge: func(c *finder.Case) bool { return judge(c, suspects) }}, true
}

// overlaps reports whether most calls of a function that repeat an input started while another one
// with that input ran.
func overlaps(f *inputs.Function) bool {
	again := f.Calls - f.Stable
	return f.Hashed == f.Calls && f.Overlapping >= fewest && float64(f.Overlapping) >= leastShare*float64(f.Calls) &&
		float64(f.Overlapping) >= mostly*float64(again) && float64(f.Same) >= same*float64(f.Compared)
}

func judge(c *finder.Case, suspects []*inputs.Function) bool {
	for _, f := range suspects {
		calls := syntax.CallsTo(c.Place, f.Name)
		if len(calls) == 0 || !looksFirst(c.Place, calls[0]) || !stores(c.Place, calls[0]) {
			continue
		}
		part := float64(f.Overlapping) / float64(f.Calls)
		short := syntax.Text(calls[0].Fun)
		c.Callees = []string{f.Name}
		c.Fraction = &rule.Fraction{Expect: part, Low: part / 2, High: min(1, max(part, 1-float64(f.Stable)/float64(f.Calls)))}
		c.Cause = fmt.Sprintf("%s calls %s for what is not in the cache. Of %s calls, %s started while another goroutine was computing the same result (%s), and each of them stores it.",
			syntax.FuncName(c.Place), short, units.Count(f.Calls), units.Count(f.Overlapping), evidence.Different(units.Count(f.Stable)))
		c.Fix = "Let one goroutine compute it while the others wait for its result: Do of a singleflight.Group (golang.org/x/sync) with the key, and look into the cache again inside Do."
		c.Confidence = rule.Measured
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: fmt.Sprintf("%s of %s calls started while another call with the same input ran", units.Count(f.Overlapping), units.Count(f.Calls))})
		return true
	}
	return false
}

// looksFirst reports whether a condition above a call returns early: the result is there already.
func looksFirst(p *gocode.Place, call *ast.CallExpr) bool {
	found := false
	ast.Inspect(p.Func, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == p.Func
		case *ast.IfStmt:
			last := len(n.Body.List) - 1
			if n.End() < call.Pos() && last >= 0 && syntax.Departs(n.Body.List[last], false) || syntax.Within(n, call) && !syntax.Within(n.Cond, call) {
				found = true
			}
		}
		return !found
	})
	return found
}

// stores reports whether a function keeps the result of a call: it passes it to another function or
// method, or assigns it to an element or a field.
func stores(p *gocode.Place, call *ast.CallExpr) bool {
	switch parent := syntax.Parent(p, call).(type) {
	case *ast.CallExpr:
		return parent.Fun != call && keeps(p, parent)
	case *ast.AssignStmt:
		if slices.ContainsFunc(parent.Lhs, outlives) {
			return true
		}
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	if v == nil {
		return false
	}
	for _, use := range syntax.Reads(p, v) {
		if use.Pos() < call.End() {
			continue
		}
		switch parent := syntax.Parent(p, use).(type) {
		case *ast.CallExpr:
			if parent.Fun != use && keeps(p, parent) {
				return true
			}
		case *ast.AssignStmt:
			if slices.ContainsFunc(parent.Lhs, outlives) {
				return true
			}
		case *ast.UnaryExpr: // &v, into an atomic pointer
			if outer, ok := syntax.Parent(p, parent).(*ast.CallExpr); ok && keeps(p, outer) {
				return true
			}
		}
	}
	return false
}

// outlives reports whether an assigned expression is an element or a field.
func outlives(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.IndexExpr, *ast.SelectorExpr:
		return true
	}
	return false
}

// keeps reports whether a call may store an argument: it is of a method, or of a function of the
// package that sets something outside of it, and its result is not used.
func keeps(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() == nil && !sets(p, p.Declaration(fn)) {
		return false
	}
	if _, statement := syntax.Parent(p, call).(*ast.ExprStmt); statement {
		return true
	}
	results := fn.Signature().Results()
	return results.Len() == 0 || results.Len() == 1 && types.Identical(results.At(0).Type(), types.Universe.Lookup("error").Type())
}

// sets reports whether a function assigns to an element or a field, or passes a value to a method.
func sets(p *gocode.Place, decl *ast.FuncDecl) (found bool) {
	if decl == nil || decl.Body == nil {
		return false
	}
	in := p.Entry(decl)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, outlives)
		case *ast.CallExpr:
			fn := in.Callee(n)
			found = found || len(n.Args) > 1 && fn != nil && fn.Signature().Recv() != nil && fn.Signature().Results().Len() == 0
		}
		return !found
	})
	return found
}
