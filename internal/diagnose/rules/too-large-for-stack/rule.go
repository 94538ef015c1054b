// Package toolargeforstack finds variables that are on the heap only because they are large.
package toolargeforstack

import (
	"fmt"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

// Rule is too-large-for-stack.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "too-large-for-stack",
		Kind:  rule.Alloc,
		Title: "Buffer on the heap because it is too large for the stack",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A buffer that is kept must still be cleared where the code relies on zeros.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 1,
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: guilty,
		},
	}
}

const doc = `A variable or literal that does not outlive its function is on the stack, unless
it is too large: the limit of Go 1.26 is 128 KiB for variables and 64 KiB for
make, new and literals (cmd/compile/internal/ir/cfg.go). Above it, each call
allocates the variable on the heap and clears it. Large objects also have a
price of their own: they come from the page heap under a lock, and their size
triggers the next collection earlier.

Use a smaller buffer (32 KiB are enough for copying), or reuse one: before the
loop, in a field, in a sync.Pool. A reused buffer is not zero: clear it if that
matters.

It is fine at startup, and where the large buffer is the result.

Seen in the field: golang/go#26154, golang/go#41635.`

func guilty(c *finder.Case) bool {
	pass, p, m := c.Pass, c.Place, c.Match
	for v, made := range syntax.Buffers(p) {
		if !tooLarge(pass, m) || !loops.PerCall(p, made) || !syntax.AllocatesOnly(p, made) {
			continue
		}
		if !flow.BufferUse(pass, p, v).Contained {
			continue
		}
		m.Cause = fmt.Sprintf("%s is needed only while %s runs, but at %s it is too large for the stack: each call allocates and clears it on the heap.",
			v.Name(), syntax.FuncName(p), size(m, v))
		m.Fix = "Use a smaller buffer (32 KiB are enough for copying), or keep this one: before the loop, in a field of a value that one goroutine uses, or in a sync.Pool."
		return true
	}
	return false
}

// tooLarge reports whether the compiler gives the size as the reason.
func tooLarge(pass *rule.Pass, m *rule.Match) bool {
	words, _ := evidence.Escapes(pass, m.Site)
	for _, w := range words {
		if steps, ok := evidence.EscapeFlow(pass, m.Site, evidence.Escaping(w)); ok && evidence.HasReason(steps, "too large for stack") {
			return true
		}
	}
	return false
}

// size returns the size of an array's type, or else the mean size of the line's allocations.
func size(m *rule.Match, v *types.Var) string {
	if _, ok := v.Type().Underlying().(*types.Array); ok {
		return units.Bytes(float64(syntax.Sizes().Sizeof(v.Type())))
	}
	if bytes, objects := stacks.Sum(m.Allocs); objects > 0 {
		return units.Bytes(float64(bytes) / float64(objects))
	}
	return "its size"
}
