// Package atomichotspot finds loops that count into a variable that all goroutines share.
package atomichotspot

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// leastShare of CPU that the addition must take by itself: one that nobody else wants takes 5 ns.
const leastShare = 0.05

// Rule is atomic-hotspot.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "atomic-hotspot",
		Kind:  rule.CPU,
		Title: "An atomic counter on a hot path",
		Doc:   doc,
		// A local variable costs nothing beside; the addition at the end is one of many.
		Fraction: rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
		Find:     find,
	}
}

const doc = `An atomic addition needs the cache line of the variable for itself. When several
processors add to one variable, the line travels between them for each addition:
tens to hundreds of nanoseconds in place of one, and worse with each processor
more. Even alone it costs some 5 ns, and it keeps the processor from running
ahead.

In a loop, count in a local variable and add once behind it. Across requests,
count per shard (a slice of counters, padded to a cache line, chosen by worker
or by hash) and add the shards up when somebody reads.

It is fine where every reader needs the exact value at once. The rule is sure
only of additions in a loop, whose count nothing in the loop reads.

Seen in the field: golang/go#18802 (sharded values), prometheus/client_golang#2052
(a counter per processor).`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	total := p.Table.Totals.TotalSeconds
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		place := p.Place(s)
		if place == nil || total <= 0 {
			continue
		}
		calls := additions(place)
		if len(calls) != 1 {
			continue
		}
		m := rule.Match{Site: s, CPU: rule.Rows(s.CPU, adds), Callees: []string{"sync/atomic.*"}}
		spent, samples := rule.Sum(m.CPU)
		share := float64(spent) / 1e9 / total
		counter := counted(place, calls[0])
		if share < leastShare || counter == nil || private(place, counter) {
			continue
		}
		name := rule.Text(counter)
		m.Evidence = []rule.Evidence{{What: "CPU of the addition", Value: fmt.Sprintf("%s (%d samples)", rule.Percent(share), samples), Command: p.List("cpu", s.Function)}}
		m.Cause = fmt.Sprintf("The atomic addition to %s takes %s of CPU: the variable's cache line is wanted by everybody who counts.", name, rule.Percent(share))
		m.Fix = fmt.Sprintf("Count in shards that are padded to a cache line and added up by whoever reads %s.", name)
		m.Confidence = rule.Hint
		if loop := rule.Repeats(place, calls[0]); loop != nil && rule.FromOutside(place, loop, counter) && !read(place, loop, counter) {
			m.Confidence = rule.Likely
			m.Fix = fmt.Sprintf("Count in a local variable and add it to %s once, behind the loop on line %d.", name, rule.Line(place, loop.Pos()))
		}
		matches = append(matches, m)
	}
	return matches, nil
}

// adds tells whether a row is in the addition: the compiler makes an instruction of it, so the line itself or
// the inlined method is the leaf.
func adds(r *site.Row) bool {
	return rule.Leaf(r) || strings.HasPrefix(rule.Callee(r), "sync/atomic.") || strings.HasPrefix(rule.Callee(r), "internal/runtime/atomic.")
}

// additions returns the atomic additions on the line, when they are all that the line does.
func additions(p *gocode.Place) []*ast.CallExpr {
	var found []*ast.CallExpr
	for _, call := range rule.Calls(p) {
		name := p.CalleeName(call)
		if !strings.Contains(name, "sync/atomic.") || !strings.Contains(name, "Add") {
			return nil
		}
		if _, statement := rule.Parent(p, call).(*ast.ExprStmt); !statement {
			return nil // somebody wants the new value
		}
		found = append(found, call)
	}
	return found
}

// counted is the variable that a call adds to.
func counted(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if strings.HasPrefix(p.CalleeName(call), "(") {
		return rule.Receiver(call)
	}
	if u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr); ok {
		return u.X
	}
	return call.Args[0]
}

// private tells whether the variable is one of several, chosen at run time, or a local one that no goroutine but
// this can know: shards look like that.
func private(p *gocode.Place, e ast.Expr) bool {
	indexed := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, is := n.(*ast.IndexExpr)
		indexed = indexed || is
		return true
	})
	v, _ := rule.Var(p, e)
	if v == nil || indexed {
		return true
	}
	_, pointer := v.Type().Underlying().(*types.Pointer)
	return !pointer && rule.LocalVar(p, e) != nil && p.Func == ast.Node(p.Decl)
}

// read tells whether something else in the loop names the counter.
func read(p *gocode.Place, loop ast.Node, counter ast.Expr) bool {
	uses := 0
	ast.Inspect(loop, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && rule.Same(p, e, counter) {
			uses++
			return false
		}
		return true
	})
	return uses > 1
}
