package byteloop

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// shape is what a loop does with single elements, and what does it with many at a time.
type shape struct {
	does    string   // "compares the bytes of a and b"
	instead string   // the advice
	hit     ast.Stmt // that runs for a byte that is found; nil if all are handled the same way
	until   int      // the last line of the loop's own work
}

// walk is a loop that steps through a list by one.
type walk struct {
	p     *gocode.Place
	loop  ast.Stmt
	list  ast.Expr // that a range clause names; else nil
	index ast.Expr // the variable or field that counts; nil for none
	value *types.Var
}

// shapeOf recognises
//
//	for i < len(xs) && xs[i] != c { i++ }  a search
//	for … { if x == c { … } }              a search
//	for … { if x == c { n++ } }            a count
//	for … { if x != ys[i] { return … } }   a comparison
//	for … { ys[i] = x }                    a copy
//	for … { ys = append(ys, x) }           a copy
//
// where x is xs[i] or the variable of a range loop. The first four are of bytes.
func shapeOf(p *gocode.Place, loop ast.Stmt) (shape, bool) {
	w, ok := walks(p, loop)
	if !ok {
		return shape{}, false
	}
	body := loops.Body(loop).List
	if f, ok := loop.(*ast.ForStmt); ok && (len(body) == 0 || len(body) == 1 && f.Post == nil) {
		return w.skips(f)
	}
	if f, ok := loop.(*ast.ForStmt); len(body) != 1 || ok && !w.toEnd(f.Cond) {
		return shape{}, false
	}
	switch s := body[0].(type) {
	case *ast.IfStmt:
		if b, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr); ok && s.Init == nil && s.Else == nil && len(s.Body.List) > 0 {
			return w.tests(b, s.Body.List)
		}
	case *ast.AssignStmt:
		if len(s.Lhs) == 1 && len(s.Rhs) == 1 && s.Tok == token.ASSIGN {
			return w.copies(s.Lhs[0], s.Rhs[0])
		}
	}
	return shape{}, false
}

// walks recognises the head of a loop.
func walks(p *gocode.Place, loop ast.Stmt) (w walk, ok bool) {
	w = walk{p: p, loop: loop}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		t := p.TypeOf(l.X)
		if t == nil {
			return w, false
		}
		if l.Value != nil {
			w.value = syntax.LocalVar(p, l.Value)
		}
		if id, ok := l.Key.(*ast.Ident); ok && id.Name != "_" {
			w.index = id
		}
		if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
			return w, w.index != nil
		}
		w.list = l.X
		return w, elem(t) != nil
	case *ast.ForStmt:
		step := l.Post
		if body := l.Body.List; step == nil && len(body) == 1 {
			step = body[0]
		}
		inc, ok := step.(*ast.IncDecStmt)
		if !ok || inc.Tok != token.INC {
			return w, false
		}
		w.index = inc.X
		return w, syntax.Named(p, inc.X) != nil
	}
	return w, false
}

// toEnd reports whether a condition only compares the counter with the end.
func (w walk) toEnd(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || !syntax.Same(w.p, b.X, w.index) {
		return false
	}
	return b.Op == token.LSS || b.Op == token.LEQ || b.Op == token.NEQ
}

// elem returns the type of the elements of a slice, an array or a string; nil for other types.
func elem(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Pointer:
		if a, ok := t.Elem().Underlying().(*types.Array); ok {
			return a.Elem()
		}
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			return types.Typ[types.Byte]
		}
	}
	return nil
}

// of returns the list of which an expression is the current element; nil for none.
func (w walk) of(e ast.Expr) ast.Expr {
	e = ast.Unparen(e)
	if w.value != nil && syntax.LocalVar(w.p, e) == w.value {
		return w.list
	}
	x, ok := e.(*ast.IndexExpr)
	if !ok || w.index == nil || w.p.TypeOf(x.X) == nil || elem(w.p.TypeOf(x.X)) == nil || !w.fixed(x.X) || !w.counts(x.Index) {
		return nil
	}
	return x.X
}

// counts reports whether an expression is the counter, or the counter and a constant distance.
func (w walk) counts(e ast.Expr) bool {
	e = ast.Unparen(e)
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD {
		return w.counts(b.X) && w.fixed(b.Y) || w.counts(b.Y) && w.fixed(b.X)
	}
	return w.index != nil && syntax.Same(w.p, e, w.index)
}

// fixed reports whether an expression is the same in each iteration: a constant, or a variable or a
// field that is not the counter.
func (w walk) fixed(e ast.Expr) bool {
	e = ast.Unparen(e)
	if _, constant := syntax.ConstInt(w.p, e); constant {
		return true
	}
	switch x := e.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		if v := syntax.Named(w.p, e); v == nil || w.value != nil && v == w.value || w.index != nil && syntax.Same(w.p, e, w.index) {
			return false
		}
		return loops.FromOutside(w.p, w.loop, e)
	case *ast.SliceExpr:
		return w.fixed(x.X) && (x.Low == nil || w.fixed(x.Low)) && (x.High == nil || w.fixed(x.High)) && x.Max == nil
	case *ast.IndexExpr: // table[k]
		return w.fixed(x.X) && w.fixed(x.Index)
	case *ast.BinaryExpr:
		return w.fixed(x.X) && w.fixed(x.Y)
	}
	return false
}

// single returns the list of bytes and the byte that a comparison compares its current element
// with.
func (w walk) single(b *ast.BinaryExpr) (list, c ast.Expr) {
	for _, side := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
		list := w.of(side[0])
		if list == nil || !isByte(elem(w.p.TypeOf(list))) || !w.fixed(side[1]) {
			continue
		}
		if isByte(w.p.TypeOf(side[0])) {
			return list, side[1]
		}
		if c, ok := syntax.ConstInt(w.p, side[1]); ok && c < 0x80 { // a rune of a string
			return list, side[1]
		}
	}
	return nil, nil
}

func isByte(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Uint8
}

// skips judges a loop that only counts up to a byte.
func (w walk) skips(f *ast.ForStmt) (shape, bool) {
	var list, c ast.Expr
	conds := []ast.Expr{f.Cond}
	for len(conds) > 0 {
		b, ok := ast.Unparen(conds[0]).(*ast.BinaryExpr)
		conds = conds[1:]
		switch {
		case !ok:
			return shape{}, false
		case b.Op == token.LAND:
			conds = append(conds, b.X, b.Y)
		case b.Op == token.LSS && syntax.Same(w.p, b.X, w.index):
		case b.Op == token.NEQ && list == nil:
			if list, c = w.single(b); list == nil {
				return shape{}, false
			}
		default:
			return shape{}, false
		}
	}
	if list == nil {
		return shape{}, false
	}
	return w.search(list, c, nil), true
}

// tests judges a loop that compares each element.
func (w walk) tests(b *ast.BinaryExpr, then []ast.Stmt) (shape, bool) {
	until := syntax.Line(w.p, b.End())
	switch b.Op {
	case token.NEQ:
		x, y := w.of(b.X), w.of(b.Y)
		ret, leaves := then[0].(*ast.ReturnStmt)
		if x == nil || y == nil || !leaves || w.in(ret) || !isByte(w.p.TypeOf(b.X)) || !isByte(w.p.TypeOf(b.Y)) {
			return shape{}, false
		}
		instead := "Use bytes.Equal"
		if syntax.IsString(w.p, x) && syntax.IsString(w.p, y) {
			instead = "Compare the strings with =="
		}
		return shape{
			does:    fmt.Sprintf("compares the bytes of %s and %s", syntax.Text(x), syntax.Text(y)),
			instead: instead + ": it compares 16 bytes and more at a time.", until: until,
		}, true
	case token.EQL:
		list, c := w.single(b)
		if list == nil {
			return shape{}, false
		}
		if len(then) == 1 {
			if inc, ok := then[0].(*ast.IncDecStmt); ok {
				pkg, arg := "bytes", fmt.Sprintf("[]byte{%s}", syntax.Text(c))
				if syntax.IsString(w.p, list) {
					pkg, arg = "strings", fmt.Sprintf("string(%s)", syntax.Text(c))
				}
				return shape{
					does:    fmt.Sprintf("compares the bytes of %s with %s to count them,", syntax.Text(list), syntax.Text(c)),
					instead: fmt.Sprintf("Use %s.Count(%s, %s): it counts 16 bytes and more at a time.", pkg, syntax.Text(list), arg),
					until:   syntax.Line(w.p, inc.End()),
				}, true
			}
		}
		sh := w.search(list, c, then[0])
		sh.until = until
		return sh, true
	}
	return shape{}, false
}

func (w walk) search(list, c ast.Expr, hit ast.Stmt) shape {
	pkg := "bytes"
	if syntax.IsString(w.p, list) {
		pkg = "strings"
	}
	return shape{
		does:    fmt.Sprintf("compares the bytes of %s with %s", syntax.Text(list), syntax.Text(c)),
		instead: fmt.Sprintf("Use %s.IndexByte(%s, %s), on the rest of the text for the next one: it searches 16 bytes and more at a time.", pkg, syntax.Text(list), syntax.Text(c)),
		hit:     hit, until: syntax.Line(w.p, loops.Body(w.loop).End()),
	}
}

// copies judges a loop that only stores the current element.
func (w walk) copies(to, value ast.Expr) (shape, bool) {
	until := syntax.Line(w.p, value.End())
	if call, ok := ast.Unparen(value).(*ast.CallExpr); ok { // ys = append(ys, x)
		if w.p.CalleeName(call) != "append" || len(call.Args) != 2 || call.Ellipsis.IsValid() || !syntax.Same(w.p, call.Args[0], to) || !w.fixed(to) {
			return shape{}, false
		}
		from := w.of(call.Args[1])
		if from == nil || !w.identical(to, from, call.Args[1]) {
			return shape{}, false
		}
		return shape{
			does:    fmt.Sprintf("appends the elements of %s to %s", syntax.Text(from), syntax.Text(to)),
			instead: fmt.Sprintf("Use append(%s, %s...), with the part of %[2]s that the loop goes through: it copies all of them at a time.", syntax.Text(to), syntax.Text(from)),
			until:   until,
		}, true
	}
	from, into := w.of(value), w.of(to)
	if from == nil || into == nil || syntax.Same(w.p, from, into) || !w.identical(into, from, value) {
		return shape{}, false
	}
	return shape{
		does:    fmt.Sprintf("copies the elements of %s to %s", syntax.Text(from), syntax.Text(into)),
		instead: fmt.Sprintf("Use copy(%s, %s), with the parts that the loop goes through: it copies all of them at a time.", syntax.Text(into), syntax.Text(from)),
		until:   until,
	}, true
}

// identical reports whether two lists have the same type of elements, and the value that is copied
// is of that type: not a rune of a string.
func (w walk) identical(to, from, value ast.Expr) bool {
	e := elem(w.p.TypeOf(to))
	return e != nil && types.Identical(e, elem(w.p.TypeOf(from))) && types.Identical(e, w.p.TypeOf(value))
}

// in reports whether a node mentions the counter or the current element.
func (w walk) in(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			v := syntax.LocalVar(w.p, e)
			found = found || v != nil && v == w.value || w.index != nil && syntax.Same(w.p, e, w.index)
		}
		return !found
	})
	return found
}
