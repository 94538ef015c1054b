package smallwrites

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostFrames is the number of callers in which the loop is searched.
const mostFrames = 8

// above returns the loop of a caller that calls the function around a call again and again, for the
// same writer, and the words for where it is; nil for none. The caller is that of the row that
// costs most.
func above(c *finder.Case, call *ast.CallExpr) (ast.Node, string) {
	row := stacks.Largest(c.CPU)
	if row == nil {
		return nil, ""
	}
	w := followed{at: c.Place, to: writer(c.Place, call)}
	library := false // whether the frames below are of the standard library
	replied := connected(c) && loops.Waits(c.Place, syntax.Body(c.Place))
	for i := row.Owner + 1; i < len(row.Stack) && i <= row.Owner+mostFrames; i++ {
		f := row.Stack[i]
		if f.Owner.Kind == gocode.Std && funcname.Match(f.Function, "fmt.*", "io.*", "encoding/*") {
			library = true
			continue
		}
		place, ok := c.Pass.Syntax.At(f.File, f.Line)
		if !ok || f.Owner.Kind != gocode.Main {
			return nil, ""
		}
		var up *ast.CallExpr
		if library {
			up = w.through(place)
		} else {
			up = w.called(place, row.Stack[i-1].Function)
		}
		if up == nil {
			return nil, ""
		}
		library = false
		if loop := repeating(place, up); loop != nil {
			if replied || loops.AtMost(place, loop, up, 2) || waits(c, f, place, loop, row.Stack[i+1:]) || connected(c) && answered(c, place, loop) ||
				w.to != nil && !loops.FromOutside(place, loop, w.to) || !often(c, f, place, loop, up) {
				return nil, ""
			}
			return loop, fmt.Sprintf(" in %s, through %s,", syntax.FuncName(place), syntax.FuncName(c.Place))
		}
		replied = replied || connected(c) && loops.Waits(place, syntax.Body(place))
	}
	return nil, ""
}

// callersOf returns the frames above the line of the row that costs most.
func callersOf(c *finder.Case) []*site.Frame {
	if row := stacks.Largest(c.CPU); row != nil && row.Owner >= 0 {
		return row.Stack[row.Owner+1:]
	}
	return nil
}

// repeating returns the innermost loop around a call, or the function literal around it that
// another function calls for each element; nil for none.
func repeating(p *gocode.Place, call *ast.CallExpr) ast.Node {
	if around := loops.Around(p, call); len(around) > 0 {
		return around[0]
	}
	return loops.Each(p)
}

// waits reports whether a loop waits between two iterations, and has to write before it does. Of a
// loop over an iterator it examines the body, and the loop of the iterator's function, which the
// frames above the body show.
func waits(c *finder.Case, frame *site.Frame, p *gocode.Place, loop ast.Node, above []*site.Frame) bool {
	over, ok := loop.(*ast.RangeStmt)
	if !ok {
		return loops.Waits(p, loop) && (loops.WaitsForMore(p, loop) || !batch(c, frame, p, loop))
	}
	if _, ok := p.TypeOf(over.X).Underlying().(*types.Signature); !ok {
		return loops.Waits(p, loop)
	}
	if loops.Waits(p, over.Body) || len(above) == 0 {
		return true
	}
	if above[0].Owner.Kind == gocode.Std {
		return !funcname.Match(above[0].Function, "slices.*", "maps.*", "strings.*", "bytes.*")
	}
	iterator, ok := c.Pass.Syntax.At(above[0].File, above[0].Line)
	if !ok {
		return true
	}
	inner := iterator.Loop()
	return inner == nil || loops.Waits(iterator, inner)
}

const (
	// leastBatch is the minimum mean number of iterations of a loop that reads a batch in a
	// request; leastInput that of a loop of a program that reads its input and exits.
	leastBatch = 5
	leastInput = 1000
)

// batch reports whether a loop reads items that are there already, as far as counts show, and
// writes to a file, where nobody waits for single ones: each request has many of them.
func batch(c *finder.Case, frame *site.Frame, p *gocode.Place, loop ast.Node) bool {
	if connected(c) {
		return false
	}
	l, ok := c.Pass.Counts.Loop(frame.Owner.Package, frame.File, syntax.Line(p, loop.Pos()))
	switch {
	case !ok:
		return false
	case c.Pass.Manifest.Unit() == "run":
		return l.Iterations >= leastInput
	}
	return l.Iterations >= leastBatch && evidence.Hot(c.Pass, counts.Executions{PerUnit: l.Entries})
}

// leastEach is the minimum mean number of iterations each time that a loop is reached, and half of
// them must write.
const leastEach = 3

// often reports whether most iterations of a loop write, as counted; frame is in its body. Without
// counts it reports whether a call in the loop is under no condition.
func often(c *finder.Case, frame *site.Frame, p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	writes, ok := evidence.Executions(c.Pass, c.Site.Frame)
	l, counted := c.Pass.Counts.Loop(frame.Owner.Package, frame.File, syntax.Line(p, loop.Pos()))
	if !ok || !counted {
		return !conditional(p, loop, call)
	}
	return l.Iterations >= leastEach && writes.PerUnit >= 0.5*l.Entries*l.Iterations
}

// conditional reports whether a call is in a branch of the body of a loop.
func conditional(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	var child ast.Node = call
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.IfStmt:
			if child == n.Body || child == n.Else {
				return true
			}
		case *ast.CaseClause:
			return true
		}
		if n == loop {
			return false
		}
		child = n
	}
	return false
}

// followed is a writer on its way from the call that writes up to the loop.
type followed struct {
	at *gocode.Place
	to ast.Expr // nil for standard output, and while a function literal has it
	// outer is the writer that a function literal shares with the function around it.
	outer ast.Expr
	decl  *ast.FuncDecl // that function
}

// called follows the writer to a caller, and returns its call of the function below, named as in
// profiles; nil if there is none, or if the caller does not determine the writer.
func (w *followed) called(caller *gocode.Place, below string) *ast.CallExpr {
	up := flow.CallAbove(w.at, caller)
	if up == nil {
		up = loops.CallTo(caller, below)
	}
	if up == nil {
		return nil
	}
	lit, _ := w.at.Func.(*ast.FuncLit)
	switch v := w.variable(); {
	case w.to == nil:
	case v == nil:
		return nil
	case lit != nil && !syntax.Inside(lit, v.Pos()):
		w.outer, w.decl, w.to = w.to, w.at.Decl, nil
	case lit != nil:
		return nil
	case !syntax.Local(w.at, v):
	default:
		if w.to = flow.ArgumentFor(w.at, up, v); w.to == nil {
			return nil
		}
	}
	w.at = caller
	if w.decl != nil && w.decl == caller.Decl && !sameLiteral(caller, lit) {
		w.to, w.outer, w.decl = w.outer, nil, nil
	}
	return up
}

// sameLiteral reports whether a place is in a function literal.
func sameLiteral(p *gocode.Place, lit *ast.FuncLit) bool {
	return lit != nil && p.Func == ast.Node(lit)
}

// through follows a writer to the call that passes it to the standard library, which calls a method
// of it: the function of the line below is that method.
func (w *followed) through(caller *gocode.Place) *ast.CallExpr {
	if w.at.Decl == nil || w.at.Func != ast.Node(w.at.Decl) || w.at.Decl.Recv == nil || !strings.HasPrefix(w.at.Decl.Name.Name, "Write") {
		return nil
	}
	calls := syntax.CallsOf(caller, writing().Types...)
	if len(calls) != 1 {
		return nil
	}
	w.at, w.to = caller, writer(caller, calls[0])
	return calls[0]
}

// variable returns the variable at the root of the writer; nil for none.
func (w *followed) variable() *types.Var {
	if w.to == nil {
		return nil
	}
	v, _ := syntax.Var(w.at, w.to)
	return v
}
