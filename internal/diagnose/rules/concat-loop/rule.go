// Package concatloop finds strings that grow by concatenation in a loop.
package concatloop

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// concat are the runtime's functions that concatenate strings at run time.
const concat = "runtime.concatstring*"

// Rule is concat-loop.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "concat-loop",
		Kind:  rule.Alloc,
		Title: "String built by concatenation in a loop",
		Doc:   doc,
		Uses:  []rule.Need{rule.NeedCounts},
		Finder: finder.Line{
			Claim: rule.Claim{
				// n iterations copy about n²/2 pieces. A builder copies each piece at most twice:
				// the last string and the builder's growth remain, from a third of the cost (four
				// iterations) to a few percent (fifty: 3,079 ns became 201 ns in the post that the
				// documentation below cites).
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.65, High: 0.97},
				Specificity: 1, // its rows are the concatenation itself, not what it concatenates
			},
			Start: finder.Sites(concatenating),
			Judge: judge,
		},
	}
}

const doc = `A Go string cannot be changed, so s += x makes a new string and copies all of s
into it. In a loop the first piece is copied again in every iteration: n iterations
cost n²/2 copies and n allocations, each a little larger than the last.

Write the pieces into a strings.Builder and call String once after the loop;
call Grow first when the length is known. To repeat one piece there is
strings.Repeat, to put a separator between pieces strings.Join.

The same happens with s = fmt.Sprintf("%s%s", s, x), and with a method that adds
one piece to a field, where the loop is in a caller, and in a function literal that
a library calls for each of its elements (a walk, a query, a ForEach).

It is fine for two pieces, and for a loop that seldom runs: the rule reports
only what the profile shows to cost something. It leaves alone loops of at most
two iterations, and strings that are set again in every iteration.

Seen in the field: the left-pad service of "Profiling and optimizing Go web
applications" (artem.krylysov.com, 2017), where the loop made a third of all
objects. Go's own rewrite for it is the stringsbuilder analyzer of go fix
(golang.org/x/tools/go/analysis/passes/modernize).`

func concatenating(s *site.Site) rule.Match {
	return finder.TakeCallsAndOwn(s, append(formatters(), concat)...)
}

// formatters are functions that return a new string with all of their arguments.
func formatters() []string {
	return []string{"fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln", "strings.Join"}
}

func judge(c *finder.Case) bool {
	growth, ok := grows(c.Place)
	if !ok {
		return apart(c)
	}
	if !growth.claim(c) {
		return false
	}
	c.Cause = growth.cause(c.Place)
	c.Fix = safety.Destination(c.Place, growth.stmt.Lhs[0]).Advise(growth.fix())
	// The compiler reports that s + x escapes, but not that s += x does.
	c.Confidence = evidence.Weigh(c.Pass, c.Site, growth.stmt.Tok == token.ASSIGN)
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return true
}

// growth is an assignment that makes a string longer in every iteration of a loop.
type growth struct {
	stmt    *ast.AssignStmt
	loop    ast.Node
	prepend bool
	through string // the formatter that makes the longer string; "" for an operator
}

// claim narrows a match to the rows that make the longer string.
func (g growth) claim(c *finder.Case) bool {
	c.Keep(func(r *site.Row) bool {
		return g.through != "" && stacks.Calls(r, g.through) || g.through == "" && (stacks.Leaf(r) || stacks.Calls(r, concat))
	})
	if g.through != "" {
		// The new piece is formatted by a Builder, too.
		c.Fraction = &rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.95}
	}
	return !c.Empty()
}

// grows returns the growth on the line of the place.
func grows(p *gocode.Place) (growth, bool) {
	var found growth
	ok := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		stmt, isAssign := n.(*ast.AssignStmt)
		if ok || !isAssign || syntax.Line(p, stmt.Pos()) > p.Line || syntax.Line(p, stmt.End()) < p.Line {
			return !ok
		}
		g, extends := extension(p, stmt)
		if !extends {
			return true
		}
		if g.loop = growingLoop(p, stmt); g.loop != nil {
			found, ok = g, true
		}
		return !ok
	})
	return found, ok
}

// extension reports whether a statement is s += x, s = s + x or s = x + s for a string s, or sets s
// to what a formatter makes of s and others.
func extension(p *gocode.Place, stmt *ast.AssignStmt) (growth, bool) {
	g := growth{stmt: stmt}
	if len(stmt.Lhs) != 1 || len(stmt.Rhs) != 1 || !syntax.IsString(p, stmt.Lhs[0]) {
		return g, false
	}
	switch stmt.Tok {
	case token.ADD_ASSIGN:
		return g, true
	case token.ASSIGN:
		parts := syntax.Operands(stmt.Rhs[0])
		if call, ok := ast.Unparen(stmt.Rhs[0]).(*ast.CallExpr); ok {
			parts, g.through = formatted(p, call)
		}
		for i, part := range parts {
			if len(parts) > 1 && syntax.Same(p, part, stmt.Lhs[0]) {
				g.prepend = i > 0
				return g, true
			}
		}
	}
	return g, false
}

// formatted returns the texts that a call of a formatter puts one after the other, and its name.
func formatted(p *gocode.Place, call *ast.CallExpr) ([]ast.Expr, string) {
	name := p.CalleeName(call)
	if !slices.Contains(formatters(), name) || call.Ellipsis.IsValid() {
		return nil, ""
	}
	switch name {
	case "fmt.Sprintf":
		return call.Args[1:], name
	case "strings.Join":
		list, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
		if !ok {
			return nil, ""
		}
		return list.Elts, name
	}
	return call.Args, name
}

// growingLoop returns the innermost loop whose iterations make the string longer:
// the string is declared outside the loop, the loop does not set it again, and it may have
// more than two iterations.
func growingLoop(p *gocode.Place, stmt *ast.AssignStmt) ast.Node {
	for _, loop := range loops.Around(p, stmt) {
		if !loops.FromOutside(p, loop, stmt.Lhs[0]) || resetIn(p, stmt.Lhs[0], loop) {
			return nil
		}
		if !loops.AtMost(p, loop, stmt, 2) {
			return loop
		}
	}
	return nil
}

// resetIn reports whether every iteration of the loop sets the string to an expression
// without the old value.
func resetIn(p *gocode.Place, e ast.Expr, loop ast.Node) bool {
	for _, stmt := range loops.Body(loop).List {
		a, ok := stmt.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		for i, lhs := range a.Lhs {
			if syntax.Same(p, lhs, e) && !mentions(p, a.Rhs[i], e) {
				return true
			}
		}
	}
	return false
}

func mentions(p *gocode.Place, in, e ast.Expr) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && syntax.Same(p, x, e) {
			found = true
		}
		return !found
	})
	return found
}

func (g growth) name() string { return types.ExprString(g.stmt.Lhs[0]) }

func (g growth) cause(p *gocode.Place) string {
	return fmt.Sprintf("The loop on line %d makes %s longer in every iteration (%s): each time a new string is allocated and all of %s is copied.",
		syntax.Line(p, g.loop.Pos()), g.name(), statement(g.stmt), g.name())
}

func (g growth) fix() string {
	if g.prepend {
		return fmt.Sprintf("Put the pieces before %s in one go: strings.Repeat for one repeated piece, else a strings.Builder filled front to back with %s written last.", g.name(), g.name())
	}
	return fmt.Sprintf("Write the pieces to a strings.Builder (Grow it first when the length is known) and set %s from it once, after the loop.", g.name())
}

func statement(a *ast.AssignStmt) string {
	return types.ExprString(a.Lhs[0]) + " " + a.Tok.String() + " " + syntax.Short(types.ExprString(a.Rhs[0]))
}
