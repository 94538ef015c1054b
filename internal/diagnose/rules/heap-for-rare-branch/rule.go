// Package heapforrarebranch finds values that are on the heap only because a branch of a function
// which seldom runs keeps them.
package heapforrarebranch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// Rule is heap-for-rare-branch.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "heap-for-rare-branch",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "On the heap for a branch that seldom runs",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 2, // a copy for the literal would not save the literal
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: judge,
		},
	}
}

const doc = `A function gets a function literal and mostly just calls it: for each of a few
elements, in a loop. Another branch, for many elements or a slow path, hands it to
goroutines or stores it. The compiler decides once for all branches whether the
literal may outlive the call. So each call allocates it, and each variable that it
shares, also when that branch does not run. The same holds for a pointer to a local
variable that a function keeps in one branch only.

Choose the branch before the literal is created: test the condition in the caller,
and write a literal for each branch, so that the one that is only called stays on
the stack. Or pass what the literal captures as arguments of a function that both
branches call, and return sums instead of adding them to a shared variable.

It is fine where the branch that keeps it runs often. The rule reports literals and
variables that the compiler moves to the heap for a call of a function of the
package, which keeps them in branches that ran for at most one call in twenty, as
counted.

Seen in the field: livekit/livekit#4875 (a literal for each packet, which only rooms
with many tracks handed to goroutines).`

// mostKept is the share of the executions in which the value may be kept.
const mostKept = 0.05

func judge(c *finder.Case) bool {
	words, known := evidence.Escapes(c.Pass, c.Site)
	line, counted := evidence.Executions(c.Pass, c.Site.Frame)
	if !known || !counted || !evidence.Hot(c.Pass, line) {
		return false
	}
	s := &search{pass: c.Pass}
	k, what := s.literal(c.Place, words), "The function literal"
	if k == nil {
		var v *types.Var
		if k, v = s.shared(c.Place, words); k == nil {
			return false
		}
		what = v.Name()
	}
	c.Confidence = rule.Likely
	if k.confirmed(c.Pass) {
		c.Confidence = rule.Measured
	}
	ran := "never ran while executions were counted"
	if k.runs > 0 {
		ran = fmt.Sprintf("ran %s times for each time that this line ran", units.Number(k.runs/s.runs))
	}
	c.Cause = fmt.Sprintf("%s is on the heap because %s may keep it: on one branch it %s. That branch %s. Without it nothing would be allocated, but the compiler decides for all branches at once.",
		what, k.by, k.words(), ran)
	c.Fix = fmt.Sprintf("Choose the branch before the literal is created: test the condition of %s in %s, and write a literal for each branch, so that the one that is only called stays on the stack. Or pass what it captures as arguments, and return sums instead of adding to a shared variable.",
		k.by, syntax.FuncName(c.Place))
	if what != "The function literal" && !k.literal {
		c.Fix = fmt.Sprintf("Let the branch that keeps it copy *%s first, and keep the address of the copy: %s then stays on the stack.", k.param.Name(), what)
	}
	return true
}

// runsAt sets how often the value is allocated, and reports whether that is known.
func (s *search) runsAt(p *gocode.Place, pos token.Pos) (known bool) {
	s.runs, known = evidence.ReachedAt(s.pass, p, pos)
	return known && s.runs > 0
}

// literal returns where the only function literal of a line is kept; nil if the line allocates
// something else, too.
func (s *search) literal(p *gocode.Place, words []string) *keep {
	nodes := syntax.Allocating(p)
	if len(nodes) != 1 || len(words) != 1 || evidence.Escaping(words[0]) != "func literal" {
		return nil
	}
	lit, ok := nodes[0].(*ast.FuncLit)
	if !ok || !s.runsAt(p, lit.Pos()) {
		return nil
	}
	return s.passed(p, lit)
}

// shared returns where the only variable that a line moves to the heap is kept: by its address, or
// in literals that share it.
func (s *search) shared(p *gocode.Place, words []string) (*keep, *types.Var) {
	if len(words) != 1 || !strings.HasPrefix(words[0], "moved to heap: ") || len(syntax.Allocating(p)) > 0 {
		return nil, nil
	}
	v := syntax.OnLine(p, evidence.Escaping(words[0]))
	if v == nil || !s.runsAt(p, v.Pos()) {
		return nil, nil
	}
	whole := p.Outer()
	var found *keep
	for _, id := range syntax.Uses(whole, v) {
		var value ast.Expr
		if lit := syntax.Capturing(whole, v, id); lit != nil {
			value = lit
		} else if value = address(whole, id); value == nil {
			continue
		}
		k := s.passed(whole, value)
		if k == nil {
			return nil, nil
		}
		found = k
	}
	return found, v
}
