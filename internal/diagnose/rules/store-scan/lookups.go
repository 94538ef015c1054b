package storescan

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepest is the number of functions through which a map is followed.
const deepest = 4

// lookups follows a map to the lookups in it.
type lookups struct {
	pass *rule.Pass
	seen map[ast.Node]bool // calls
}

// end is a function that has the map and does not return it.
type end struct {
	runs    float64 // how often it gets the map, for each unit of work
	lookups float64
	where   string // the function that looks entries up
	ok      bool   // it does nothing else with the map
}

// held returns what is done with the map that a variable holds, in the function around a place and
// in those that it returns the map to, except in a node.
func (l *lookups) held(p *gocode.Place, v *types.Var, skip ast.Node, runs float64, depth int) []end {
	p = p.Outer()
	var refs []ast.Expr
	for _, id := range syntax.Reads(p, v) {
		if skip == nil || !syntax.Within(skip, id) {
			refs = append(refs, id)
		}
	}
	e := end{runs: runs, ok: syntax.Local(p, v) && !syntax.Param(p, v)}
	returned := l.all(p, refs, &e, depth) || syntax.IsResult(p, v)
	if !returned || !e.ok {
		return []end{e}
	}
	e.runs = 0
	return append(l.returned(p, depth), e)
}

// returned returns what the callers of a function do with the map that it returns.
func (l *lookups) returned(p *gocode.Place, depth int) (ends []end) {
	self, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok || depth == 0 {
		return nil
	}
	is := func(fn *types.Func) bool { return fn.FullName() == self.FullName() || awaited.Implements(self, fn) }
	for _, in := range l.pass.Syntax.Calls(is) {
		for _, call := range syntax.Calls(in) {
			fn := in.Callee(call)
			if fn == nil || !is(fn) || l.seen[call] {
				continue
			}
			l.seen[call] = true
			runs, ok := evidence.ReachedAt(l.pass, in, call.Pos())
			if ok && runs > 0 {
				ends = append(ends, l.got(in.Outer(), call, runs, depth-1)...)
			}
		}
	}
	return ends
}

// got returns what is done with the map that a call returns.
func (l *lookups) got(p *gocode.Place, call *ast.CallExpr, runs float64, depth int) []end {
	if v := syntax.Result(p, call); v != nil {
		return l.held(p, v, nil, runs, depth)
	}
	e := end{runs: runs, ok: true}
	if !l.all(p, []ast.Expr{call}, &e, depth) || !e.ok {
		return []end{e}
	}
	return l.returned(p, depth)
}

// all adds the uses of a map to an end, and reports whether the function returns the map.
func (l *lookups) all(p *gocode.Place, refs []ast.Expr, to *end, depth int) (returned bool) {
	for _, e := range refs {
		if ran, ok := evidence.ReachedAt(l.pass, p, e.Pos()); ok && ran == 0 || !to.ok {
			continue
		}
		if l.returns(p, e) {
			returned = true
			continue
		}
		to.ok = l.use(p, e, to, depth)
	}
	return returned
}

// returns reports whether the function around a place returns an expression as its first result.
func (l *lookups) returns(p *gocode.Place, e ast.Expr) bool {
	r, ok := syntax.Parent(p, e).(*ast.ReturnStmt)
	return ok && ast.Unparen(r.Results[0]) == e && syntax.FuncAround(p, r) == ast.Node(p.Decl)
}

// use adds a use of a map, which an expression is, to an end; false if all entries may be used.
func (l *lookups) use(p *gocode.Place, e ast.Expr, to *end, depth int) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.IndexExpr:
		if _, counts := syntax.Parent(p, n).(*ast.IncDecStmt); ast.Unparen(n.X) != e || counts || syntax.Defines(p, n) {
			return false
		}
		ran, ok := evidence.ReachedAt(l.pass, p, n.Pos())
		to.lookups, to.where = to.lookups+ran, syntax.FuncName(p)
		return ok
	case *ast.BinaryExpr:
		return isNil(n.X) || isNil(n.Y)
	case *ast.CallExpr:
		return p.CalleeName(n) == "len" || l.passed(p, n, e, to, depth)
	case *ast.SelectorExpr:
		return l.method(p, n, to, depth)
	case *ast.KeyValueExpr:
		name, ok := n.Key.(*ast.Ident)
		if !ok {
			return false
		}
		f, ok := p.Object(name).(*types.Var)
		return ok && f.IsField() && l.kept(p, f, to, depth)
	case *ast.CompositeLit:
		s, ok := p.TypeOf(n).Underlying().(*types.Struct)
		i := slices.Index(n.Elts, e)
		return ok && i >= 0 && l.kept(p, s.Field(i), to, depth)
	case *ast.AssignStmt:
		sel, ok := syntax.AssignedTo(p, e).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		f, ok := p.Object(sel.Sel).(*types.Var)
		return ok && f.IsField() && l.kept(p, f, to, depth)
	}
	return false
}

// passed is [lookups.use] for an argument.
func (l *lookups) passed(p *gocode.Place, call *ast.CallExpr, e ast.Expr, to *end, depth int) bool {
	in, ok := l.pass.Syntax.Declared(p.Callee(call))
	i := slices.IndexFunc(call.Args, func(arg ast.Expr) bool { return ast.Unparen(arg) == e })
	if !ok || depth == 0 || i < 0 || syntax.SignatureOf(in).Variadic() || i >= syntax.SignatureOf(in).Params().Len() {
		return false
	}
	return l.given(in, syntax.SignatureOf(in).Params().At(i), to, depth)
}

// method is [lookups.use] for the receiver of a method.
func (l *lookups) method(p *gocode.Place, sel *ast.SelectorExpr, to *end, depth int) bool {
	fn, _ := p.Object(sel.Sel).(*types.Func)
	in, ok := l.pass.Syntax.Declared(fn)
	return ok && depth > 0 && syntax.SignatureOf(in).Recv() != nil && l.given(in, syntax.SignatureOf(in).Recv(), to, depth)
}

// given is [lookups.use] for what a function gets the map as.
func (l *lookups) given(in *gocode.Place, v *types.Var, to *end, depth int) bool {
	var refs []ast.Expr
	for _, id := range syntax.Reads(in, v) {
		refs = append(refs, id)
	}
	return !l.all(in, refs, to, depth-1) && to.ok
}

// kept is [lookups.use] for a field that holds the map. Other packages may use an exported one.
func (l *lookups) kept(p *gocode.Place, f *types.Var, to *end, depth int) bool {
	if depth == 0 || f.Exported() && p.Pkg.Name() != "main" {
		return false
	}
	fine := true
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !fine || p.Object(sel.Sel) != types.Object(f) {
				return fine
			}
			in, ok := outer(l.pass.Syntax, p, sel)
			if ok && syntax.Defines(in, sel) {
				return true
			}
			fine = ok && !l.all(in, []ast.Expr{sel}, to, depth-1) && to.ok
			return fine
		})
	}
	return fine
}
