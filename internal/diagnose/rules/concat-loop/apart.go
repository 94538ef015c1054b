package concatloop

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// levels is how many callers away from the concatenation the loop may be.
	levels = 3
	// leastLength is the minimum mean length, in bytes, of strings that grow apart from their loop:
	// shorter ones may be set again by other functions.
	leastLength = 128
)

// apart judges a concatenation whose loop does not show at the statement: it is in a caller of a
// method or a function literal, or the loop adds to entries of a map.
func apart(c *finder.Case) bool {
	g, ok := extends(c.Place)
	if !ok {
		return returned(c)
	}
	if !g.claim(c) || !long(c) {
		return false
	}
	to := g.stmt.Lhs[0]
	if at, keyed := ast.Unparen(to).(*ast.IndexExpr); keyed {
		loop := loops.Repeating(c.Place, g.stmt)
		if loop == nil || !isMap(c.Place, at.X) && !again(c.Place, at) || !loops.FromOutside(c.Place, loop, at.X) {
			return false
		}
		if r, ok := loop.(*ast.RangeStmt); ok && syntax.Same(c.Place, r.X, at.X) || resetIn(c.Place, to, loop) {
			return false // each entry once
		}
		c.Cause = fmt.Sprintf("The loop on line %d adds to %s again and again (%s): each time a new string is allocated and all of the old one is copied.",
			syntax.Line(c.Place, loop.Pos()), syntax.Text(to), statement(g.stmt))
		c.Fix = "Keep a *strings.Builder for each key instead of a string, write to it, and call String once the loop is done."
		c.Confidence = rule.Likely
		return true
	}
	if len(loops.Around(c.Place, g.stmt)) > 0 {
		return false
	}
	if cause, ok := visited(c, g); ok {
		c.Cause = cause
		c.Fix = safety.Destination(c.Place, to).Advise(fmt.Sprintf("Let %s be a strings.Builder, which the literal writes to; call String once after the call.", g.name()))
		c.Evidence = evidence.Compiler(c.Pass, c.Site)
		return true
	}
	var by loops.Caller
	c.Keep(func(r *site.Row) bool {
		l, ok := loops.Calling(c.Pass.Syntax, r.Stack, r.Owner, levels)
		if ok = ok && l.Shares(c.Place, to); ok {
			by = l
		}
		return ok
	})
	if c.Empty() {
		return false
	}
	c.Cause = fmt.Sprintf("%s makes %s longer in each call (%s), and the loop on line %d of %s calls it again and again: each time a new string is allocated and all of %s is copied.",
		syntax.FuncName(c.Place), g.name(), statement(g.stmt), by.Line(), by.Name(), g.name())
	c.Fix = fmt.Sprintf("Let %s be a strings.Builder: WriteString appends without a copy; call String once where the text is complete.", g.name())
	c.Fix = safety.Destination(c.Place, to).Advise(c.Fix)
	c.Confidence = rule.Likely // another function may set it again
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return true
}

// leastVisits is how often a function literal must run for each call of the function around it.
const leastVisits = 8

// visited judges a string that a function literal makes longer, for each of many calls of the
// literal in one call of the function around it, as counted: code of another package may have the
// loop.
func visited(c *finder.Case, g growth) (cause string, ok bool) {
	lit, isLit := syntax.FuncAround(c.Place, g.stmt).(*ast.FuncLit)
	v := syntax.LocalVar(c.Place, g.stmt.Lhs[0])
	if !isLit || v == nil || syntax.Inside(lit, v.Pos()) || c.Pass.Counts == nil {
		return "", false
	}
	each, known := evidence.ReachedAt(c.Pass, c.Place, g.stmt.Pos())
	once, also := evidence.ReachedAt(c.Pass, c.Place, v.Pos())
	if !known || !also || once <= 0 || each < leastVisits*once || sets(c.Place, v) > 0 {
		return "", false
	}
	return fmt.Sprintf("A function literal makes %s longer in each call (%s), and runs %s times for each string: each time a new string is allocated and all of %s is copied.",
		g.name(), statement(g.stmt), units.Number(each/once), g.name()), true
}

// sets counts the assignments in function literals or loops that set a string without its old
// value.
func sets(p *gocode.Place, v *types.Var) (n int) {
	ast.Inspect(p.Decl, func(x ast.Node) bool {
		a, ok := x.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, lhs := range a.Lhs {
			if syntax.LocalVar(p, lhs) == v && !mentions(p, a.Rhs[i], lhs) {
				n++
			}
		}
		return true
	})
	return n
}

// again reports whether loops reach the elements of a slice more than once each: the index is not
// the innermost loop's own variable, or another loop is around that.
func again(p *gocode.Place, at *ast.IndexExpr) bool {
	around := loops.Around(p, at)
	v := syntax.LocalVar(p, at.Index)
	if len(around) == 0 || v == nil || !syntax.Inside(around[0], v.Pos()) {
		return len(around) > 0
	}
	return len(around) > 1 && loops.FromOutside(p, around[1], at.X)
}

// returned judges a function that returns its parameter with more at one end, to a loop of its
// caller that replaces the string by the result.
func returned(c *finder.Case) bool {
	v := lengthened(c.Place)
	if v == nil || !long(c) {
		return false
	}
	var by loops.Caller
	var text ast.Expr
	c.Keep(func(r *site.Row) bool {
		l, ok := loops.Calling(c.Pass.Syntax, r.Stack, r.Owner, 1)
		if !ok || !stacks.Leaf(r) && !stacks.Calls(r, concat) {
			return false
		}
		stmt, ok := syntax.Parent(l.Place, l.Call).(*ast.AssignStmt)
		if !ok || len(stmt.Lhs) != 1 || growingLoop(l.Place, stmt) == nil {
			return false
		}
		arg := flow.ArgumentFor(c.Place, l.Call, v)
		if arg == nil || !syntax.Same(l.Place, arg, stmt.Lhs[0]) {
			return false
		}
		by, text = l, arg
		return true
	})
	if c.Empty() {
		return false
	}
	c.Cause = fmt.Sprintf("%s returns %s with more text, and the loop on line %d of %s replaces %s by the result again and again: each time a new string is allocated and all of the old one is copied.",
		syntax.FuncName(c.Place), v.Name(), by.Line(), by.Name(), syntax.Text(text))
	c.Fix = fmt.Sprintf("Let %s write to a *strings.Builder that the loop passes; call String once after the loop.", syntax.FuncName(c.Place))
	c.Fix = safety.Destination(by.Place, text).Advise(c.Fix)
	c.Confidence = rule.Likely
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return true
}

// lengthened returns the parameter that a return statement on the line concatenates with others.
func lengthened(p *gocode.Place) *types.Var {
	for _, n := range p.Nodes {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || len(ret.Results) != 1 || !syntax.IsString(p, ret.Results[0]) {
			continue
		}
		parts := syntax.Operands(ret.Results[0])
		for _, part := range parts {
			if v := syntax.LocalVar(p, part); len(parts) > 1 && v != nil && syntax.Param(p, v) && !syntax.IsResult(p, v) {
				return v
			}
		}
	}
	return nil
}

// extends returns the statement on the line that makes a string longer.
func extends(p *gocode.Place) (found growth, ok bool) {
	for _, n := range p.Nodes {
		if stmt, is := n.(*ast.AssignStmt); is && !ok {
			found, ok = extension(p, stmt)
		}
	}
	return found, ok
}

// long reports whether the strings that a line allocates are long on average.
func long(c *finder.Case) bool {
	bytes, objects := stacks.Sum(c.Allocs)
	return objects > 0 && bytes >= leastLength*objects
}

func isMap(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}
