package used

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// mostCallers is how many callers may pass a result on to the one that uses it.
	mostCallers = 4
	// deepest is how many functions an argument is followed into.
	deepest = 3
)

// Callers finds what the callers in stacks use of results.
type Callers struct {
	Syntax *gocode.Syntax
}

// Result is what a call uses of the results of the function that it calls.
type Result struct {
	*gocode.Place // of the call, in the nearest caller
	Call          *ast.CallExpr
	Parts         []Part // by the index of the result
}

// Of returns what is used of the results of the function of frame i of a stack, leaf first. It
// reports false if the source does not show the call, or if the caller only drives the program.
func (c Callers) Of(stack []*site.Frame, i int) (Result, bool) { return c.of(stack, i, mostCallers) }

func (c Callers) of(stack []*site.Frame, i, levels int) (Result, bool) {
	if levels == 0 || i+1 >= len(stack) {
		return Result{}, false
	}
	f := stack[i+1]
	if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
		return Result{}, false
	}
	p, ok := c.Syntax.At(f.File, f.Line)
	if !ok || p.Decl == nil || p.Decl.Body == nil || drives(p) {
		return Result{}, false
	}
	call := loops.CallTo(p, stack[i].Function)
	if call == nil || len(syntax.CallsTo(p, stack[i].Function)) > 1 {
		return Result{}, false
	}
	u := &follow{syntax: c.Syntax, place: p.Outer(), seen: map[*types.Var]bool{}}
	if _, literal := p.Func.(*ast.FuncLit); !literal {
		u.up = func() (Result, bool) { return c.of(stack, i+1, levels-1) }
	}
	return Result{p.Outer(), call, u.results(call)}, true
}

// drives reports whether a function is a test, a benchmark, or a program's main, which often runs
// something only to print a figure about it.
func drives(p *gocode.Place) bool {
	name := p.Fset.Position(p.Decl.Pos()).Filename
	return strings.HasSuffix(name, "_test.go") || p.Pkg.Name() == "main" && p.Decl.Recv == nil && p.Decl.Name.Name == "main"
}

// follow follows values through one function.
type follow struct {
	syntax *gocode.Syntax
	place  *gocode.Place
	seen   map[*types.Var]bool
	depth  int
	up     func() (Result, bool) // what is used of the function's results; nil if that is not known
}

// results returns what is used of each result of a call.
func (u *follow) results(call *ast.CallExpr) []Part {
	p := u.place
	n := 1
	if t, ok := p.TypeOf(call).(*types.Tuple); ok {
		n = t.Len()
	}
	parts := make([]Part, n)
	if n == 1 {
		parts[0] = u.use(call)
		return parts
	}
	switch s := syntax.Parent(p, call).(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return parts
	case *ast.AssignStmt:
		for i := range parts {
			parts[i] = u.variable(s.Lhs[i], call)
		}
		return parts
	case *ast.ValueSpec:
		for i := range parts {
			parts[i] = u.variable(s.Names[i], call)
		}
		return parts
	case *ast.ReturnStmt:
		if above := u.above(s); len(above) == n {
			return above
		}
	case *ast.CallExpr: // f(g())
		for i := range parts {
			parts[i] = u.parameter(s, i)
		}
		return parts
	}
	for i := range parts {
		parts[i] = whole(p, call)
	}
	return parts
}

// above returns what is used of the results of the function around a return statement.
func (u *follow) above(s *ast.ReturnStmt) []Part {
	if u.up == nil || syntax.FuncAround(u.place, s) != ast.Node(u.place.Decl) {
		return nil
	}
	r, ok := u.up()
	if !ok {
		return nil
	}
	return r.Parts
}

// variable returns what is used of a value that is assigned to a variable.
func (u *follow) variable(to ast.Expr, at ast.Node) Part {
	p := u.place
	if id, ok := to.(*ast.Ident); ok && id.Name == "_" {
		return Part{}
	}
	v := syntax.LocalVar(p, to)
	if v == nil || !syntax.Local(p, v) {
		return whole(p, at)
	}
	return u.reads(v)
}

// reads returns what is used of the value of a local variable.
func (u *follow) reads(v *types.Var) (all Part) {
	if u.seen[v] {
		return Part{}
	}
	u.seen[v] = true
	if syntax.IsResult(u.place, v) {
		return whole(u.place, u.place.Decl)
	}
	for _, id := range syntax.Reads(u.place, v) {
		all.add(u.use(id))
	}
	return all
}

// use returns what is used of the value of an expression.
func (u *follow) use(e ast.Expr) Part {
	p := u.place
	at := Access{p, e}
	switch n := syntax.Parent(p, e).(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return Part{}
	case *ast.AssignStmt, *ast.ValueSpec:
		if syntax.Defines(p, e) {
			return Part{}
		}
		if to := syntax.AssignedTo(p, e); to != nil {
			return u.variable(to, e)
		}
	case *ast.ReturnStmt:
		for i, r := range n.Results {
			if above := u.above(n); ast.Unparen(r) == e && i < len(above) && len(above) == len(n.Results) {
				return above[i]
			}
		}
	case *ast.SelectorExpr:
		if v, ok := p.Object(n.Sel).(*types.Var); ok && v.IsField() {
			if syntax.Defines(p, n) {
				return Part{}
			}
			if s := p.Info.Selections[n]; s != nil && len(s.Index()) == 1 {
				return Part{Fields: []string{v.Name()}, At: at}
			}
		}
	case *ast.IndexExpr:
		if n.X == e && syntax.IsMap(p.TypeOf(e)) && !syntax.Defines(p, n) {
			return Part{Keys: []Access{{p, n}}, At: at}
		}
	case *ast.RangeStmt:
		if n.X == e && blank(n.Key) && blank(n.Value) {
			return Part{Length: true, At: at}
		}
	case *ast.BinaryExpr:
		if p.Info.Types[n.X].IsNil() || p.Info.Types[n.Y].IsNil() {
			return Part{Tested: true, At: at}
		}
	case *ast.CallExpr:
		return u.argument(n, e)
	}
	return whole(p, e)
}

// argument returns what is used of an argument of a call.
func (u *follow) argument(call *ast.CallExpr, e ast.Expr) Part {
	p := u.place
	if p.CalleeName(call) == "len" && !syntax.StringOrBytes(p.TypeOf(e)) { // a text has to be made for its length
		return Part{Length: true, At: Access{p, e}}
	}
	for i, arg := range call.Args {
		if ast.Unparen(arg) == e {
			return u.parameter(call, i)
		}
	}
	return whole(p, e)
}

// parameter returns what the function that a call calls uses of a parameter. What the function
// returns of it counts as used.
func (u *follow) parameter(call *ast.CallExpr, i int) Part {
	fn := u.place.Callee(call)
	if fn == nil || u.depth >= deepest || fn.Signature().Variadic() || i >= fn.Signature().Params().Len() {
		return whole(u.place, call)
	}
	in, ok := u.syntax.Declared(fn)
	if !ok || in.Decl == nil || in.Decl.Body == nil {
		return whole(u.place, call)
	}
	f := &follow{syntax: u.syntax, place: in.Entry(in.Decl), seen: u.seen, depth: u.depth + 1}
	return f.reads(syntax.SignatureOf(f.place).Params().At(i))
}

// blank reports whether a loop has no such variable.
func blank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return e == nil || ok && id.Name == "_"
}

// Key describes what is used, to compare and remember it.
func (r Result) Key() (text string) {
	for _, u := range r.Parts {
		text += u.key()
	}
	return text
}
