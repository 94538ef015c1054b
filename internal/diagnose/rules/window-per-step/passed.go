package windowperstep

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// leastEach is the minimum time of a call, in seconds, that gets a window if its elements are not
// counted: slices.Max takes about 20 ns for 32 numbers.
const leastEach = 40e-9

// Functions outside of the program that compute a result from the elements of a list.
var (
	extremes = []string{"slices.Max*", "slices.Min*", "gonum.org/v1/gonum/floats.Max", "gonum.org/v1/gonum/floats.Min"}
	sums     = []string{"gonum.org/v1/gonum/floats.Sum", "gonum.org/v1/gonum/stat.Mean"}
)

// partAt returns the window that a call on a line gets, as in mean(xs[i-w : i]); nil for none.
func (s *search) partAt(f *site.Frame, p *gocode.Place) *window {
	for _, call := range syntax.Calls(p) {
		for at, arg := range call.Args {
			if w := partOf(p, call, at, syntax.Origin(p, arg)); w != nil && s.many(f, p, w) {
				return w
			}
		}
	}
	return nil
}

// partOf returns a window that is a part of a list; nil for others.
func partOf(p *gocode.Place, call *ast.CallExpr, at int, arg ast.Expr) *window {
	part, ok := ast.Unparen(arg).(*ast.SliceExpr)
	if !ok || p.TypeOf(part.X) == nil || syntax.IsString(p, part.X) {
		return nil
	}
	m := moverOf(p, call, part.Low, part.High)
	if m.step == nil || !m.steady(part.X) || m.sets(part.X) {
		return nil
	}
	lowMoves, ok1 := m.moves(part.Low)
	highMoves, ok2 := m.moves(part.High)
	if !ok1 || !ok2 || !lowMoves && !highMoves {
		return nil
	}
	for i, arg := range call.Args {
		if moves, ok := m.moves(arg); i != at && (moves || !ok) {
			return nil
		}
	}
	return &window{
		steps: m.steps, step: m.step, prefix: lowMoves != highMoves, suffix: lowMoves && !highMoves,
		at: at, list: syntax.Text(part.X), call: syntax.Text(call.Fun),
	}
}

// steady reports whether a list is the same for all positions.
func (m *mover) steady(list ast.Expr) bool {
	same := true
	ast.Inspect(list, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.FuncLit:
			same = false
		case *ast.Ident:
			v := syntax.LocalVar(m.p, n)
			same = same && (v == nil || v != m.step && (m.steps == nil || !syntax.Inside(m.steps, v.Pos())))
		}
		return same
	})
	return same
}

// sets reports whether the loop over the positions changes elements of a list, as one that sorts.
func (m *mover) sets(list ast.Expr) (found bool) {
	if m.steps == nil {
		return false
	}
	ast.Inspect(loops.Body(m.steps), func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				at, ok := ast.Unparen(lhs).(*ast.IndexExpr)
				found = found || ok && syntax.Same(m.p, at.X, list)
			}
		}
		return !found
	})
	return found
}

// passedAt returns the frame of a row at which such a call gets a window and does nothing but
// compute a result from its elements; -1 for none.
func (s *search) passedAt(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		if k := r.Stack[i].Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if w := s.parts.At(r.Stack[i]); w != nil && s.aggregates(w, r.Stack[i-1]) {
			return i
		}
	}
	return -1
}

// aggregates reports whether a function only computes a result from the elements of a window.
func (s *search) aggregates(w *window, f *site.Frame) bool {
	switch {
	case funcname.Match(f.Function, extremes...):
		w.extreme = true
		return true
	case funcname.Match(f.Function, sums...):
		return true
	}
	p, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || p.Decl == nil || p.Func != ast.Node(p.Decl) {
		return false
	}
	loop, b := through(p, w.at)
	if loop == nil || !w.long(s.pass, f, p, loop) {
		return false
	}
	w.extreme = b.extreme
	return true
}

// through returns the only loop of a function, if that goes through all of a parameter and does
// nothing but compute a result; nil for others.
func through(p *gocode.Place, at int) (loop *ast.RangeStmt, b *body) {
	others := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			others = others || loop != nil
			loop = n
		case *ast.ForStmt, *ast.FuncLit, *ast.GoStmt, *ast.SendStmt:
			others = true
		}
		return !others
	})
	if others || loop == nil {
		return nil, nil
	}
	list := syntax.LocalVar(p, loop.X)
	if list == nil || syntax.ParamIndex(syntax.SignatureOf(p), list) != at || !onlyElements(p, loop, list) {
		return nil, nil
	}
	_, _, _, vars := bounds(p, &ast.RangeStmt{Key: loop.Key, Value: loop.Value, X: &ast.SliceExpr{X: loop.X}})
	b = &body{p: p, mover: &mover{p: p, loop: loop}, vars: vars}
	if !b.statements(loop.Body.List) || b.result == nil || !b.fresh() {
		return nil, nil
	}
	return loop, b
}

// onlyElements reports whether the key of a loop is only used to index its list: a weight would
// depend on the place in the window.
func onlyElements(p *gocode.Place, loop *ast.RangeStmt, list *types.Var) bool {
	if _, isSlice := list.Type().Underlying().(*types.Slice); !isSlice {
		return false
	}
	uses, indexes := 0, 0
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if v := syntax.LocalVar(p, n.Index); v != nil && is(p, loop.Key, v) && syntax.LocalVar(p, n.X) == list {
				indexes++
			}
		case *ast.Ident:
			if v := syntax.LocalVar(p, n); v != nil && is(p, loop.Key, v) {
				uses++
			}
		}
		return true
	})
	return uses == indexes
}

func (s *search) judgePassed(c *finder.Case) bool {
	w := s.parts.At(&c.Site.Frame)
	if w == nil {
		return false
	}
	if w.iterations == 0 {
		value, _ := stacks.Sum(c.CPU)
		seconds, ok := evidence.PerExecution(c.Pass, c.Site.Frame, float64(value)*1e-9)
		if !ok || seconds < leastEach {
			return false
		}
	}
	return s.positions(c, w)
}
