package rescangrowing

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// A loop that adds to a buffer often has a method of the buffer, or a function of another module,
// go through it: the width of a word after each of its letters. The profile has that cost on the
// lines of that function, and how long the buffer is shows in how often its loop runs.

const (
	// leastWalked is the minimum mean number of elements of one pass. Words of a text are shorter.
	leastWalked = 8
	deepest     = 4 // calls from the loop that adds to the one that goes through the buffer
)

// walkers caches which lines have a function go through a buffer that grows.
type walkers struct {
	pass  *rule.Pass
	known map[walkedBy]*walked
	first map[gocode.Pos]*walked
}

// walkedBy is a line and the function that it calls.
type walkedBy struct {
	at     gocode.Pos
	callee string
}

// walked is a call in a loop that goes through a buffer to which the loop adds.
type walked struct {
	buffer     ast.Expr
	callee     string
	line       int     // of the loop that adds
	iterations float64 // of that loop, each time that it is reached
	elements   float64 // that one pass goes through, on average
}

func byHelpers(p *rule.Pass) []finder.Line {
	if p.Syntax == nil || p.Counts == nil {
		return nil
	}
	w := &walkers{p, map[walkedBy]*walked{}, map[gocode.Pos]*walked{}}
	return []finder.Line{{Start: finder.Frames(w.caller), Judge: w.judge}}
}

// caller returns the frame of a row that makes such a call.
func (w *walkers) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		key := walkedBy{gocode.Pos{File: f.File, Line: f.Line}, r.Stack[i-1].Function}
		found, ok := w.known[key]
		if !ok {
			found = w.look(f, key.callee)
			w.known[key] = found
			if found != nil {
				w.first[key.at] = found
			}
		}
		if found != nil {
			return i
		}
	}
	return -1
}

func (w *walkers) judge(c *finder.Case) bool {
	f := w.first[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if f == nil {
		return false
	}
	buffer := syntax.Text(f.buffer)
	c.Cause = fmt.Sprintf("The loop on line %d adds to %s, %s each time it is reached, and in each iteration %s goes through all of %[2]s again, %[5]s elements on average: the time grows with the square of its length.",
		f.line, buffer, units.Number(f.iterations), symbol.Short(f.callee), units.Number(f.elements))
	c.Fix = fmt.Sprintf("Keep the result of %s beside %s: add what each new part contributes, and set it back where %[2]s is emptied.", symbol.Short(f.callee), buffer)
	c.Confidence = rule.Likely
	return true
}

// look returns the call on a line, if a function goes through a buffer for it.
func (w *walkers) look(f *site.Frame, callee string) *walked {
	p, ok := w.pass.Syntax.At(f.File, f.Line)
	if !ok {
		return nil
	}
	for _, call := range syntax.CallsTo(p, callee) {
		stmt, fn := p.LoopAround(call), p.Callee(call)
		if stmt == nil || fn == nil || p.Drives(stmt) || loops.AtMost(p, stmt, call, 1) {
			continue
		}
		l, ok := w.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, stmt.Pos()))
		if !ok || l.Iterations < least {
			continue
		}
		body := loops.Body(stmt)
		for i, arg := range subjects(call) {
			buffer := arg
			if b := bufferOf(p, arg); b != nil {
				buffer = b
			}
			if !othersStay(p, stmt, call, i) || !grows(p, body, buffer) || drops(p, body, call, buffer) {
				continue
			}
			if n := w.passes(fn, received(fn, call, i), 0); n >= leastWalked {
				return &walked{buffer, p.CalleeName(call), syntax.Line(p, stmt.Pos()), l.Iterations, n}
			}
		}
	}
	return nil
}

// othersStay reports whether a call gets the same in each iteration of a loop, except for one of
// its [subjects]. A search for the element that is added would end before the end of a buffer.
func othersStay(p *gocode.Place, loop ast.Node, call *ast.CallExpr, buffer int) bool {
	for i, e := range subjects(call) {
		if i != buffer && !isPackage(p, e) && !loops.Steady(p, loop, e) {
			return false
		}
	}
	return true
}

// received returns the receiver or the parameter by which a function gets a subject of a call.
func received(fn *types.Func, call *ast.CallExpr, i int) *types.Var {
	if syntax.Receiver(call) != nil {
		if i == 0 {
			return fn.Signature().Recv()
		}
		i--
	}
	if params := fn.Signature().Params(); i < params.Len() && !fn.Signature().Variadic() {
		return params.At(i)
	}
	return nil
}

// passes returns how many iterations the loop does by which a function, or one that it calls, goes
// through all of a parameter; 0 if none does.
func (w *walkers) passes(fn *types.Func, v *types.Var, depth int) float64 {
	p, ok := w.pass.Syntax.Declared(fn)
	if !ok || v == nil || depth > deepest {
		return 0
	}
	most := 0.0
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.RangeStmt:
			if isContent(p, n.X, v) && !ends(n.Body) {
				most = max(most, w.iterations(p, n))
			}
		case *ast.CallExpr:
			inner := p.Callee(n)
			for i, arg := range subjects(n) {
				if inner != nil && isContent(p, arg, v) && inner.FullName() != fn.FullName() {
					most = max(most, w.passes(inner, received(inner, n, i), depth+1))
				}
			}
		}
		return true
	})
	return most
}

// isContent reports whether an expression is a variable of a function or the content of the buffer
// that it is.
func isContent(p *gocode.Place, e ast.Expr, v *types.Var) bool {
	if b := bufferOf(p, e); b != nil {
		e = b
	}
	at := syntax.LocalVar(p, e)
	return at != nil && at == v
}

// ends reports whether a loop may end before its last element.
func ends(body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok.String() == "break"
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}

// iterations returns how often a loop iterates each time that it is reached.
func (w *walkers) iterations(p *gocode.Place, loop *ast.RangeStmt) float64 {
	at := p.Fset.Position(loop.Pos())
	l, _ := w.pass.Counts.Loop(p.Pkg.Path(), at.Filename, at.Line)
	return l.Iterations
}
