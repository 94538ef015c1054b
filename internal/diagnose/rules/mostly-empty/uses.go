package mostlyempty

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// How a container is counted.
const (
	put  = iota // maps and slices: reading an empty one needs none
	used        // others
)

// usage counts how often a container is filled, per unit of work, at most.
type usage struct {
	c       *finder.Case
	created ast.Expr
	v       *types.Var // the local variable or the field that has it
	name    string
	text    string // as the line that fills it names it
	kind    int
	filled  float64
	at      string // position of the first line that fills it
	known   bool
	blocks  map[ast.Node]float64 // executions of blocks that are counted already
}

// usesOf returns how often a new container is filled; false if it is not given to a local variable
// or a field.
func usesOf(c *finder.Case, e ast.Expr) (*usage, bool) {
	p := c.Place.Outer()
	u := &usage{c: c, created: e, known: true, blocks: map[ast.Node]float64{}}
	switch p.TypeOf(e).Underlying().(type) {
	case *types.Chan, *types.Pointer:
		u.kind = used
	}
	u.v = holder(p, e)
	if u.v == nil {
		return nil, false
	}
	u.name, u.text = u.v.Name(), u.v.Name()
	if !u.v.IsField() {
		if !syntax.Local(p, u.v) || syntax.IsResult(p, u.v) || len(syntax.Assigned(p, u.v)) == 0 {
			return nil, false
		}
		for _, id := range syntax.Uses(p, u.v) {
			u.use(p, id, id)
		}
		return u, true
	}
	if encoded(u.v, p.Pkg) || u.v.Pkg() != p.Pkg || u.v.Exported() && p.Pkg.Name() != "main" {
		return nil, false // other packages may fill it
	}
	if u.v.Embedded() {
		return nil, false // x.field uses it without its name
	}
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || !mentions(p, decl, u.v) {
				continue
			}
			in := p.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && in.Object(sel.Sel) != nil && origin(in.Object(sel.Sel)) == u.v {
					u.use(in, sel, sel)
				}
				return u.known
			})
		}
	}
	return u, u.known
}

// holder returns the local variable or the field that a new container is given to.
func holder(p *gocode.Place, e ast.Expr) *types.Var {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok {
			if v, ok := p.Object(id).(*types.Var); ok && v.IsField() {
				return v.Origin()
			}
		}
	case *ast.CompositeLit:
		t := p.TypeOf(n)
		if t == nil {
			return nil
		}
		if s, ok := t.Underlying().(*types.Struct); ok {
			for i, x := range n.Elts {
				if x == e && i < s.NumFields() {
					return s.Field(i).Origin()
				}
			}
		}
	case *ast.AssignStmt, *ast.ValueSpec:
		switch to := syntax.AssignedTo(p, e).(type) {
		case *ast.Ident:
			return syntax.LocalVar(p, to)
		case *ast.SelectorExpr:
			if v, ok := p.Object(to.Sel).(*types.Var); ok && v.IsField() {
				return v.Origin()
			}
		}
	}
	return nil
}

// origin returns the declared variable or field of an object; nil for others.
func origin(obj types.Object) *types.Var {
	v, ok := obj.(*types.Var)
	if !ok {
		return nil
	}
	return v.Origin()
}

// mentions reports whether a declaration names a field.
func mentions(p *gocode.Place, decl *ast.FuncDecl, v *types.Var) bool {
	found := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			found = found || origin(p.Object(id)) == v
		}
		return !found
	})
	return found
}

// use counts one use of the variable or field. e is the whole expression, x.f.
func (u *usage) use(p *gocode.Place, e ast.Expr, at ast.Node) {
	if syntax.Defines(p, e) { // set to the new container, or to another
		return
	}
	if u.kind == put && (reads(p, e) || present(p, e) || u.returned(p, e)) {
		return
	}
	n, ok := u.times(p, at)
	if !ok {
		u.known = false
		return
	}
	if root := rootOf(p, e); root != nil && u.v.IsField() {
		n = u.apart(p, root, n)
	}
	b := syntax.Block(p, at)
	if old := u.blocks[b]; b != nil && n <= old {
		return // counted with the line before
	} else {
		u.blocks[b] = n
		u.filled += n - old
	}
	if u.at == "" && n > 0 {
		u.at = syntax.Where(p, at.Pos())
		u.text = syntax.Text(e)
	}
}

// times returns how often a node runs; never in a file that was not reached.
func (u *usage) times(p *gocode.Place, n ast.Node) (float64, bool) {
	ran, ok := evidence.ExecutionsAt(u.c.Pass, p, n.Pos())
	if ok {
		return ran.PerUnit, true
	}
	file := p.Fset.Position(n.Pos()).Filename
	return 0, !u.c.Pass.Counts.Ran(p.Pkg.Path(), file)
}

// reads reports whether a use reads the container so that a nil one does as well: a lookup, len,
// range, delete, a comparison with nil.
func reads(p *gocode.Place, e ast.Expr) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.IndexExpr:
		if n.X != e {
			return true // a key
		}
		if inc, ok := syntax.Parent(p, n).(*ast.IncDecStmt); ok && inc.X == ast.Expr(n) {
			return false
		}
		if ref, ok := syntax.Parent(p, n).(*ast.UnaryExpr); ok && ref.Op == token.AND {
			return true // of an element that is there
		}
		_, isMap := p.TypeOf(e).Underlying().(*types.Map)
		return !isMap || !syntax.Defines(p, n)
	case *ast.RangeStmt:
		return n.X == e
	case *ast.BinaryExpr:
		return true
	case *ast.SliceExpr:
		return n.X == e && reads(p, n)
	case *ast.CallExpr:
		switch p.CalleeName(n) {
		case "len", "cap", "delete", "clear":
			return true
		case "append":
			return n.Args[0] != e // its elements
		case "maps.Clone", "maps.Keys", "maps.Values", "slices.Contains", "slices.Index", "slices.Values", "slices.Clone", "strings.Join", "copy":
			return n.Args[0] == e && p.CalleeName(n) != "copy" || len(n.Args) == 2 && n.Args[1] == e
		}
	}
	return false
}

// present reports whether a line changes an entry that is known to be there: in a branch for that,
// or in a loop over the container.
func present(p *gocode.Place, e ast.Expr) bool {
	text := types.ExprString(e)
	for _, n := range p.Enclosing(e) {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if types.ExprString(n.X) == text && syntax.Within(n.Body, e) {
				return true
			}
		case *ast.IfStmt:
			if syntax.Within(n.Body, e) && found(p, n, text) {
				return true
			}
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		}
	}
	return false
}

// found reports whether a statement is if v, ok := m[k]; ok, or if len(m) > 0, with the container.
func found(p *gocode.Place, s *ast.IfStmt, text string) bool {
	if a, ok := s.Init.(*ast.AssignStmt); ok && len(a.Lhs) == 2 && len(a.Rhs) == 1 {
		index, isIndex := ast.Unparen(a.Rhs[0]).(*ast.IndexExpr)
		cond, isIdent := ast.Unparen(s.Cond).(*ast.Ident)
		set, isSet := a.Lhs[1].(*ast.Ident)
		return isIndex && isIdent && isSet && types.ExprString(index.X) == text && p.Object(cond) == p.Object(set)
	}
	b, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	if !ok || b.Op != token.GTR && b.Op != token.NEQ {
		return false
	}
	call, ok := ast.Unparen(b.X).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "len" && types.ExprString(call.Args[0]) == text
}

// rootOf returns the variable x of x.f, nil if the field is deeper.
func rootOf(p *gocode.Place, e ast.Expr) *types.Var {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	return syntax.LocalVar(p, sel.X)
}

// apart returns how many of n uses of a field may be of objects that the line creates: not those
// whose object another line created, as far as the function or the callers of the method show.
func (u *usage) apart(p *gocode.Place, root *types.Var, n float64) float64 {
	if p.Decl.Recv == nil || !syntax.Inside(p.Decl.Recv, root.Pos()) {
		if u.other(p, root) {
			return 0
		}
		return n
	}
	self, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok {
		return n
	}
	all, others := 0., 0.
	for _, in := range u.c.Pass.Syntax.Calls(func(fn *types.Func) bool { return fn == self }) {
		for _, call := range in.Calls() {
			if in.Callee(call) != self {
				continue
			}
			ran, ok := u.times(in, call)
			if !ok {
				return n
			}
			all += ran
			if v := syntax.LocalVar(in, syntax.Receiver(call)); v != nil && u.other(in.Outer(), v) {
				others += ran
			}
		}
	}
	if all <= 0 {
		return n
	}
	return n * max(0, all-others) / all
}

// other reports whether a local variable has an object that another line creates with a container
// of its own: it is set once, to a literal or by a function of the package that returns one.
func (u *usage) other(p *gocode.Place, v *types.Var) bool {
	values := syntax.Assigned(p, v)
	if len(values) != 1 {
		return false
	}
	e := ast.Unparen(values[0])
	if call, ok := e.(*ast.CallExpr); ok {
		decl := p.Declaration(p.Callee(call))
		return decl != nil && decl.Body != nil && !syntax.Within(decl, u.created) && u.makes(p.Entry(decl))
	}
	return u.another(p, e)
}

// another reports whether an expression is a literal, other than that of the line, that sets the
// field.
func (u *usage) another(p *gocode.Place, e ast.Expr) bool {
	if ref, ok := e.(*ast.UnaryExpr); ok && ref.Op == token.AND {
		e = ast.Unparen(ref.X)
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok || syntax.Within(lit, u.created) {
		return false
	}
	for _, x := range lit.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok && holder(p, kv.Value) == u.v {
			return true
		}
	}
	return false
}

// makes reports whether a function returns new values of such literals, and nothing else.
func (u *usage) makes(in *gocode.Place) bool {
	returns, fine := 0, true
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			returns++
			fine = fine && len(n.Results) > 0 && u.another(in, syntax.Origin(in, n.Results[0]))
		}
		return fine
	})
	return fine && returns > 0
}

// returned reports whether the callers of the function that returns the container only read it. A
// function that may be called through an interface has unknown callers.
func (u *usage) returned(p *gocode.Place, e ast.Expr) bool {
	ret, ok := syntax.Parent(p, e).(*ast.ReturnStmt)
	self, is := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok || !is || p.Func != ast.Node(p.Decl) || len(ret.Results) != 1 || self.Signature().Recv() != nil && self.Exported() {
		return false
	}
	calls := 0
	for _, in := range u.c.Pass.Syntax.Calls(func(fn *types.Func) bool { return fn == self }) {
		for _, call := range in.Calls() {
			if in.Callee(call) != self {
				continue
			}
			calls++
			if reads(in, call) {
				continue
			}
			v := syntax.LocalVar(in, syntax.AssignedTo(in, call))
			if v == nil || syntax.IsResult(in, v) {
				return false
			}
			for _, id := range syntax.Reads(in, v) {
				if !reads(in.Outer(), id) {
					return false
				}
			}
		}
	}
	return calls > 0
}

// encoded reports whether a field has a tag, by which an encoder shows whether it is nil.
func encoded(v *types.Var, pkg *types.Package) bool {
	for _, name := range pkg.Scope().Names() {
		s, ok := pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for i := range s.NumFields() {
			if s.Field(i).Origin() == v {
				return s.Tag(i) != ""
			}
		}
	}
	return false
}
