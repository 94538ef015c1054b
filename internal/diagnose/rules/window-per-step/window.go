package windowperstep

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// window is a loop that only computes something from the elements between two positions, which both
// move with a step, or of which one does.
type window struct {
	loop       ast.Stmt
	steps      ast.Stmt   // the loop over the positions; nil if the position is a parameter
	step       *types.Var // the position
	result     *types.Var
	prefix     bool     // one of its ends is fixed
	suffix     bool     // it is its end
	extreme    bool     // a minimum or maximum
	object     bool     // the result is an object that is given each element
	span       ast.Expr // the condition that ends it, by what elements are; nil for none
	call       string   // the call that gets the window as a part of a list; "" for a loop
	breaks     bool     // that condition leaves the loop
	list       string   // the list of which the call gets a part
	at         int      // its place among the arguments
	iterations float64  // mean; 0 if unknown
}

// windowOf recognises
//
//	for i … { s := 0; for j := i-w+1; j <= i; j++ { s += xs[j] } }
//	for i … { s := 0; for _, x := range xs[i:i+w] { s += x } }
//	for i … { s := 0; for k := range w { s += xs[i+k] } }
//	func(i int) { for j := i; j > i-w; j-- { s = s.Add(at(j)) } }
//	func(i int) { agg.Reset(); for j := i-w; j < i; j++ { agg.Add(at(j)) } }
//	for i, x … { s := 0; for j := i; j >= 0 && x.at-xs[j].at < w; j-- { s += xs[j].n } }
//
// and sums of everything before i. nil for other loops.
func windowOf(p *gocode.Place, loop ast.Stmt) *window {
	low, high, span, vars := bounds(p, loop)
	if vars == nil {
		return nil
	}
	m := moverOf(p, loop, low, high)
	if m.step == nil {
		return nil
	}
	w := &window{loop: loop, steps: m.steps, step: m.step, span: span}
	lowMoves, ok1 := m.moves(low)
	highMoves, ok2 := m.moves(high)
	if !ok1 || !ok2 {
		return nil
	}
	b := &body{p: p, mover: m, vars: vars, fixed: !lowMoves && !highMoves, span: span}
	if span != nil && !b.spans(span) || !b.statements(loops.Body(loop).List) || b.result == nil || !b.fresh() || b.fixed && !b.offset {
		return nil
	}
	w.result, w.extreme, w.object, w.span = b.result, b.extreme, b.object, b.span
	w.suffix = lowMoves && !highMoves
	w.prefix, w.breaks = lowMoves != highMoves && w.span == nil, w.span != span
	return w
}

// moverOf returns how positions change at a loop or call: with the loop around it or, if there is
// none, with a parameter.
func moverOf(p *gocode.Place, at ast.Node, low, high ast.Expr) *mover {
	around := p.LoopAround(at)
	if around != nil && p.Drives(around) {
		around = nil
	}
	m := &mover{p: p, loop: at, steps: around, step: position(p, around)}
	if around == nil {
		m.step = parameter(p, low, high)
	}
	return m
}

// bounds returns the two ends of what a loop goes through, a further condition that ends it, and
// the variables of its elements; nil variables for loops that do not count, or that do not go
// through a part of a list.
func bounds(p *gocode.Place, loop ast.Stmt) (low, high, span ast.Expr, vars map[types.Object]bool) {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		vars = map[types.Object]bool{}
		for _, e := range []ast.Expr{l.Key, l.Value} {
			if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
				vars[p.Object(id)] = true
			}
		}
		if s, ok := ast.Unparen(l.X).(*ast.SliceExpr); ok {
			return s.Low, s.High, nil, vars
		}
		if b, ok := p.TypeOf(l.X).(*types.Basic); ok && b.Info()&types.IsInteger != 0 { // for k := range w
			return nil, l.X, nil, vars
		}
		return nil, nil, nil, nil
	case *ast.ForStmt:
		init, ok1 := l.Init.(*ast.AssignStmt)
		cond, ok2 := l.Cond.(*ast.BinaryExpr)
		if ok2 && cond.Op == token.LAND {
			span = cond.Y
			cond, ok2 = ast.Unparen(cond.X).(*ast.BinaryExpr)
		}
		post, ok3 := l.Post.(*ast.IncDecStmt)
		if !ok1 || !ok2 || !ok3 || len(init.Lhs) != 1 || len(init.Rhs) != 1 || init.Tok != token.DEFINE {
			return nil, nil, nil, nil
		}
		v := syntax.LocalVar(p, init.Lhs[0])
		if v == nil || syntax.LocalVar(p, cond.X) != v || syntax.LocalVar(p, post.X) != v {
			return nil, nil, nil, nil
		}
		vars = map[types.Object]bool{v: true}
		switch {
		case post.Tok == token.INC && (cond.Op == token.LSS || cond.Op == token.LEQ):
			return init.Rhs[0], cond.Y, span, vars
		case post.Tok == token.DEC && (cond.Op == token.GTR || cond.Op == token.GEQ):
			return cond.Y, init.Rhs[0], span, vars
		}
	}
	return nil, nil, nil, nil
}

// position returns the variable that a loop counts up or down by one.
func position(p *gocode.Place, loop ast.Stmt) *types.Var {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		if l.Key == nil || p.TypeOf(l.X) == nil {
			return nil
		}
		switch p.TypeOf(l.X).Underlying().(type) {
		case *types.Slice, *types.Array, *types.Pointer, *types.Basic:
			return syntax.LocalVar(p, l.Key)
		}
	case *ast.ForStmt:
		if post, ok := l.Post.(*ast.IncDecStmt); ok {
			return syntax.LocalVar(p, post.X)
		}
	}
	return nil
}

// parameter returns the integer parameter of the function on which both ends of a window depend, or
// one of them.
func parameter(p *gocode.Place, ends ...ast.Expr) (found *types.Var) {
	for _, end := range ends {
		ast.Inspect(syntax.OrBad(end), func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || found != nil {
				return found == nil
			}
			v := syntax.LocalVar(p, id)
			if v == nil {
				return true
			}
			if !syntax.Param(p, v) {
				stmt, value := syntax.Declared(p, v)
				if call := several(stmt, value); call != nil {
					found = parameter(p, call.Args...)
				} else if value != nil {
					found = parameter(p, value)
				}
				return true
			}
			if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
				found = v
			}
			return true
		})
	}
	return found
}

// mover says how the ends of windows depend on the position.
type mover struct {
	p     *gocode.Place
	loop  ast.Node // through a window, or the call that gets one
	steps ast.Stmt
	step  *types.Var
	depth int
}

// moves reports whether an end of a window moves by one with each position; ok is false if it
// depends on it in another way, or on something else that changes.
func (m *mover) moves(e ast.Expr) (moves, ok bool) {
	if e == nil {
		return false, true
	}
	if _, constant := m.p.Const(e); constant {
		return false, true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return m.variable(x)
	case *ast.BinaryExpr:
		left, ok1 := m.moves(x.X)
		right, ok2 := m.moves(x.Y)
		if !ok1 || !ok2 {
			return false, false
		}
		if left || right {
			return left != right, (x.Op == token.ADD || x.Op == token.SUB && left) && left != right
		}
		return false, true
	case *ast.CallExpr:
		return m.call(x)
	case *ast.SelectorExpr: // the width, kept in a field
		v := syntax.Named(m.p, x)
		root, _ := syntax.Var(m.p, x)
		return false, v != nil && root != m.step && (m.steps == nil || root == nil || !syntax.Inside(m.steps, root.Pos()))
	}
	return false, false
}

// variable follows a variable to what it is declared as.
func (m *mover) variable(id *ast.Ident) (moves, ok bool) {
	v := syntax.LocalVar(m.p, id)
	switch {
	case v == nil:
		_, global := m.p.Object(id).(*types.Var)
		return false, global
	case v == m.step:
		return true, true
	case m.steps != nil && !syntax.Inside(m.steps, v.Pos()):
		return false, !syntax.Changes(m.p, m.steps, v)
	case m.steps == nil && syntax.Param(m.p, v):
		return false, true
	}
	stmt, value := syntax.Declared(m.p, v)
	m.depth++
	if m.depth > 8 {
		return false, false
	}
	if call := several(stmt, value); call != nil {
		for i, lhs := range stmt.(*ast.AssignStmt).Lhs {
			if syntax.LocalVar(m.p, lhs) == v {
				return m.result(call, i)
			}
		}
	}
	if value == nil {
		return false, false
	}
	return m.moves(value)
}

// several returns the call whose results a statement assigns to several variables; nil for none.
func several(stmt ast.Node, value ast.Expr) *ast.CallExpr {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || value != nil || len(a.Rhs) != 1 {
		return nil
	}
	call, _ := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	return call
}

// result judges a result of a function of the package that only computes the ends of a window: its
// position is what the call passes for one parameter.
func (m *mover) result(call *ast.CallExpr, i int) (moves, ok bool) {
	decl := m.p.Declaration(m.p.Callee(call))
	if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
		return false, false
	}
	ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok || i >= len(ret.Results) {
		return false, false
	}
	in := m.p.Entry(decl)
	inner := &mover{p: in, loop: ret, depth: m.depth}
	params := syntax.SignatureOf(in).Params()
	for k, arg := range call.Args {
		passes, ok := m.moves(arg)
		if !ok || k >= params.Len() || passes && inner.step != nil {
			return false, false
		}
		if passes {
			inner.step = params.At(k)
		}
	}
	return inner.moves(ret.Results[i])
}

// call judges len, conversions, and the smaller or larger of two ends.
func (m *mover) call(call *ast.CallExpr) (moves, ok bool) {
	if _, conversion := m.p.Conversion(call); conversion {
		return m.moves(call.Args[0])
	}
	name := m.p.CalleeName(call)
	if name == "len" || length(m.p, call) {
		return false, true
	}
	if moves, ok := m.result(call, 0); ok {
		return moves, true
	}
	fn := m.p.Callee(call)
	if name != "min" && name != "max" && (fn == nil || len(call.Args) != 2 || !extremeName(fn.Name())) {
		return false, false
	}
	for _, arg := range call.Args {
		one, ok := m.moves(arg)
		if !ok {
			return false, false
		}
		moves = moves || one
	}
	return moves, true
}

// length reports whether a call is of a method that returns how many elements its receiver has.
func length(p *gocode.Place, call *ast.CallExpr) bool {
	in, result := syntax.Returned(p, call)
	if in == nil || len(call.Args) > 0 {
		return false
	}
	of, ok := ast.Unparen(result).(*ast.CallExpr)
	return ok && in.CalleeName(of) == "len"
}

func extremeName(name string) bool {
	switch name {
	case "Min", "Max", "min", "max", "MinInt", "MaxInt", "minInt", "maxInt":
		return true
	}
	return false
}
