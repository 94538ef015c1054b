// Package rebuiltperedit finds loops that make a new copy of a whole text for each small change.
package rebuiltperedit

import (
	"fmt"
	"go/ast"
	"go/types"
	"math"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastEdits is the minimum number of iterations each time the loop is reached.
	leastEdits = 8
	// leastCopy is the minimum number of bytes that one call allocates, on average.
	leastCopy = 512
)

// Rule is rebuilt-per-edit.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "rebuilt-per-edit",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole text copied for each change of a part",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Each match overrides it with what its number of edits saves.
				Fraction: rule.Fraction{Expect: 0.7, Low: 0.2, High: 0.97},
				Removes:  true,
			},
			Start: finder.Frames(editor),
			Judge: judge,
		},
	}
}

const doc = `A loop passes a text to a function that returns it with one part set, deleted
or replaced, and assigns the result to the same variable. Strings do not change:
each call searches the text, allocates a new one and copies all of it, the parts
that stay the same included. The cost grows with the number of changes times the
length of the text.

Change all parts in one pass: decode the document once, change the decoded
value, encode it once. For text, write the parts and the replacements into a
strings.Builder in their order.

It is fine for a few changes, and for short texts. The rule reports only loops
that were counted with eight or more calls each time, of 512 bytes or more each,
of functions outside of the main module.

Seen in the field: CiscoDevNet/terraform-provider-iosxe#618, oxplot/pdftilecut#1,
Jeffail/gabs#126.`

// editor returns the frame of the program that calls another module or the standard library,
// nearest the leaf; -1 for none.
func editor(r *site.Row) int {
	for i, f := range r.Stack {
		if f.Owner.Kind == gocode.Main {
			if i == 0 || stacks.Calls(r, "runtime.*") && i == r.Owner {
				return -1
			}
			return i
		}
	}
	return -1
}

func judge(c *finder.Case) bool {
	p := c.Place
	ran, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok {
		return false
	}
	for _, call := range syntax.Calls(p) {
		text := edited(p, call)
		if text == nil {
			continue
		}
		loop := p.LoopAround(call)
		if loop == nil || p.Drives(loop) || syntax.Inside(loop, text.Pos()) {
			continue // a text of its own in each iteration
		}
		edits := edits(c, loop, ran.PerCall)
		if edits < leastEdits {
			continue
		}
		allocated, _ := stacks.Sum(c.Allocs)
		bytes, ok := evidence.PerExecution(c.Pass, c.Site.Frame, float64(allocated))
		if !ok || bytes < leastCopy {
			continue
		}
		name := symbol.Short(p.CalleeName(call))
		c.Fraction = fraction(edits)
		c.Confidence = rule.Likely
		c.Cause = fmt.Sprintf("%s returns a new copy of all of %s with one change, and the loop on line %d calls it again for each of %s changes: every call copies the whole text, %s on average.",
			name, text.Name(), syntax.Line(p, loop.Pos()), units.Number(edits), units.Bytes(bytes))
		c.Fix = fmt.Sprintf("Collect the changes and make them in one pass: decode %s once, change the decoded value and encode it once, or write unchanged and new parts into a strings.Builder.", text.Name())
		return true
	}
	return false
}

// edited returns the local variable with a text that a call gets and that its first result is
// assigned to; nil for none.
func edited(p *gocode.Place, call *ast.CallExpr) *types.Var {
	if appends(p.CalleeName(call)) {
		return nil
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	if v == nil || !syntax.StringOrBytes(v.Type()) {
		return nil
	}
	for _, arg := range call.Args {
		if syntax.LocalVar(p, arg) == v {
			return v
		}
	}
	return nil
}

// appends reports whether a function adds to the end of its argument: its copies are amortized.
func appends(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(name, "Append") || name == "append"
}

// edits returns how often the line runs each time its loop is reached.
func edits(c *finder.Case, loop ast.Stmt, perCall float64) float64 {
	l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(c.Place, loop.Pos()))
	if !ok {
		return 0
	}
	return math.Min(l.Iterations, math.Max(perCall, 0))
}

// fraction is what one pass saves of so many: it costs what one to four of them do.
func fraction(edits float64) *rule.Fraction {
	return &rule.Fraction{Expect: 1 - 2/edits, Low: math.Max(0, 1-6/edits) / 2, High: 1 - 1/edits}
}
