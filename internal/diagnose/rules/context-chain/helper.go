package contextchain

import (
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// helped finds searches below loops that derive their context by a helper, as in ctx = traced(ctx).
type helped struct {
	pass  *rule.Pass
	known map[gocode.Pos]*growth
}

// growth is a statement of a loop that replaces a context by its child.
type growth struct {
	loop ast.Node
	call *ast.CallExpr
	to   ast.Expr
}

func throughHelper(p *rule.Pass) []finder.Line {
	h := helped{pass: p, known: map[gocode.Pos]*growth{}}
	return []finder.Line{{Start: finder.Frames(h.line), Judge: h.judge}}
}

// line returns the leafmost frame of a search whose line is in such a loop; -1 for none.
func (h helped) line(r *site.Row) int {
	searches := false
	for i, f := range r.Stack {
		searches = searches || f.Function == search
		if k := f.Owner.Kind; !searches || k != gocode.Main && k != gocode.Dependency {
			continue
		}
		pos := gocode.Pos{File: f.File, Line: f.Line}
		g, ok := h.known[pos]
		if !ok {
			if p := h.pass.Place(&site.Site{Frame: *f}); p != nil {
				g = growthAround(p)
			}
			h.known[pos] = g
		}
		if g != nil {
			return i
		}
	}
	return -1
}

// growthAround returns the growth of a loop around the line of a place; nil for none.
func growthAround(p *gocode.Place) *growth {
	for _, n := range p.Nodes {
		for _, loop := range loops.Around(p, n) {
			if g := growthIn(p, loop); g != nil {
				return g
			}
		}
	}
	return nil
}

func growthIn(p *gocode.Place, loop ast.Node) *growth {
	var found *growth
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		if _, literal := n.(*ast.FuncLit); literal || found != nil {
			return false
		}
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Rhs) != 1 {
			return true
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok || loops.AtMost(p, loop, call, 4) {
			return true
		}
		for _, to := range a.Lhs {
			v, part := syntax.Var(p, to)
			if v == nil || part || v.IsField() || syntax.Inside(loop, v.Pos()) || !derives(p, call, to) || reset(p, loop, to, call) {
				continue
			}
			found = &growth{loop: loop, call: call, to: to}
		}
		return true
	})
	return found
}

// derives reports whether a function of the package derives its result from the argument ctx.
func derives(p *gocode.Place, call *ast.CallExpr, ctx ast.Expr) bool {
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return false
	}
	inner := p.Entry(decl)
	params := fn.Signature().Params()
	for i, arg := range call.Args {
		if i >= params.Len() || !syntax.Same(p, arg, ctx) {
			continue
		}
		param := params.At(i)
		all := true // every deriver starts from the parameter, and there is one
		some := false
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || !funcname.Match(inner.CalleeName(c), derivers...) || len(c.Args) == 0 {
				return true
			}
			some = true
			v, part := syntax.Var(inner, c.Args[0])
			all = all && v == param && !part
			return true
		})
		return some && all
	}
	return false
}

func (h helped) judge(c *finder.Case) bool {
	p := c.Place
	g := h.known[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if g == nil {
		return false
	}
	c.Callees = []string{search}
	name := syntax.Text(g.call.Fun)
	c.Cause = fmt.Sprintf("Every iteration of the loop on line %d makes %s a child of the last iteration's, with %s on line %d: the chain grows without bound, and each lookup searches all of it.",
		syntax.Line(p, g.loop.Pos()), syntax.Text(g.to), name, syntax.Line(p, g.call.Pos()))
	c.Fix = fmt.Sprintf("Give the derived context a name of its own inside the loop: c := %s(%s, …).", name, syntax.Text(g.to))
	if len(g.call.Args) == 1 {
		c.Fix = fmt.Sprintf("Give the derived context a name of its own inside the loop: c := %s(%s).", name, syntax.Text(g.to))
	}
	return true
}
