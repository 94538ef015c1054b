package flow

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepestReturns is the number of callers, one above the other, that a string is followed to.
const deepestReturns = 3

// leaves follows a string into a new list, or out of the function that returns it.
func (f *text) leaves(parent, child ast.Node) bool {
	f.far = true
	switch n := parent.(type) {
	case *ast.KeyValueExpr: // an element with its index
		lit, ok := syntax.Parent(f.place, n).(*ast.CompositeLit)
		return ok && n.Value == child && f.list(lit)
	case *ast.CompositeLit:
		return f.list(n)
	case *ast.ReturnStmt:
		i := slices.IndexFunc(n.Results, func(e ast.Expr) bool { return ast.Node(e) == child })
		return f.returned(n, i, (*text).sinks)
	}
	return false
}

// element follows a string that becomes an element of a local list.
func (f *text) element(at *ast.IndexExpr) bool {
	f.far = true
	v := syntax.LocalVar(f.place, at.X)
	if v == nil || !stringList(v.Type()) {
		return false
	}
	if _, array := v.Type().Underlying().(*types.Array); !array && isParam(f.place, v) {
		return false // the caller has the elements
	}
	return f.lists(v)
}

// list reports whether a list of strings is only joined, ranged over or measured, and its elements
// are only copied.
func (f *text) list(e ast.Expr) bool {
	f.far = true
	p := f.place
	if !stringList(p.TypeOf(e)) {
		return false
	}
	switch n := syntax.Parent(p, e).(type) {
	case *ast.SliceExpr:
		return n.X == e && f.list(n)
	case *ast.IndexExpr:
		return n.X == e && (syntax.Defines(p, n) || f.sinks(n))
	case *ast.RangeStmt:
		if n.X != e || n.Value == nil {
			return n.X == e
		}
		id, ok := n.Value.(*ast.Ident)
		f.origin = n
		return ok && (id.Name == "_" || f.variable(id))
	case *ast.ReturnStmt:
		return f.returned(n, slices.Index(n.Results, e), (*text).list)
	case *ast.AssignStmt, *ast.ValueSpec:
		to := syntax.AssignedTo(p, e)
		if to == nil {
			return false
		}
		if v := syntax.LocalVar(p, to); v != nil && !syntax.IsResult(p, v) {
			return f.lists(v)
		}
	case *ast.CallExpr:
		return f.listArgument(n, e)
	}
	return false
}

// lists is [text.list] for all reads of a local variable.
func (f *text) lists(v *types.Var) bool {
	if f.seen[v] {
		return true
	}
	f.seen[v] = true
	if !syntax.Local(f.place, v) || syntax.IsResult(f.place, v) {
		return false
	}
	for _, id := range syntax.Reads(f.place, v) {
		at := f.origin // the elements of a range are others
		if !adds(f.place, id) && f.again(id) || !f.list(id) {
			return false
		}
		f.origin = at
	}
	return true
}

// adds reports whether a use of a list only adds or sets an element.
func adds(p *gocode.Place, id *ast.Ident) bool {
	switch n := syntax.Parent(p, id).(type) {
	case *ast.IndexExpr:
		return syntax.Defines(p, n)
	case *ast.CallExpr:
		return p.CalleeName(n) == "append" && n.Args[0] == ast.Expr(id)
	case *ast.SliceExpr:
		outer, ok := syntax.Parent(p, n).(*ast.CallExpr)
		return ok && p.CalleeName(outer) == "append" && outer.Args[0] == ast.Expr(n)
	}
	return false
}

// again reports whether a use is in a loop in which the string is not made: it is then made once
// and used many times.
func (f *text) again(use ast.Node) bool {
	if f.syntax == nil {
		return false
	}
	for _, n := range f.place.Enclosing(use) {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
		}
		if body != nil && syntax.Within(body, use) && (f.origin == nil || !syntax.Within(n, f.origin)) {
			return true
		}
	}
	return false
}

// isParam reports whether a variable is a parameter of the declaration around a place.
func isParam(p *gocode.Place, v *types.Var) bool {
	return p.Decl != nil && syntax.Inside(p.Decl.Type.Params, v.Pos())
}

// listArgument examines a call that gets a list of strings.
func (f *text) listArgument(call *ast.CallExpr, e ast.Expr) bool {
	p := f.place
	switch name := p.CalleeName(call); {
	case name == "len" || name == "cap" || name == "clear":
		return true
	case name == "strings.Join":
		f.ways = append(f.ways, "joined with others")
		return true
	case name == "append" && (call.Args[0] == e || call.Ellipsis.IsValid()):
		return f.list(call)
	case call.Ellipsis.IsValid():
		return false
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	i := slices.Index(call.Args, e)
	if decl == nil || decl.Body == nil || i < 0 || f.depth >= deepest || fn.Signature().Variadic() {
		return false
	}
	inner := text{place: p.Entry(decl), seen: f.seen, depth: f.depth + 1, syntax: f.syntax}
	fine := inner.lists(fn.Signature().Params().At(i))
	f.ways = append(f.ways, inner.ways...)
	return fine
}

// returned follows the result i of a return statement to all calls of the function: follow judges
// each of them.
func (f *text) returned(ret *ast.ReturnStmt, i int, follow func(*text, ast.Expr) bool) bool {
	if i < 0 || f.depth >= deepestReturns {
		return false
	}
	for _, n := range f.place.Enclosing(ret) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return len(ret.Results) == 1 && f.literal(n, follow)
		case *ast.FuncDecl:
			return f.callers(n, i, len(ret.Results), follow)
		}
	}
	return false
}

// literal follows the result of a function literal to the calls of the local variable that it is
// assigned to.
func (f *text) literal(lit *ast.FuncLit, follow func(*text, ast.Expr) bool) bool {
	v := syntax.LocalVar(f.place, syntax.AssignedTo(f.place, lit))
	if v == nil {
		return false
	}
	if f.seen[v] {
		return true
	}
	f.seen[v] = true
	reads := syntax.Reads(f.place, v)
	for _, id := range reads {
		call, ok := syntax.Parent(f.place, id).(*ast.CallExpr)
		f.origin = call
		if !ok || call.Fun != ast.Expr(id) || !follow(f, call) {
			return false
		}
	}
	return len(reads) > 0
}

// callers follows the result i of n of a declared function to its calls in the main module. Methods
// that may be called through an interface are not followed.
func (f *text) callers(decl *ast.FuncDecl, i, n int, follow func(*text, ast.Expr) bool) bool {
	self, ok := f.place.Info.Defs[decl.Name].(*types.Func)
	if !ok {
		return false
	}
	if f.seen[self] {
		return true
	}
	f.seen[self] = true
	calls, used := 0, f.syntax.Calls(func(fn *types.Func) bool { return fn == self || throughInterface(fn, self) })
	for _, in := range used {
		for _, call := range in.Calls() {
			fn := in.Callee(call)
			if fn == nil || fn.Origin() != self {
				if fn != nil && throughInterface(fn.Origin(), self) {
					return false
				}
				continue
			}
			at := ast.Expr(call)
			inner := text{place: in.Outer(), seen: f.seen, depth: f.depth + 1, syntax: f.syntax, origin: call}
			if n > 1 {
				if !inner.several(call, i) {
					return false
				}
			} else if !follow(&inner, at) {
				return false
			}
			f.ways = append(f.ways, inner.ways...)
			calls++
		}
	}
	return calls > 0 && !mentioned(f.place, self)
}

// several follows one of the results of a call that has several.
func (f *text) several(call *ast.CallExpr, i int) bool {
	a, ok := syntax.Parent(f.place, call).(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || i >= len(a.Lhs) {
		return false
	}
	id, ok := a.Lhs[i].(*ast.Ident)
	if !ok {
		return false
	}
	if v := syntax.LocalVar(f.place, id); v != nil && stringList(v.Type()) {
		return f.lists(v)
	}
	return id.Name == "_" || f.variable(id)
}

// throughInterface reports whether a function is a method of an interface by which a method may be
// called.
func throughInterface(fn, method *types.Func) bool {
	recv := fn.Signature().Recv()
	return method.Signature().Recv() != nil && recv != nil && fn.Name() == method.Name() && types.IsInterface(recv.Type())
}

// mentioned reports whether the package uses a function other than by calling it, or the function
// is a method that fmt, encoders or sort call.
func mentioned(p *gocode.Place, self *types.Func) bool {
	if self.Signature().Recv() != nil && slices.Contains([]string{"String", "Error", "GoString", "Format", "MarshalText", "MarshalJSON"}, self.Name()) {
		return true
	}
	found := false
	for _, file := range p.Files() {
		called := map[*ast.Ident]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				fun := ast.Unparen(n.Fun)
				switch x := fun.(type) {
				case *ast.IndexExpr:
					fun = x.X
				case *ast.IndexListExpr:
					fun = x.X
				}
				switch x := fun.(type) {
				case *ast.Ident:
					called[x] = true
				case *ast.SelectorExpr:
					called[x.Sel] = true
				}
			case *ast.Ident:
				if fn, ok := p.Info.Uses[n].(*types.Func); ok && fn.Origin() == self && !called[n] {
					found = true
				}
			}
			return !found
		})
	}
	return found
}

// stringList reports whether a type is a slice or an array of strings.
func stringList(t types.Type) bool {
	elem := syntax.Elem(t)
	if elem == nil {
		return false
	}
	b, ok := elem.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}
