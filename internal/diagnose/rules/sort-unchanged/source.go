package sortunchanged

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// origin is the list or map that a sorted list is, or is made of.
type origin struct {
	expr  ast.Expr
	v     *types.Var // what the program keeps; nil for a parameter
	param *types.Var // or the receiver, of the function that sorts; nil for none
	order            // which elements the list has

	filled *gocode.Place // the function that appends elements one by one; nil for others
	each   ast.Expr      // the element that it appends
	loop   *ast.RangeStmt
}

// same reports whether two lists are made of the same one.
func (o *origin) same(other *origin) bool { return o.v == other.v && o.param == other.param }

// deepest is the number of variables and functions that a list is followed through.
const deepest = 6

// sources follows lists to where they come from.
type sources struct {
	*gocode.Place
	before token.Pos // the sort; what is assigned later does not matter
	steps  int
}

// of returns the origin of a list: itself or the list that it is a copy of, the map whose keys or
// values it holds, also by a function of the package that returns it. nil when it is not known.
func (s sources) of(e ast.Expr) *origin {
	if s.steps++; s.steps > deepest {
		return nil
	}
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		return s.call(call)
	}
	v := syntax.LocalVar(s.Place, e)
	if v == nil {
		if v = kept.Field(s.Place, e); v == nil {
			return nil
		}
		return &origin{expr: e, v: v}
	}
	if syntax.Param(s.Place, v) {
		if len(syntax.Assigned(s.Place, v)) == 0 {
			return &origin{expr: e, param: v}
		}
		return nil
	}
	return s.variable(v)
}

func (s sources) call(call *ast.CallExpr) *origin {
	if _, ok := s.Conversion(call); ok && len(call.Args) == 1 {
		return s.of(call.Args[0])
	}
	switch s.CalleeName(call) {
	case "slices.Clone", "slices.Values", "slices.Collect", "slices.Sorted", "slices.SortedFunc", "maps.Keys", "maps.Values", "maps.Clone":
		return s.of(call.Args[0])
	case "append":
		if call.Ellipsis.IsValid() && len(call.Args) == 2 && s.empty(call.Args[0]) {
			return s.of(call.Args[1])
		}
		return nil
	}
	decl := s.Declaration(s.Callee(call))
	if decl == nil || decl.Body == nil {
		return nil
	}
	below := s.Entry(decl)
	o := sources{below, decl.End(), s.steps}.returned()
	if o != nil && o.param != nil {
		given := flow.ArgumentFor(below, call, o.param)
		if given == nil {
			return nil
		}
		of := s.of(given)
		if of != nil {
			of.keys = append(of.keys, o.keys...)
		}
		return of
	}
	return o
}

// returned returns the origin of what a function returns, by each of its return statements.
func (s sources) returned() (o *origin) {
	fine := true
	ast.Inspect(s.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				fine = false
				return false
			}
			if s.empty(n.Results[0]) {
				return false
			}
			of := s.of(n.Results[0])
			fine = fine && of != nil && (o == nil || o.same(of))
			o = of
		}
		return fine
	})
	if !fine {
		return nil
	}
	return o
}

// variable returns the origin of all that a local variable gets before the sort.
func (s sources) variable(v *types.Var) (o *origin) {
	fine := true
	add := func(of *origin) {
		fine = fine && of != nil && (o == nil || o.same(of))
		if of != nil && o != nil {
			of.keys = append(of.keys, o.keys...)
		}
		o = of
	}
	for _, value := range syntax.Assigned(s.Place, v) {
		value = ast.Unparen(value)
		call, ok := value.(*ast.CallExpr)
		switch {
		case value.Pos() > s.before || s.empty(value):
		case ok && s.CalleeName(call) == "append" && syntax.LocalVar(s.Place, call.Args[0]) == v && len(call.Args) == 2:
			if call.Ellipsis.IsValid() {
				add(s.of(call.Args[1]))
			} else {
				add(s.ranged(call.Args[1])) // names = append(names, name)
			}
		case syntax.LocalVar(s.Place, value) == v:
		default:
			add(s.of(value))
		}
	}
	for _, id := range syntax.Uses(s.Place, v) {
		if id.Pos() > s.before || !fine {
			continue
		}
		switch n := syntax.Parent(s.Place, id).(type) {
		case *ast.IndexExpr:
			if to := syntax.Parent(s.Place, n); syntax.Defines(s.Place, n) {
				a, ok := to.(*ast.AssignStmt)
				if fine = ok && len(a.Lhs) == 1; fine {
					add(s.ranged(a.Rhs[0])) // names[i] = name
				}
			}
		case *ast.UnaryExpr:
			fine = n.Op != token.AND
		case *ast.CallExpr:
			if s.CalleeName(n) == "copy" && ast.Unparen(n.Args[0]) == ast.Expr(id) {
				add(s.of(n.Args[1]))
			}
		}
	}
	if !fine {
		return nil
	}
	return o
}

// empty reports whether an expression is a list without elements of its own.
func (s sources) empty(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name == "nil"
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.SliceExpr:
		if e.High == nil {
			return false
		}
		high, ok := syntax.ConstInt(s.Place, e.High)
		return ok && high == 0
	case *ast.CallExpr:
		if _, ok := s.Conversion(e); ok && len(e.Args) == 1 {
			return s.empty(e.Args[0])
		}
		return s.CalleeName(e) == "make"
	}
	return false
}

// ranged returns the origin of the list or map over which the loop around an expression ranges, if
// the expression, and whether it is reached, depend on nothing but the elements.
func (s sources) ranged(e ast.Expr) *origin {
	for _, n := range s.Enclosing(e) {
		if lit, ok := n.(*ast.FuncLit); ok && lit != nil {
			return nil
		}
		loop, ok := n.(*ast.RangeStmt)
		if !ok {
			if _, ok := n.(*ast.ForStmt); ok {
				return nil
			}
			continue
		}
		o := s.of(loop.X)
		if o == nil || !elements(s.TypeOf(loop.X)) {
			return nil
		}
		own := func(v *types.Var) bool { return syntax.Inside(loop, v.Pos()) }
		o.follow(s.Place, e, own)
		ast.Inspect(loop.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt:
				if n.Init != nil {
					o.follow(s.Place, n.Init, own)
				}
				o.follow(s.Place, n.Cond, own)
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					for _, value := range n.Rhs {
						o.follow(s.Place, value, own)
					}
				}
			case *ast.BranchStmt:
				o.other = o.other || n.Tok != token.CONTINUE
			case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.ReturnStmt:
				o.other = true
			}
			return !o.other
		})
		if o.other {
			return nil
		}
		o.filled, o.each, o.loop = s.Place, e, loop
		return o
	}
	return nil
}

// elements reports whether ranging over a type gives its elements: a list or a map, or a sequence
// made of one.
func elements(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array, *types.Signature:
		return true
	}
	return false
}
