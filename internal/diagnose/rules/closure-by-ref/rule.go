// Package closurebyref finds variables that are on the heap because a function literal captures
// them by reference, though a copy would do.
package closurebyref

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// largest is the size, in bytes, up to which the compiler captures by value
// (cmd/compile/internal/escape, (*batch).flowClosure).
const largest = 128

// Rule is closure-by-ref.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "closure-by-ref",
		Kind:  rule.Alloc,
		Title: "Variable on the heap because a function literal shares it",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The copied value makes the literal itself larger.
				Fraction:    rule.Fraction{Expect: 0.75, Low: 0.5, High: 0.95},
				Specificity: 1,
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: guilty,
		},
	}
}

const doc = `A function literal shares the variables around it. When it outlives the function
(it is returned, stored, sent or started as a goroutine), a shared variable is
moved to the heap: one allocation for each, in addition to that of the literal.

The compiler copies instead of sharing if the variable is not assigned again
after it is declared, or (in newer compilers) only in straight code before the
first literal. It does not copy a default that is set before a loop whose
iterations create literals. If all assignments come before the literal and no
literal assigns the variable, a copy is the same:
	limit := limit // not assigned again: captured by value
	for _, j := range jobs {
		go func() { j.run(limit) }()
	}

It is fine where the literal and the function really share the variable; the
rule does not report that.

Seen in the field: golang/go#6632, which introduced capturing by value.`

func guilty(c *finder.Case) bool {
	pass, p, m := c.Pass, c.Place, c.Match
	words, _ := evidence.Escapes(pass, m.Site)
	var names []string
	var at []string
	for _, w := range words {
		name := evidence.Escaping(w)
		steps, _ := evidence.EscapeFlow(pass, m.Site, name)
		if !evidence.HasReason(steps, "captured by a closure") {
			continue
		}
		v := syntax.OnLine(p, name)
		if v == nil {
			continue
		}
		lit := copyable(p, v)
		if lit == nil {
			continue
		}
		names = append(names, name)
		at = append(at, fmt.Sprint(syntax.Line(p, lit.Pos())))
	}
	if len(names) == 0 || len(syntax.Allocating(p)) > 0 || moved(words) > len(names) {
		return false
	}
	verb, them := "is", "it"
	if len(names) > 1 {
		verb, them = "are", "them"
	}
	m.Cause = fmt.Sprintf("%s %s moved to the heap because the function literal on line %s shares %s, though nothing assigns to %s after the literal is created.",
		funcname.List(names), verb, at[0], them, them)
	m.Fix = fmt.Sprintf("Copy %s right before the literal into a variable that is not assigned again (%s := %s): the literal then captures the value.", them, names[0], names[0])
	m.Confidence = rule.Measured
	return true
}

// moved returns the number of variables on the line that the compiler moves to the heap.
func moved(words []string) (n int) {
	for _, w := range words {
		if len(w) > 14 && w[:14] == "moved to heap:" {
			n++
		}
	}
	return n
}

// copyable returns the first literal that captures a variable, if a copy would do: no literal
// assigns to the variable or takes its address, and no assignment comes after the first literal or
// is in a loop with it that starts after the declaration.
func copyable(p *gocode.Place, v *types.Var) *ast.FuncLit {
	if syntax.Sizes().Sizeof(v.Type()) > largest {
		return nil
	}
	whole := p.Outer()
	var first *ast.FuncLit
	for _, use := range syntax.Uses(p, v) {
		if lit := syntax.Capturing(whole, v, use); lit != nil && (first == nil || lit.Pos() < first.Pos()) {
			first = lit
		}
	}
	if first == nil {
		return nil
	}
	for _, use := range syntax.Uses(p, v) {
		if p.Info.Defs[use] != nil || !assigns(whole, use) {
			continue
		}
		if syntax.Capturing(whole, v, use) != nil || use.Pos() > first.Pos() || looped(whole, v, first, use) {
			return nil
		}
	}
	return first
}

// assigns reports whether a use of a variable may change it.
func assigns(p *gocode.Place, use *ast.Ident) bool {
	if syntax.Defines(p, use) {
		return true
	}
	var child ast.Node = use
	for _, n := range p.Enclosing(use) {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.SelectorExpr:
		case *ast.IndexExpr:
			if n.X != child {
				return false
			}
		case *ast.IncDecStmt:
			return true
		case *ast.UnaryExpr:
			return n.Op == token.AND
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if lhs == child {
					return true
				}
			}
			return false
		case *ast.CallExpr: // a method may have a pointer receiver
			sel, ok := n.Fun.(*ast.SelectorExpr)
			return ok && n.Fun == child && syntax.TakesAddress(p, sel)
		default:
			return false
		}
		child = n
	}
	return false
}

// looped reports whether a loop that does not declare the variable contains both literal and
// assignment.
func looped(p *gocode.Place, v *types.Var, lit *ast.FuncLit, use *ast.Ident) bool {
	for _, n := range p.Enclosing(lit) {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if syntax.Within(n, use) && !syntax.Inside(n, v.Pos()) {
				return true
			}
		}
	}
	return false
}
