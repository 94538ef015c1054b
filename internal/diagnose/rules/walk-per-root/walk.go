package walkperroot

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

type search struct{ pass *rule.Pass }

// walk is a walk through a graph that a loop starts for each of many roots.
type walk struct {
	in     *gocode.Place // the function that visits nodes
	region ast.Node      // its part that does: a loop, a function literal, or the whole body
	set    *types.Var    // of the nodes that it has seen
	mark   *ast.AssignStmt
	node   types.Type    // of a node
	start  *gocode.Place // the function that makes the set
	made   ast.Expr      // the set, where it is made
	roots  flow.Repeated // what starts the walks

	visits float64 // nodes that a walk visits
	list   string  // that the walk looks nodes up in
	nodes  float64 // its length
}

// walkAt returns the walk that a line is a part of; nil for none.
func (s *search) walkAt(_ *site.Frame, at *gocode.Place) *walk {
	p := at.Outer()
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	for _, w := range marks(p) {
		if !s.begins(w) || !w.around() || !s.repeats(w) || !w.independent() {
			continue
		}
		line := syntax.Line(at, w.region.Pos()) <= at.Line && at.Line <= syntax.Line(at, w.region.End())
		if line && s.overlaps(w) {
			return w
		}
	}
	return nil
}

// marks returns the statements of a function that add a node to a set which it also tests:
// seen[n.id] = true.
func marks(p *gocode.Place) (all []*walk) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN || !constant(p, a.Rhs[0]) {
			return true
		}
		ix, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
		if !ok {
			return true
		}
		set, node := syntax.LocalVar(p, ix.X), root(p, ix.Index)
		if set == nil || node == nil || !tested(p, set, ix) {
			return true
		}
		all = append(all, &walk{in: p, set: set, mark: a, node: node.Type()})
		return true
	})
	return all
}

// root returns the variable of a node, as n in n.id or n.Key(); nil for others.
func root(p *gocode.Place, e ast.Expr) *types.Var {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 0 {
		e = syntax.OrBad(syntax.Receiver(call))
	}
	v, _ := syntax.Var(p, e)
	return v
}

// constant reports whether a value is the same for all members of a set: true or struct{}{}.
func constant(p *gocode.Place, e ast.Expr) bool {
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	value, ok := p.Const(e)
	return ok && value.String() == "true"
}

// tested reports whether a function looks a node up in a set, apart from where it adds one.
func tested(p *gocode.Place, set *types.Var, added *ast.IndexExpr) (found bool) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		ix, ok := n.(*ast.IndexExpr)
		found = found || ok && ix != added && syntax.LocalVar(p, ix.X) == set && syntax.Same(p, ix.Index, added.Index)
		return !found
	})
	return found
}

// begins finds where the set of a walk is made: in the same function, or in the only other one that
// passes it.
func (s *search) begins(w *walk) bool {
	if !syntax.Param(w.in, w.set) {
		_, value := syntax.Declared(w.in, w.set)
		w.start, w.made = w.in, value
		return value != nil && syntax.Makes(w.in, value)
	}
	for _, arg := range flow.Passed(s.pass.Syntax, w.in, w.set) {
		if arg.Decl == w.in.Decl {
			if syntax.LocalVar(arg.Place, arg.Value) != w.set {
				return false
			}
			continue
		}
		made := syntax.Origin(arg.Place, arg.Value)
		if w.start != nil || !syntax.Makes(arg.Place, made) {
			return false
		}
		w.start, w.made = arg.Outer(), made
	}
	return w.start != nil
}

// around finds the part of the function that visits nodes: the function itself or a literal, if it
// calls itself, or the loop over a list of nodes to visit.
func (w *walk) around() bool {
	if w.start.Decl != w.in.Decl {
		w.region = w.in.Decl.Body
		return w.recurs()
	}
	var loop ast.Node
	for _, n := range w.in.Enclosing(w.mark) {
		if syntax.Inside(n, w.made.Pos()) {
			continue
		}
		switch n.(type) {
		case *ast.FuncLit:
			w.region = n
		case *ast.ForStmt, *ast.RangeStmt:
			if loop == nil || syntax.Within(n, loop) {
				loop = n
			}
		}
	}
	if w.region == nil {
		w.region = loop
	}
	if _, literal := w.region.(*ast.FuncLit); literal {
		return w.recurs()
	}
	visiting, ok := w.region.(*ast.ForStmt)
	return ok && visiting.Init == nil // as long as there are nodes
}

// recurs reports whether the function that visits nodes calls itself, with the same for all
// parameters but the node.
func (w *walk) recurs() bool {
	called := false
	same := true
	ast.Inspect(w.region, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !w.itself(call) {
			return true
		}
		called = true
		for _, arg := range call.Args {
			v := syntax.LocalVar(w.in, arg)
			same = same && (v != nil && v == w.set || w.isNode(w.in.TypeOf(arg)) || v != nil && !syntax.Inside(w.region, v.Pos()))
		}
		if to := syntax.Receiver(call); to != nil && !w.isNode(w.in.TypeOf(to)) {
			v := syntax.LocalVar(w.in, to)
			same = same && v != nil && w.in.Decl.Recv != nil && syntax.Inside(w.in.Decl.Recv, v.Pos())
		}
		return true
	})
	return called && same
}

// itself reports whether a call is of the function that visits nodes.
func (w *walk) itself(call *ast.CallExpr) bool {
	lit, ok := w.region.(*ast.FuncLit)
	if !ok {
		fn := w.in.Callee(call)
		return fn != nil && types.Object(fn.Origin()) == w.in.Object(w.in.Decl.Name)
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	to, named := syntax.AssignedTo(w.in, lit).(*ast.Ident)
	return ok && named && w.in.Object(id) == w.in.Object(to)
}

// isNode reports whether a type is that of a node, or of what it is found by.
func (w *walk) isNode(t types.Type) bool {
	if t == nil {
		return false
	}
	key := w.in.TypeOf(ast.Unparen(w.mark.Lhs[0]).(*ast.IndexExpr).Index)
	return types.Identical(t, w.node) || key != nil && types.Identical(t, key)
}

// independent reports whether what a walk does with a node does not depend on the root, nor on the
// number of steps from it.
func (w *walk) independent() bool {
	fine := true
	ast.Inspect(w.region, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, ok := w.in.Object(n).(*types.Var)
			fine = fine && !(ok && v != w.set && !syntax.Inside(w.region, v.Pos()) && w.ofRoot(v) && !w.noted(n))
		case *ast.IfStmt:
			fine = fine && !ordered(w.in, n.Cond)
		case *ast.ForStmt:
			fine = fine && !ordered(w.in, n.Cond)
		case *ast.CompositeLit:
			fine = fine && !steps(w.in, n.Elts)
		case *ast.CallExpr:
			fine = fine && !steps(w.in, n.Args)
		case *ast.GoStmt, *ast.SendStmt:
			fine = false
		}
		return fine
	})
	return fine
}

// noted reports whether the root is only added to a list, as one from which some node is reached.
func (w *walk) noted(id *ast.Ident) bool {
	call, ok := syntax.Parent(w.in, id).(*ast.CallExpr)
	return ok && w.in.CalleeName(call) == "append"
}

// ofRoot reports whether a variable of the function that makes the set is the root, or depends on
// it: not the list of nodes to visit, which starts with it.
func (w *walk) ofRoot(v *types.Var) bool {
	p := w.start
	if w.in.Decl != p.Decl || !syntax.Local(p, v) || w.isNode(syntax.Elem(v.Type())) {
		return false
	}
	if syntax.Param(p, v) {
		call, ok := w.roots.Node.(*ast.CallExpr)
		if !ok || w.roots.Place.Decl == p.Decl {
			return false
		}
		arg := flow.ArgumentFor(p, call, v)
		return arg == nil || !loops.Invariant(w.roots.Place, w.roots.Loop, arg)
	}
	_, value := syntax.Declared(p, v)
	if value == nil {
		return w.roots.Place.Decl == p.Decl && syntax.Inside(w.roots.Loop, v.Pos()) && w.isNode(v.Type())
	}
	found := false
	ast.Inspect(value, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && !found {
			x, ok := p.Object(id).(*types.Var)
			found = ok && x != v && !x.IsField() && !syntax.Inside(value, x.Pos()) && x.Pos() < v.Pos() && w.ofRoot(x)
		}
		return !found
	})
	return found
}

// ordered reports whether a condition compares what may be a distance: not the length of a list.
func ordered(p *gocode.Place, cond ast.Expr) (found bool) {
	ast.Inspect(syntax.OrBad(cond), func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || b.Op != token.LSS && b.Op != token.LEQ && b.Op != token.GTR && b.Op != token.GEQ {
			return true
		}
		length := false
		for _, side := range []ast.Expr{b.X, b.Y} {
			call, ok := ast.Unparen(side).(*ast.CallExpr)
			length = length || ok && p.CalleeName(call) == "len"
		}
		found = found || !length
		return true
	})
	return found
}

// steps reports whether one of some expressions is a number that is one more or less.
func steps(p *gocode.Place, list []ast.Expr) bool {
	for _, e := range list {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		b, ok := ast.Unparen(e).(*ast.BinaryExpr)
		if ok && (b.Op == token.ADD || b.Op == token.SUB) && !syntax.IsString(p, b) {
			return true
		}
	}
	return false
}

// repeats finds the loop that starts the walks, and counts what each visits.
func (s *search) repeats(w *walk) bool {
	runs, ok1 := evidence.ReachedAt(s.pass, w.start, w.made.Pos())
	all, ok2 := evidence.ReachedAt(s.pass, w.in, w.mark.Pos())
	if !ok1 || !ok2 || runs <= 0 || all < leastNodes*runs {
		return false
	}
	w.visits = all / runs
	var ok bool
	if w.roots, ok = flow.Repeating(s.pass, w.start, w.made, leastRoots, levels); !ok {
		return false
	}
	call, ok := w.roots.Node.(*ast.CallExpr)
	if !ok || w.roots.Place.Decl == w.start.Decl {
		return w.roots.Place.Decl == w.start.Decl
	}
	for _, arg := range call.Args {
		if !w.isNode(w.roots.Place.TypeOf(arg)) && !loops.Invariant(w.roots.Place, w.roots.Loop, arg) {
			return false
		}
	}
	return true
}
