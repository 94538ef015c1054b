// Package passperpattern finds texts that are replaced in once per pattern, in a loop over the patterns.
package passperpattern

import (
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// Rule is pass-per-pattern.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "pass-per-pattern",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole text searched once per pattern to be replaced",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// One pass of a Replacer takes as long as several of ReplaceAll, which searches with
				// vector instructions: ten patterns become little faster, hundreds ten times.
				Fraction: rule.Fraction{Expect: 0.7, Low: 0.2, High: 0.97},
				Removes:  true,
			},
			Start: finder.Calls{Functions: []string{"strings.ReplaceAll", "strings.Replace", "bytes.ReplaceAll", "bytes.Replace"}},
			Judge: judge,
		},
	}
}

const doc = `A loop over patterns replaces one pattern after the other in the same text. Each
iteration searches the whole text, most of them for nothing, and each that finds
its pattern copies the whole text.

Build a strings.Replacer of all pairs once, keep it, and let it replace them in
one pass: it walks the text once and looks the patterns up in a trie. It differs
in one thing: it does not replace in what it has put in. Where a later pattern
must match an earlier replacement, keep the loop.

It is fine for a few patterns. The rule reports only loops that were counted
with at least eight iterations each time they are reached, and only where the
text goes through all of them.

Seen in the field: prometheus/common#150 (34 to 54 % less time with a Replacer
in place of calls of strings.Replace).`

// least is the number of patterns from which one pass is faster.
const least = 8

func judge(c *finder.Case) bool {
	p := c.Place
	if len(c.Calls) != 1 || len(c.Calls[0].Args) < 3 {
		return false
	}
	call := c.Calls[0]
	text := syntax.LocalVar(p, call.Args[0])
	loop := p.LoopAround(call)
	if text == nil || loop == nil || !updates(p, loop, call) || syntax.Inside(loop, text.Pos()) {
		return false // also a text of its own in each iteration
	}
	if loops.Invariant(p, loop, call.Args[1]) {
		return false // the same pattern again, until it is gone
	}
	l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(p, loop.Pos()))
	if !ok || l.Iterations < least {
		return false
	}
	c.Cause = fmt.Sprintf("The loop on line %d searches all of %s once for each of %s patterns, and copies it for each that it finds.",
		syntax.Line(p, loop.Pos()), text.Name(), units.Number(l.Iterations))
	c.Fix = "Build a strings.NewReplacer of all pairs once, keep it, and replace them in one pass over the text. It does not replace in what it has put in."
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations each time the loop is reached", units.Number(l.Iterations)),
	})
	return true
}

// updates reports whether a loop assigns the result of a call to the text that it was called with.
func updates(p *gocode.Place, loop ast.Stmt, call *ast.CallExpr) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && len(a.Lhs) == 1 && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == call {
			found = syntax.Same(p, a.Lhs[0], call.Args[0])
		}
		return !found
	})
	return found
}
