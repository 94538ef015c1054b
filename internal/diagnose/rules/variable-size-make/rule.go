// Package variablesizemake finds scratch slices that are on the heap only because their size is
// variable.
package variablesizemake

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// Rule is variable-size-make.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "variable-size-make",
		Kind:  rule.Alloc,
		Title: "Scratch slice on the heap because its size is not constant",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A buffer that is kept must still be cleared where the code relies on zeros.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.6, High: 1},
				Specificity: 1,
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: guilty,
		},
	}
}

const doc = `A slice that does not outlive its function could be on the stack,
but the compiler must know its size: make([]T, n) with a variable n is on the
heap (since Go 1.25, up to 32 bytes are on the stack). The compiler reports
"does not escape" for it, so it is easily overlooked. So is append([]T{x},
xs...) in a loop, which allocates for the elements of xs in each iteration.

If there is a small bound for n, use that constant as the capacity, make([]T, n,
64): the slice is then on the stack (and a larger n panics). Else keep the slice
where the next call can reuse it: in the receiver's struct, as a parameter from
the caller, in a sync.Pool, or before the loop. A reused slice is not zero:
clear it if that matters.

It is fine when n is large and calls are few, or when the result is kept; the
rule does not report that.

Seen in the field: golang/go#20533, golang/go#27625.`

func guilty(c *finder.Case) bool {
	pass, p, m := c.Pass, c.Place, c.Match
	if !evidence.HasFacts(pass, m.Site) {
		return false // only the compiler knows that the slice does not escape
	}
	for _, n := range syntax.Allocating(p) {
		call, ok := n.(*ast.CallExpr)
		if !ok || p.CalleeName(call) != "make" || len(call.Args) < 2 || !loops.PerCall(p, call) {
			continue
		}
		if _, slice := p.TypeOf(call).Underlying().(*types.Slice); !slice {
			continue
		}
		size := call.Args[len(call.Args)-1]
		if _, constant := p.Const(size); constant || escapes(pass, m) || !syntax.AllocatesOnly(p, call) {
			continue
		}
		text := syntax.TypeText(p, p.TypeOf(call))
		m.Confidence = rule.Measured
		m.Cause = fmt.Sprintf("%s uses the %s of %s elements only while it runs, but a slice whose size is not constant is allocated on the heap.",
			syntax.FuncName(p), text, syntax.Text(size))
		if loop := p.LoopAround(call); loop != nil {
			m.Fix = fmt.Sprintf("Create it before the loop on line %d and reuse it in each iteration, growing it when it is too short.", syntax.Line(p, loop.Pos()))
		} else {
			m.Fix = fmt.Sprintf("If %s has a small bound, pass that constant to make as the capacity. Otherwise reuse a buffer: from the caller, a field that one goroutine uses, or a sync.Pool.", syntax.Text(size))
		}
		return true
	}
	return gathers(c)
}

// escapes reports whether, according to the compiler, a make on the line escapes for another reason
// than its size.
func escapes(pass *rule.Pass, m *rule.Match) bool {
	words, _ := evidence.Escapes(pass, m.Site)
	for _, w := range words {
		if !strings.HasPrefix(w, "make(") {
			continue
		}
		steps, _ := evidence.EscapeFlow(pass, m.Site, evidence.Escaping(w))
		if !evidence.HasReason(steps, "non-constant size") {
			return true
		}
	}
	return false
}
