package flow

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Reading follows a value through a function and the functions that it is passed to, and collects
// the uses that do more than read it. Lists, maps and structs that the function puts it in are
// followed too. They may change (be sorted, appended to, cut); the value may not.
type Reading struct {
	// Object is the type of the value, without pointers.
	Object types.Type
	// Others are the uses that change the value, keep it, or that cannot be followed.
	Others []Access
	// Returned reports whether the function returns the value, or what it is in.
	Returned bool
	// Returns are the statements that return it, as far as they name it.
	Returns []Access
	// Given are the parameters of function type that get the value: a callback or an iterator's
	// yield.
	Given []Callback

	syntax *gocode.Syntax
	seen   map[*types.Var]*Reading // shared by all that follow the value
	within *ast.FuncLit            // the function that starts with the value, if it is a literal
	steps  int
	skip   []ast.Node
}

// Access is a use of a value.
type Access struct {
	*gocode.Place
	Node ast.Node
}

// Callback is a parameter of function type that gets a value as an argument.
type Callback struct {
	Func *types.Var
	Arg  int
}

// deepestRead is the number of nested calls that a value is followed into.
const deepestRead = 6

// ReadingOf follows the value of an expression: its result with an index, if the expression is a
// call with several.
func ReadingOf(s *gocode.Syntax, p *gocode.Place, e ast.Expr, object types.Type) *Reading {
	r := start(s, p, object)
	r.value(p.Outer(), e, false)
	return r
}

// ReadingOfVar follows a variable, but for its uses in some nodes.
func ReadingOfVar(s *gocode.Syntax, p *gocode.Place, v *types.Var, object types.Type, skip ...ast.Node) *Reading {
	r := start(s, p, object)
	r.skip = skip
	r.variable(p.Outer(), v, false)
	return r
}

func start(s *gocode.Syntax, p *gocode.Place, object types.Type) *Reading {
	lit, _ := p.Func.(*ast.FuncLit)
	return &Reading{Object: object, syntax: s, seen: map[*types.Var]*Reading{}, within: lit}
}

func (r *Reading) other(p *gocode.Place, n ast.Node) { r.Others = append(r.Others, Access{p, n}) }

// variable follows what a local variable or parameter holds; part says that it is only a part of
// the value.
func (r *Reading) variable(p *gocode.Place, v *types.Var, part bool) {
	if v == nil || r.seen[v] != nil || v.Name() == "_" {
		return
	}
	r.seen[v] = r
	if syntax.IsResult(p, v) {
		r.Returned = true
	}
	for _, use := range syntax.Uses(p, v) {
		if p.Info.Defs[use] != nil || syntax.Defines(p, use) || r.skips(use) {
			continue
		}
		r.value(p, use, part)
	}
}

func (r *Reading) skips(use ast.Node) bool {
	for _, n := range r.skip {
		if syntax.Within(n, use) {
			return true
		}
	}
	return false
}

// follow tracks the variable that a value is assigned to: a local one, or one that has it as a
// part.
func (r *Reading) follow(p *gocode.Place, lhs ast.Expr, at ast.Node, part bool) {
	if id, ok := ast.Unparen(lhs).(*ast.Ident); ok && id.Name == "_" {
		return
	}
	v, _ := syntax.Var(p, lhs)
	if v == nil || !syntax.Local(p, v) || syntax.LocalVar(p, lhs) == nil && !own(p, v) {
		r.other(p, at)
		return
	}
	r.variable(p, v, part && syntax.LocalVar(p, lhs) != nil)
}

// own reports whether a function created what a variable holds.
func own(p *gocode.Place, v *types.Var) bool {
	if syntax.IsResult(p, v) {
		return true
	}
	if syntax.Param(p, v) {
		return false
	}
	if _, pointer := v.Type().Underlying().(*types.Pointer); !pointer {
		if _, list := v.Type().Underlying().(*types.Struct); list {
			return true
		}
	}
	values := syntax.Assigned(p, v)
	for _, e := range values {
		if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
			e = u.X
		}
		switch e := ast.Unparen(e).(type) {
		case *ast.CompositeLit:
		case *ast.CallExpr:
			if name := p.CalleeName(e); name != "make" && name != "new" && name != "append" {
				return false
			}
		default:
			return false
		}
	}
	stmt, _ := syntax.Declared(p, v)
	_, ranged := stmt.(*ast.RangeStmt)
	return !ranged && (len(values) > 0 || stmt != nil)
}

// value follows an expression upwards to what uses it.
func (r *Reading) value(p *gocode.Place, e ast.Expr, part bool) {
	if t := p.TypeOf(e); t != nil {
		if _, many := t.(*types.Tuple); !many && plain(t) && !r.written(p, e) {
			return
		}
	}
	switch n := syntax.Parent(p, e).(type) {
	case *ast.ParenExpr, *ast.StarExpr, *ast.TypeAssertExpr, *ast.SliceExpr:
		if s, ok := n.(*ast.SliceExpr); ok && ast.Unparen(s.X) != ast.Unparen(e) {
			return
		}
		r.value(p, n.(ast.Expr), part)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			r.address(p, n, part)
		}
	case *ast.IndexExpr:
		if n.X == e {
			r.value(p, n, part || r.isObject(p.TypeOf(e)))
		}
	case *ast.SelectorExpr:
		r.selector(p, n, part)
	case *ast.KeyValueExpr:
		if lit, ok := syntax.Parent(p, n).(*ast.CompositeLit); ok {
			r.value(p, lit, false)
		}
	case *ast.CompositeLit:
		r.value(p, n, false)
	case *ast.RangeStmt:
		r.ranged(p, n, e, part)
	case *ast.CallExpr:
		r.called(p, n, e, part)
	case *ast.AssignStmt:
		r.assigned(p, n, e, part)
	case *ast.ValueSpec:
		if id, ok := syntax.AssignedTo(p, e).(*ast.Ident); ok {
			r.follow(p, id, n, part)
		} else if len(n.Values) == 1 && len(n.Names) > 1 {
			r.follow(p, n.Names[0], n, part)
		}
	case *ast.ReturnStmt:
		r.returned(p, n)
	case *ast.IncDecStmt:
		if part {
			r.other(p, n)
		}
	case *ast.SendStmt, *ast.TypeSwitchStmt, *ast.GoStmt:
		r.other(p, n)
	}
}

// written reports whether an expression is assigned to or has its address taken.
func (r *Reading) written(p *gocode.Place, e ast.Expr) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.UnaryExpr:
		return n.Op == token.AND
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt, *ast.ParenExpr, *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		if _, assigns := n.(*ast.AssignStmt); assigns {
			return syntax.Defines(p, e)
		}
		return r.written(p, n.(ast.Expr))
	}
	return false
}

// address follows the address of a value. That of a part may be written through.
func (r *Reading) address(p *gocode.Place, n *ast.UnaryExpr, part bool) {
	r.value(p, n, part)
}

// selector follows a field or a method of a value.
func (r *Reading) selector(p *gocode.Place, n *ast.SelectorExpr, part bool) {
	part = part || r.isObject(p.TypeOf(n.X))
	if v, ok := p.Object(n.Sel).(*types.Var); ok && v.IsField() {
		if call, ok := syntax.Parent(p, n).(*ast.CallExpr); ok && ast.Unparen(call.Fun) == ast.Expr(n) {
			return // a function that the value has
		}
		r.value(p, n, part)
		return
	}
	call, ok := syntax.Parent(p, n).(*ast.CallExpr)
	if !ok || ast.Unparen(call.Fun) != ast.Expr(n) {
		r.other(p, n) // a method value
		return
	}
	fn := p.Callee(call)
	decl, ok := r.declared(fn)
	if !ok || decl.Decl.Recv == nil {
		if !reads(p, call, fn, p.TypeOf(n.X)) {
			r.other(p, call)
		}
		return
	}
	if names := decl.Decl.Recv.List[0].Names; len(names) > 0 {
		v, _ := decl.Object(names[0]).(*types.Var)
		r.into(p, call, decl, v, part)
	}
}

// ranged follows the elements of a value that a loop iterates over.
func (r *Reading) ranged(p *gocode.Place, n *ast.RangeStmt, e ast.Expr, part bool) {
	if ast.Unparen(n.X) != ast.Unparen(e) {
		return // the variable of the loop
	}
	part = part || r.isObject(p.TypeOf(e))
	for _, x := range []ast.Expr{n.Key, n.Value} {
		if x == nil {
			continue
		}
		if t := p.TypeOf(x); t != nil && plain(t) {
			continue
		}
		r.follow(p, x, n, part)
	}
}

// assigned follows a value that an assignment reads, and judges one that it sets.
func (r *Reading) assigned(p *gocode.Place, n *ast.AssignStmt, e ast.Expr, part bool) {
	if syntax.Defines(p, e) {
		if part {
			r.other(p, n)
		}
		return
	}
	if lhs := syntax.AssignedTo(p, e); lhs != nil {
		r.follow(p, lhs, n, part)
	} else if len(n.Rhs) == 1 && len(n.Lhs) > 1 {
		r.follow(p, n.Lhs[0], n, part)
	}
}

// returned notes that the function returns the value. A function literal returns to what calls it.
func (r *Reading) returned(p *gocode.Place, n *ast.ReturnStmt) {
	for _, x := range p.Enclosing(n) {
		if lit, ok := x.(*ast.FuncLit); ok {
			if lit == r.within {
				r.Returned = true
				r.Returns = append(r.Returns, Access{p, n})
				return
			}
			if _, called := syntax.Parent(p, lit).(*ast.CallExpr); !called || r.steps > 0 {
				r.other(p, n)
			}
			return
		}
	}
	r.Returned = true
	r.Returns = append(r.Returns, Access{p, n})
}

// into follows a value into the parameter or receiver of a function, and its result back.
func (r *Reading) into(p *gocode.Place, call *ast.CallExpr, decl *gocode.Place, v *types.Var, part bool) {
	if r.steps >= deepestRead {
		r.other(p, call)
		return
	}
	if _, starts := syntax.Parent(p, call).(*ast.GoStmt); starts {
		r.other(p, call)
		return
	}
	in := r.seen[v]
	if in == nil {
		in = &Reading{Object: r.Object, syntax: r.syntax, seen: r.seen, steps: r.steps + 1}
		in.variable(decl, v, part)
		r.Others = append(r.Others, in.Others...)
	}
	for _, f := range in.Given {
		r.literal(p, call, syntax.ParamIndex(syntax.SignatureOf(decl), f.Func), f.Arg)
	}
	if in.Returned {
		r.value(p, call, part)
	}
}

// literal follows a value into the function literal that a call passes.
func (r *Reading) literal(p *gocode.Place, call *ast.CallExpr, i, arg int) {
	if i < 0 || i >= len(call.Args) {
		r.other(p, call)
		return
	}
	lit, ok := ast.Unparen(call.Args[i]).(*ast.FuncLit)
	if !ok {
		r.other(p, call)
		return
	}
	r.Parameter(p, lit, arg)
}

// Parameter follows a value into a parameter of a function literal.
func (r *Reading) Parameter(p *gocode.Place, lit *ast.FuncLit, i int) {
	sig, ok := p.TypeOf(lit).(*types.Signature)
	if ok && i < sig.Params().Len() {
		r.variable(p.Outer(), sig.Params().At(i), false)
	}
}

// Loop follows a value into the variable of a loop over an iterator.
func (r *Reading) Loop(p *gocode.Place, loop *ast.RangeStmt) {
	for _, x := range []ast.Expr{loop.Key, loop.Value} {
		if x != nil {
			r.follow(p.Outer(), x, loop, false)
		}
	}
}

func (r *Reading) declared(fn *types.Func) (*gocode.Place, bool) {
	if fn == nil || r.syntax == nil {
		return nil, false
	}
	return r.syntax.Declared(fn)
}

// isObject reports whether a type is that of the value, or a pointer to it.
func (r *Reading) isObject(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Identical(t, r.Object)
}

// plain reports whether a copy of a value of a type shares nothing that can change.
func plain(t types.Type) bool {
	switch t.String() {
	case "time.Time", "error", "net/netip.Addr", "net/netip.Prefix", "net/netip.AddrPort":
		return true
	}
	_, param := types.Unalias(t).(*types.TypeParam)
	return !param && syntax.PlainData(t)
}

// NewReading returns a Reading that starts with nothing.
func NewReading(s *gocode.Syntax, p *gocode.Place, object types.Type) *Reading {
	return start(s, p, object)
}

// Callback follows a value into the function literal that a call passes for a parameter.
func (r *Reading) Callback(p *gocode.Place, call *ast.CallExpr, f Callback) {
	decl, ok := r.declared(p.Callee(call))
	if !ok {
		r.other(p, call)
		return
	}
	r.literal(p.Outer(), call, syntax.ParamIndex(syntax.SignatureOf(decl), f.Func), f.Arg)
}
