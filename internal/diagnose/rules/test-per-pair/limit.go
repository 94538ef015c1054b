package testperpair

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// leastSearched is the minimum mean number of elements that one value is compared with.
const leastSearched = 100

// limited returns the limit with which a condition compares the result of the call, such as the
// distance up to which two texts are similar, if it is the same for all elements of the loop; nil
// for other conditions, and if the call gets the limit.
func (f *pair) limited(p *gocode.Place, cond ast.Expr) ast.Expr {
	if !f.alike(p) {
		return nil
	}
	for _, part := range syntax.Conjuncts(cond) {
		b, ok := ast.Unparen(part).(*ast.BinaryExpr)
		if !ok || b.Op != token.LSS && b.Op != token.LEQ && b.Op != token.GTR && b.Op != token.GEQ {
			continue
		}
		limit := b.Y
		if f.returned(p, b.Y) {
			limit = b.X
		} else if !f.returned(p, b.X) {
			continue
		}
		if v, _ := syntax.Var(p, limit); v != nil && syntax.Mentions(p, f.call, v) || !loops.Invariant(p, f.inner, limit) {
			return nil
		}
		return limit
	}
	return nil
}

// alike reports whether the call compares an element of the loop, or a part of it, with a value of
// the same type that is the same for all elements.
func (f *pair) alike(p *gocode.Place) bool {
	args := f.call.Args
	if to := syntax.Receiver(f.call); to != nil {
		args = append([]ast.Expr{to}, args...)
	}
	vars := variables(p, f.inner, nil)
	for _, a := range args {
		for _, b := range args {
			s, t := p.TypeOf(a), p.TypeOf(b)
			if s != nil && t != nil && types.Identical(s, t) && syntax.Mentions(p, a, vars...) && !syntax.Mentions(p, b, vars...) {
				return true
			}
		}
	}
	return false
}

// returned reports whether an expression is the result of the call.
func (f *pair) returned(p *gocode.Place, e ast.Expr) bool {
	if ast.Unparen(e) == ast.Expr(f.call) {
		return true
	}
	v := syntax.LocalVar(p, e)
	for _, of := range f.results {
		if v == of {
			return true
		}
	}
	return false
}

// describeLimited fills in the words for a comparison of one value with each element of a list, of
// which only few are within a limit.
func describeLimited(c *finder.Case, f *pair, name, each string) {
	hold := "none was while executions were counted"
	if f.hits > 0 {
		hold = fmt.Sprintf("%s of them are", units.Percent(f.hits/f.runs))
	}
	over, limit := syntax.Text(f.over), syntax.Text(f.limit)
	c.Cause = fmt.Sprintf("%s is computed in full for each of %s elements of %s, %s each time, although only results within %s count: %s.",
		name, units.Number(f.n), over, each, limit, hold)
	c.Fix = fmt.Sprintf("Put a cheap bound before the call that most elements fail, and pass %s to it, so that it stops as soon as the result cannot be within it.", limit)
	if f.texts(c.Place.Outer()) {
		c.Fix += " The edit distance of two texts is at least the difference of their lengths, and at least the smallest cell of each row of its table."
	}
	c.Fix += fmt.Sprintf(" For many elements, keep an index of %s that leaves a few candidates (by length, by parts of the text, by cells of a grid).", over)
}

// texts reports whether the call compares two texts.
func (f *pair) texts(p *gocode.Place) bool {
	n := 0
	for _, arg := range f.call.Args {
		if t := p.TypeOf(arg); t != nil && (syntax.StringOrBytes(t) || runes(t)) {
			n++
		}
	}
	return n >= 2
}

func runes(t types.Type) bool {
	elem := syntax.Elem(t)
	if elem == nil {
		return false
	}
	b, ok := elem.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Int32
}
