package retainedsubstring

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepest is the number of nested calls and variables that are followed.
const deepest = 24

// extent says how much of a buffer a value refers to.
type extent int

const (
	entire extent = iota // all or most of it, or an unknown part
	part                 // a part with an end
	each                 // one of the parts that together are the buffer
)

// value is the buffer or a part of it, or something that contains one of them: a struct, a list.
type value struct {
	extent
	cut   *cut  // where the part was sliced from the buffer; nil for the buffer
	among *spot // where several parts of one buffer are put together; nil if there is only one
}

// spot is an expression in a function.
type spot struct {
	place *gocode.Place
	expr  ast.Expr
}

// cut is an expression whose value is a part of a buffer.
type cut struct {
	place *gocode.Place
	expr  ast.Expr
	size  int64 // in bytes; 0 if unknown
}

// scope is one execution of a function that has the buffer or a part of it.
type scope struct {
	place  *gocode.Place
	from   token.Pos            // where the function gets it; NoPos for a parameter
	result func(i int, v value) // continues in the caller
	depth  int
	repeat *spot // what the caller does several times for one buffer; nil for nothing
}

// store is a place where a part is kept.
type store struct {
	place  *gocode.Place
	expr   ast.Expr
	cut    *cut
	repeat *spot // what happens several times for one buffer; nil for nothing
}

// follower follows a buffer from where it is allocated to where it, or a part of it, is stored.
type follower struct {
	pass   *rule.Pass
	size   float64 // mean size of the buffers
	seen   map[visit]bool
	spots  map[ast.Expr]*spot
	cuts   map[ast.Expr]*cut
	stores []store
	whole  bool // the buffer itself is stored, or goes where it cannot be followed
	stored bool // the buffer itself is stored
}

type visit struct {
	scope *scope
	v     *types.Var
	value
}

// variable follows what a local variable or parameter has.
func (f *follower) variable(in *scope, v *types.Var, val value, depth int) {
	key := visit{in, v, val}
	if f.seen[key] {
		return
	}
	if f.seen[key] = true; depth > deepest {
		f.whole = true
		return
	}
	for _, id := range syntax.Uses(in.place, v) {
		if in.place.Info.Defs[id] == nil && !syntax.Defines(in.place, id) {
			f.follow(in, id, val, depth+1)
		}
	}
	f.named(in, v, val)
}

// named follows a named result that a return statement without operands returns.
func (f *follower) named(in *scope, v *types.Var, val value) {
	sig := signature(in.place)
	if sig == nil || in.result == nil {
		return
	}
	for i := range sig.Results().Len() {
		if sig.Results().At(i) == v {
			in.result(i, val)
		}
	}
}

// signature returns the signature of the declaration around a place; nil for none.
func signature(p *gocode.Place) *types.Signature {
	if p.Decl == nil {
		return nil
	}
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok {
		return nil
	}
	return fn.Signature()
}

// follow finds what becomes of the value of an expression.
func (f *follower) follow(in *scope, e ast.Expr, v value, depth int) {
	if f.whole || depth > deepest || !carries(in.place.TypeOf(e)) {
		return
	}
	p := in.place
	is := func(x ast.Expr) bool { return x != nil && ast.Unparen(x) == ast.Unparen(e) }
	switch n := syntax.Parent(p, e).(type) {
	case *ast.SliceExpr:
		if is(n.X) {
			f.follow(in, n, f.sliced(p, n, v), depth+1)
		}
	case *ast.IndexExpr:
		f.indexed(in, n, e, v, depth)
	case *ast.StarExpr:
		f.follow(in, n, v, depth+1)
	case *ast.TypeAssertExpr:
		f.follow(in, n, v, depth+1)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			f.follow(in, n, v, depth+1)
		}
	case *ast.SelectorExpr:
		if call, ok := syntax.Parent(p, n).(*ast.CallExpr); ok && ast.Unparen(call.Fun) == n {
			f.method(in, call, e, v, depth)
			return
		}
		f.follow(in, n, v, depth+1)
	case *ast.KeyValueExpr:
		if lit, ok := syntax.Parent(p, n).(*ast.CompositeLit); ok {
			f.follow(in, lit, v, depth+1)
		}
	case *ast.CompositeLit:
		f.follow(in, n, v, depth+1)
	case *ast.AssignStmt, *ast.ValueSpec:
		f.assigned(in, syntax.AssignedTo(p, e), e, v, depth)
	case *ast.RangeStmt:
		f.ranged(in, n, is(n.X), v, depth)
	case *ast.ReturnStmt:
		f.returned(in, n, is, v)
	case *ast.SendStmt:
		if is(n.Value) {
			f.store(in, e, v)
		}
	case *ast.CallExpr:
		f.argument(in, n, is, v, depth)
	}
}

// carries reports whether values of a type can contain strings, lists or pointers. It is true of
// the results of a call with several.
func carries(t types.Type) bool {
	if t == nil {
		return false
	}
	if _, tuple := t.(*types.Tuple); tuple {
		return true
	}
	return syntax.HoldsPointers(t)
}

// indexed follows a value that is indexed, or that is a key.
func (f *follower) indexed(in *scope, n *ast.IndexExpr, e ast.Expr, v value, depth int) {
	if ast.Unparen(n.X) != ast.Unparen(e) {
		if syntax.Defines(in.place, n) {
			f.store(in, e, v) // a map keeps its keys
		}
		return
	}
	if _, constant := in.place.Const(n.Index); constant && v.extent == each {
		v = f.piece(in.place, n, v)
	}
	f.follow(in, n, v, depth+1)
}

// ranged follows the elements of a list or a sequence.
func (f *follower) ranged(in *scope, n *ast.RangeStmt, over bool, v value, depth int) {
	if !over {
		return
	}
	if t := in.place.TypeOf(n.X); t == nil || syntax.StringOrBytes(t) {
		return
	}
	for _, e := range []ast.Expr{n.Key, n.Value} {
		if e == nil {
			continue
		}
		if to := syntax.LocalVar(in.place, e); to != nil && carries(to.Type()) {
			if v.extent == each { // a store shows how many of them are kept
				v = f.piece(in.place, e, v)
			}
			f.variable(in, to, v, depth+1)
		}
	}
}

// returned follows a result to the caller. What a function literal returns is not followed.
func (f *follower) returned(in *scope, n *ast.ReturnStmt, is func(ast.Expr) bool, v value) {
	for _, x := range in.place.Enclosing(n) {
		if _, ok := x.(*ast.FuncLit); ok {
			f.whole = f.whole || v.extent == entire
			return
		}
	}
	for i, e := range n.Results {
		if is(e) && in.result != nil {
			in.result(i, v)
		}
	}
}

// assigned follows a value to what it is assigned to.
func (f *follower) assigned(in *scope, to, e ast.Expr, v value, depth int) {
	if to == nil {
		return
	}
	if id, ok := ast.Unparen(to).(*ast.Ident); ok && id.Name == "_" {
		return
	}
	if w := syntax.LocalVar(in.place, to); w != nil {
		f.variable(in, w, v, depth+1)
		return
	}
	if root, _ := syntax.Var(in.place, to); root != nil && created(in.place, root) {
		v.among = cmp.Or(v.among, f.repeats(in, e))
		f.variable(in, root, v, depth+1)
		return
	}
	f.store(in, e, v)
}

// created reports whether the function creates what a local variable has, so that it is not known
// to live longer.
func created(p *gocode.Place, v *types.Var) bool {
	if !syntax.Local(p, v) || syntax.Param(p, v) {
		return false
	}
	stmt, value := syntax.Declared(p, v)
	if _, zero := stmt.(*ast.ValueSpec); zero && value == nil {
		return true
	}
	switch x := value.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, lit := ast.Unparen(x.X).(*ast.CompositeLit)
		return x.Op == token.AND && lit
	case *ast.CallExpr:
		name := p.CalleeName(x)
		return name == "make" || name == "new"
	}
	return false
}

// store notes that a value is kept.
func (f *follower) store(in *scope, e ast.Expr, v value) {
	if v.cut == nil || v.extent != part {
		f.whole, f.stored = true, true
		return
	}
	f.stores = append(f.stores, store{in.place, e, v.cut, cmp.Or(v.among, f.repeats(in, e))})
}

// repeats returns a node if it may run several times for one buffer, because a loop is around it
// that is not around what gets the buffer; otherwise what the caller repeats, nil for nothing.
func (f *follower) repeats(in *scope, e ast.Expr) *spot {
	for _, loop := range loops.Around(in.place, e) {
		body := loop
		switch l := loop.(type) {
		case *ast.ForStmt:
			body = l.Body
		case *ast.RangeStmt:
			body = l.Body
		}
		if !syntax.Inside(body, in.from) {
			return f.spot(in.place, e)
		}
	}
	return in.repeat
}

// spot returns the same spot for the same expression.
func (f *follower) spot(p *gocode.Place, e ast.Expr) *spot {
	if f.spots[e] == nil {
		f.spots[e] = &spot{p, e}
	}
	return f.spots[e]
}

// piece returns what an expression takes of a value, always the same for the same expression.
func (f *follower) piece(p *gocode.Place, e ast.Expr, of value) value {
	if f.cuts[e] == nil {
		f.cuts[e] = &cut{place: p, expr: e}
		if of.cut != nil {
			f.cuts[e].size = of.cut.size // at most
		}
	}
	return value{extent: part, cut: f.cuts[e], among: of.among}
}
