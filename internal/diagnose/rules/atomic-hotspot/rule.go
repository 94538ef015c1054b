// Package atomichotspot finds atomic counters that take much CPU.
package atomichotspot

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of CPU that the addition must take.
	leastShare = 0.05
	// contended is the minimum time of one addition, in seconds, that shows contention: the cache
	// line comes from another core, which takes 25 to 100 ns within a socket. Without contention an
	// addition takes 5 ns, and 10 on a slow machine.
	contended = 25e-9
	// alone is the most that an addition takes without contention.
	alone = 12e-9
)

// Rule is atomic-hotspot.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "atomic-hotspot",
		Kind:  rule.CPU,
		Title: "An atomic counter on a hot path",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A local variable costs next to nothing; one addition at the end replaces many.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
			},
			Start: finder.Sites(adding),
			Judge: judge,
		},
	}
}

const doc = `An atomic addition needs exclusive ownership of the variable's cache line. When
several processors add to one variable, the line moves between them for each
addition: tens to hundreds of nanoseconds instead of one, and more with every
processor. Even without contention it costs about 5 ns, and it stops
out-of-order execution.

In a loop, count in a local variable and add once after it. Across requests,
count per shard (a slice of counters, padded to a cache line, chosen by worker
or by hash) and sum the shards on read.

It is fine where every reader needs the exact value at once, and where counters
are shards already: padded, or selected by an index. No profile shows which
processors contend for a variable. If executions were counted, the time of one
addition shows contention. Other findings are hints, unless the addition is in a
loop, goroutines share the variable, and the loop does not read it.

Seen in the field: golang/go#18802 (sharded values), prometheus/client_golang#2052
(a counter per processor).`

// adding selects the CPU of additions.
func adding(s *site.Site) rule.Match {
	return rule.Match{Site: s, CPU: stacks.Select(s.CPU, adds), Callees: []string{"sync/atomic.*"}}
}

func judge(c *finder.Case) bool {
	total := c.Pass.Table.Totals.TotalSeconds
	calls := additions(c.Place)
	if len(calls) != 1 || total <= 0 {
		return false
	}
	spent, samples := stacks.Sum(c.CPU)
	share := float64(spent) / 1e9 / total
	counter := counted(c.Place, calls[0])
	if share < leastShare || counter == nil || private(c.Place, counter) {
		return false
	}
	if v := examine(c, calls[0], counter, float64(spent)/1e9); !v.fill(c.Match, syntax.Text(counter), share) {
		return false
	}
	c.Evidence = []rule.Evidence{{
		What:    "CPU of the addition",
		Value:   fmt.Sprintf("%s (%d samples)", units.Percent(share), samples),
		Command: evidence.ListCommand(c.Pass, "cpu", c.Site.Function),
	}}
	return true
}

// verdict is what is known about one addition.
type verdict struct {
	each   float64 // CPU seconds of one addition; 0 where executions were not counted
	single bool    // one processor: no contention is possible
	loop   int     // the line of the loop after which the sum can be added; 0 for none
	shared bool    // goroutines share the variable
}

func examine(c *finder.Case, call *ast.CallExpr, counter ast.Expr, seconds float64) verdict {
	place := c.Place
	v := verdict{single: c.Pass.Manifest.Runtime.GOMAXPROCS == 1, shared: shared(place, counter)}
	v.each, _ = evidence.PerExecution(c.Pass, c.Site.Frame, seconds)
	if loop := loops.Repeating(place, call); loop != nil && loops.FromOutside(place, loop, counter) && !read(place, loop, counter) {
		v.loop = syntax.Line(place, loop.Pos())
	}
	return v
}

// fill completes a match. It reports false if no other processor contends for the variable and the
// addition cannot be moved out of a loop.
func (v verdict) fill(m *rule.Match, name string, share float64) bool {
	if v.loop == 0 && (v.single || 0 < v.each && v.each < alone) {
		return false
	}
	m.Confidence = rule.Hint
	m.Cause = fmt.Sprintf("The atomic addition to %s takes %s of CPU.", name, units.Percent(share))
	m.Fix = fmt.Sprintf("If several processors add to it at the same time, count in shards padded to a cache line, and sum the shards where %s is read.", name)
	switch {
	case v.single:
	case v.each >= contended:
		m.Confidence = rule.Likely
		m.Cause += fmt.Sprintf(" One takes %s, not 5 ns: processors contend for the variable's cache line.", units.Seconds(v.each))
		m.Fix = fmt.Sprintf("Count in shards padded to a cache line, and sum the shards where %s is read.", name)
	case v.each > 0:
		m.Cause += fmt.Sprintf(" One takes %s.", units.Seconds(v.each))
	default:
		m.Cause += " No profile shows whether processors contend for its cache line."
	}
	if v.loop > 0 {
		m.Fix = fmt.Sprintf("Count in a local variable and add it to %s once, after the loop on line %d.", name, v.loop)
		if v.shared {
			m.Confidence = rule.Likely
		}
	}
	return true
}

// adds reports whether a row belongs to the addition. The compiler generates one instruction for
// it, so the line itself or the inlined method is the leaf.
func adds(r *site.Row) bool {
	return stacks.Leaf(r) || strings.HasPrefix(stacks.Callee(r), "sync/atomic.") || strings.HasPrefix(stacks.Callee(r), "internal/runtime/atomic.")
}

// additions returns the atomic additions on the line, when they are all that the line does.
func additions(p *gocode.Place) []*ast.CallExpr {
	var found []*ast.CallExpr
	for _, call := range syntax.Calls(p) {
		name := p.CalleeName(call)
		if !strings.Contains(name, "sync/atomic.") || !strings.Contains(name, "Add") {
			return nil
		}
		if _, statement := syntax.Parent(p, call).(*ast.ExprStmt); !statement {
			return nil // the new value is used
		}
		found = append(found, call)
	}
	return found
}

// counted is the variable that a call adds to.
func counted(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if strings.HasPrefix(p.CalleeName(call), "(") {
		return syntax.Receiver(call)
	}
	if u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr); ok {
		return u.X
	}
	return call.Args[0]
}

// private reports whether the variable looks like a shard (an element selected at run time, or
// padded to a cache line), or is a local variable that no other goroutine can refer to.
func private(p *gocode.Place, e ast.Expr) bool {
	v, _ := syntax.Var(p, e)
	if v == nil || indexed(e) || padded(p, e) {
		return true
	}
	stmt, value := syntax.Declared(p, v)
	if stmt == nil {
		return false // a package variable or a parameter
	}
	if _, pointer := v.Type().Underlying().(*types.Pointer); !pointer {
		return p.Func == ast.Node(p.Decl)
	}
	// A pointer from elsewhere may point to any of several variables, unless it is the address of
	// one.
	u, ok := ast.Unparen(value).(*ast.UnaryExpr)
	return !ok || u.Op != token.AND || indexed(u.X)
}

// shared reports whether goroutines share the variable: it is a package variable, or a function
// literal captures it.
func shared(p *gocode.Place, e ast.Expr) bool {
	v, _ := syntax.Var(p, e)
	if v == nil {
		return false
	}
	return v.Parent() == v.Pkg().Scope() || p.Func != ast.Node(p.Decl) && !syntax.Inside(p.Func, v.Pos())
}

// indexed reports whether an expression selects an element by an index.
func indexed(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, is := n.(*ast.IndexExpr)
		found = found || is
		return !found
	})
	return found
}

// leastPadding is the minimum size, in bytes, of a blank field that is padding of a cache line, not
// alignment.
const leastPadding = 32

// padded reports whether the counter is a field of a struct with padding.
func padded(p *gocode.Place, e ast.Expr) bool {
	for {
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			return pads(p.TypeOf(e))
		}
		if pads(p.TypeOf(sel.X)) {
			return true
		}
		e = sel.X
	}
}

// pads reports whether a struct, or the one that a pointer points to, has padding: a blank field,
// or one named "pad".
func pads(t types.Type) bool {
	if t == nil {
		return false
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		name := strings.ToLower(f.Name())
		if (name == "_" || strings.Contains(name, "pad")) && syntax.PlainData(f.Type()) && syntax.Sizes().Sizeof(f.Type()) >= leastPadding || f.Embedded() && pads(f.Type()) {
			return true
		}
	}
	return false
}

// read reports whether the loop mentions the counter more than once.
func read(p *gocode.Place, loop ast.Node, counter ast.Expr) bool {
	uses := 0
	ast.Inspect(loop, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && syntax.Same(p, e, counter) {
			uses++
			return false
		}
		return true
	})
	return uses > 1
}
