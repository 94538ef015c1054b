package unchangedinput

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// variable follows a variable: a local one to everything that is assigned to it, others to how
// often they are set.
func (o *origin) variable(id *ast.Ident) bool {
	v, ok := o.place.Object(id).(*types.Var)
	if !ok {
		return isFunc(o.place.Object(id))
	}
	if v.Parent() == o.place.Pkg.Scope() {
		return o.stays(v, id.Name)
	}
	root := o.place.Func
	if root == nil || o.place.Decl == nil || !syntax.Local(o.place, v) {
		return false
	}
	if v.Pos() < root.Pos() || v.Pos() >= root.End() { // of the function around the literal
		outer, ok := o.pass.Counts.Line(o.frame.Owner.Package, o.frame.File, syntax.Line(o.place, v.Pos()))
		if !ok || outer.PerUnit > seldom*o.runs || o.setIn(root, v) {
			return false
		}
		o.note(id.Name, outer.PerUnit/o.runs)
		return true
	}
	before := *o
	if o.local(v) {
		return true
	}
	if !o.above {
		return false
	}
	*o = before // what local noted is not of the variable itself
	return o.setSeldom(v, id.Name)
}

// setSeldom reports whether a variable of a caller has the same value for many runs of the line: it
// is declared and set outside of the loop that makes the calls. Its type is one whose values nobody
// changes.
func (o *origin) setSeldom(v *types.Var, name string) bool {
	if _, basic := v.Type().Underlying().(*types.Basic); !basic && !o.passedOn(v) || o.loose {
		return false
	}
	at := o.place.Fset.Position(v.Pos())
	e, ok := o.pass.Counts.Line(o.frame.Owner.Package, at.Filename, at.Line)
	if !ok || e.PerUnit <= 0 {
		return false
	}
	most := e.PerUnit
	ast.Inspect(o.place.Decl, func(n ast.Node) bool {
		for _, target := range targets(n) {
			if !o.isOf(target, v) {
				continue
			}
			at := o.place.Fset.Position(n.Pos())
			if e, ok := o.pass.Counts.Line(o.frame.Owner.Package, at.Filename, at.Line); ok {
				most = max(most, e.PerUnit)
			} else {
				most = o.runs
			}
		}
		return true
	})
	if most > o.limit() {
		return false
	}
	o.note(name, most/o.runs)
	return true
}

// isFunc reports whether a name denotes a function, which as a value does not change.
func isFunc(obj types.Object) bool {
	_, ok := obj.(*types.Func)
	return ok
}

// local reports whether only values that do not change are assigned to a variable of the function.
func (o *origin) local(v *types.Var) bool {
	if syntax.Param(o.place, v) {
		return !o.replaced(v) && o.passed(v)
	}
	if slices.Contains(o.under, v) {
		return !o.loose || slices.Contains(o.settled, v) // sum = hash(sum) differs in each iteration
	}
	o.under = append(o.under, v)
	defer func() { o.under = o.under[:len(o.under)-1] }()
	found, fine := 0, true
	ast.Inspect(syntax.Body(o.place), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				w, part := syntax.Var(o.place, lhs)
				if w != v {
					continue
				}
				rhs := n.Rhs[min(i, len(n.Rhs)-1)] // x, err := f(…)
				if part {                          // a field of the value under construction
					fine = fine && o.loose && o.fixed(rhs)
					continue
				}
				found++
				fine = fine && o.fixed(rhs) && !((accumulates(n.Tok) || o.uses(rhs, v)) && o.carried(v, n))
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if o.place.Object(name) == v && len(n.Values) == 0 && o.loose {
					found++ // other uses are judged at the calls that get it
				}
				if o.place.Object(name) == v && len(n.Values) > 0 {
					found++
					fine = fine && o.fixed(n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && o.place.Object(id) == v {
					found++
					fine = fine && o.elements(n, e == n.Key) && o.short(n) && o.fixed(n.X)
					o.few = true
				}
			}
		case *ast.UnaryExpr:
			if w, _ := syntax.Var(o.place, n.X); n.Op == token.AND && w == v && !o.loose {
				fine = false
			}
		case *ast.SliceExpr: // of an array, through which a call on another line may write
			if w, _ := syntax.Var(o.place, n.X); w == v && syntax.IsArray(o.place, n.X) && syntax.Line(o.place, n.Pos()) != o.frame.Line {
				fine = false
			}
		case *ast.IncDecStmt:
			if w, _ := syntax.Var(o.place, n.X); w == v {
				fine = false
			}
		}
		return fine
	})
	if !fine || found == 0 {
		return false
	}
	o.settled = append(o.settled, v)
	defer func() { o.settled = o.settled[:len(o.settled)-1] }()
	return !o.loose || o.untouched(v)
}

// accumulates reports whether an assignment adds to what a variable has, as i += n does.
func accumulates(t token.Token) bool { return t != token.ASSIGN && t != token.DEFINE }

// uses reports whether an expression has a variable in it: sum = hash(sum).
func (o *origin) uses(e ast.Expr, v *types.Var) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && o.place.Object(id) == v
		return !found
	})
	return found
}

// carried reports whether a loop runs both an assignment and the place's line, and does not declare
// the variable itself: what one iteration adds, the next one gets.
func (o *origin) carried(v *types.Var, n ast.Node) bool {
	for _, around := range o.place.Enclosing(n) {
		var own ast.Node // where the loop declares a variable of each iteration
		switch around := around.(type) {
		case *ast.ForStmt:
			own = around.Body
		case *ast.RangeStmt:
			own = around
		default:
			continue
		}
		both := syntax.Line(o.place, around.Pos()) <= o.place.Line && o.place.Line <= syntax.Line(o.place, around.End())
		if both && !syntax.Inside(own, v.Pos()) {
			return true
		}
	}
	return false
}

// mostFew is the largest number of elements of a list whose results can all be kept.
const mostFew = 64

// short reports whether a loop goes over a few elements, as far as the recording counted that.
func (o *origin) short(n *ast.RangeStmt) bool {
	at := o.place.Fset.Position(n.Pos())
	l, ok := o.pass.Counts.Loop(o.frame.Owner.Package, at.Filename, at.Line)
	return !ok || l.Iterations <= mostFew
}

// elements reports whether a variable of a range statement holds elements, or the keys of a map,
// and not numbers that count up.
func (o *origin) elements(n *ast.RangeStmt, key bool) bool {
	t := o.place.TypeOf(n.X)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Slice, *types.Array, *types.Pointer:
		return !key
	}
	return false
}

// passed follows a parameter to the caller's argument.
func (o *origin) passed(v *types.Var) bool {
	decl, ok := o.place.Func.(*ast.FuncDecl)
	if !ok || len(o.callers) == 0 || o.callers[0] == nil {
		return false
	}
	self, ok := o.place.Info.Defs[decl.Name].(*types.Func)
	if !ok {
		return false
	}
	sig := self.Signature()
	index := syntax.ParamIndex(sig, v)
	if sig.Variadic() && index == sig.Params().Len()-1 {
		return false
	}
	caller := o.callers[0]
	place, ok := o.pass.Syntax.At(caller.File, caller.Line)
	if !ok || index < 0 {
		return false // or the receiver itself
	}
	for _, call := range syntax.Calls(place) {
		if fn := place.Callee(call); fn == nil || fn.FullName() != self.FullName() || index >= len(call.Args) {
			continue
		}
		up := &origin{pass: o.pass, place: place, frame: caller, callers: o.callers[1:], runs: o.runs, patterns: o.patterns, depth: o.depth, loose: o.loose, normal: o.normal, above: true}
		if !up.fixed(call.Args[index]) {
			return false
		}
		o.guess, o.few, o.file = o.guess || up.guess, o.few || up.few, o.file || up.file
		o.names = append(o.names, up.names...)
		o.sets, o.open = max(o.sets, up.sets), o.open || up.open
		return true
	}
	return false
}
