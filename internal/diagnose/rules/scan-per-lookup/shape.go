package scanperlookup

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// shape is a loop that only tests elements, except those that it looks for.
type shape struct {
	over    ast.Expr // what is walked
	cond    ast.Expr // the test
	key     ast.Expr // what the elements are compared with; nil if the test is a call
	element ast.Expr // the element's side of the comparison
	fold    bool     // the two are compared without regard to case
	hit     ast.Stmt // the first statement for an element that is found
	filters bool     // it continues after a hit
	always  bool     // the first statement runs for elements that are not found, too
	until   int      // the last line of the test
	kind    kind
	scan    ast.Stmt      // the loop
	passes  []ast.Expr    // of a search of the first in an order: tests that depend on what is asked for, other than key
	given   bool          // the list is a parameter
	counts  *ast.CallExpr // whose results the test counts, as a validation does; nil for other tests

	idling *idling // of a visit of all elements, what it does

	inverted bool // the test is for the elements that are left alone
	// Of elements that are due: whether that depends on the clock, and the fields that say so.
	clock  bool
	fields []*types.Var
	// Of a loop that gives each element to a function: the function, the call, and the last line of
	// the test in it.
	in    *gocode.Place
	call  *ast.CallExpr
	guard int
}

// kind is what a loop looks for.
type kind int

const (
	matching kind = iota // elements that pass the test
	extreme              // the first in an order
	last                 // the end of a linked list
	rows                 // rows of a query that pass the test
	due                  // those in a state that does not depend on what the function was asked for
	idle                 // those that have something to do
)

// shapeOf recognises
//
//	for … xs { …; if test(x) { …; return } }      a search
//	for … xs { …; if test(x) { ys = append(…) } } a filter
//	for … xs { …; if !test(x) { continue }; … }   either
//	for x.next != nil { x = x.next }              a walk to the end
//
// also over an iterator of a list, and with a test that the function's caller gives, and the first
// three over the rows of a query; and what [shape.first] does. The test compares a part of the
// element with something else, and statements before it only define variables, or are for a few
// elements alone, as far as seldom reports that: the removal of empty places, a value that is
// computed once.
func shapeOf(p *gocode.Place, loop ast.Stmt, seldom func(*ast.IfStmt) bool) (shape, bool) {
	if sh, ok := toEnd(p, loop); ok {
		return sh, true
	}
	over, vars := walked(p, loop)
	if over == nil || bytes(p.TypeOf(over)) {
		return shape{}, false
	}
	queried := isRows(p.TypeOf(over))
	if best := (shape{over: over, scan: loop}); !queried && best.first(p, maps.Clone(vars)) {
		return best, true
	}
	body, g := loops.Body(loop).List, &guards{Place: p, loop: loop, vars: vars}
	for i, stmt := range body {
		if !queried && g.all(stmt) {
			return g.search(over, body[i+1:])
		}
		switch s := stmt.(type) {
		case *ast.DeclStmt:
			if !queried {
				return shape{}, false
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !vars.only(p, s) {
				return shape{}, false
			}
			for _, lhs := range s.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && vars.in(p, s.Rhs...) {
					vars[p.Object(id)] = true
				}
			}
		case *ast.IfStmt:
			if queried && scans(p, s, over, vars) || i+1 < len(body) && s.Else == nil && seldom(s) {
				continue
			}
			sh, ok := tested(p, s, body[i+1:], shape{over: over, scan: loop}, vars)
			if !ok && !queried && g.skips(s) {
				continue
			}
			if queried {
				sh.kind = rows
			}
			return sh, ok
		default:
			return shape{}, false
		}
	}
	return shape{}, false
}

func tested(p *gocode.Place, s *ast.IfStmt, rest []ast.Stmt, sh shape, vars elements) (shape, bool) {
	if s.Else != nil || len(s.Body.List) == 0 {
		return shape{}, false
	}
	if init, ok := s.Init.(*ast.AssignStmt); ok && vars.in(p, init.Rhs...) {
		for _, lhs := range init.Lhs {
			if id, ok := lhs.(*ast.Ident); ok {
				vars[p.Object(id)] = true
			}
		}
	}
	last := s.Body.List[len(s.Body.List)-1]
	sh.cond, sh.until = s.Cond, syntax.Line(p, s.Body.Lbrace)
	b, branch := last.(*ast.BranchStmt)
	switch {
	case branch && b.Tok == token.CONTINUE && b.Label == nil && len(s.Body.List) == 1:
		if len(rest) == 0 {
			return shape{}, false
		}
		sh.hit, sh.filters = rest[0], !leaves(rest[len(rest)-1])
		sh.cond = negated(s.Cond)
	case len(rest) > 0:
		return shape{}, false // the loop works on the others too
	default:
		sh.hit, sh.filters = s.Body.List[0], !leaves(last)
	}
	if sh.cond == nil {
		return shape{}, false
	}
	return sh, sh.compares(p, sh.cond, vars)
}

// toEnd recognises loops that only follow links.
func toEnd(p *gocode.Place, loop ast.Stmt) (shape, bool) {
	l, ok := loop.(*ast.ForStmt)
	if !ok || l.Cond == nil {
		return shape{}, false
	}
	cond, ok := ast.Unparen(l.Cond).(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || !failure(p, cond.Y) {
		return shape{}, false
	}
	steps := l.Body.List
	if l.Post != nil {
		steps = append([]ast.Stmt{l.Post}, steps...)
	}
	var at *types.Var
	for _, s := range steps {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return shape{}, false
		}
		to, _ := syntax.Var(p, a.Lhs[0])
		switch from := ast.Unparen(a.Rhs[0]).(type) {
		case *ast.SelectorExpr: // at = at.next
			root, _ := syntax.Var(p, from.X)
			if to == nil || root != to || at != nil {
				return shape{}, false
			}
			at = to
		case *ast.Ident: // last = at
		default:
			return shape{}, false
		}
	}
	if at == nil {
		return shape{}, false
	}
	if _, pointer := at.Type().Underlying().(*types.Pointer); !pointer || !(elements{at: true}).in(p, cond.X) {
		return shape{}, false
	}
	return shape{over: cond.X, cond: cond, hit: l.Body, kind: last, until: syntax.Line(p, l.Body.Rbrace)}, true
}

// isRows reports whether a type is the result of a query.
func isRows(t types.Type) bool {
	return t != nil && funcname.Match(types.TypeString(t, nil), "*database/sql.Rows", "github.com/jackc/pgx/v5.Rows", "*github.com/jmoiron/sqlx.Rows")
}

// scans reports whether a statement reads a row into variables, which are elements from then on.
func scans(p *gocode.Place, s *ast.IfStmt, over ast.Expr, vars elements) bool {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || len(init.Rhs) != 1 || s.Else != nil {
		return false
	}
	call, ok := ast.Unparen(init.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return false
	}
	of, _ := syntax.Var(p, over)
	if to, _ := syntax.Var(p, syntax.Receiver(call)); of == nil || to != of {
		return false
	}
	for _, arg := range call.Args {
		u, ok := ast.Unparen(arg).(*ast.UnaryExpr)
		if !ok || u.Op != token.AND {
			continue
		}
		e := ast.Unparen(u.X)
		for {
			sel, ok := e.(*ast.SelectorExpr)
			if !ok {
				break
			}
			e = ast.Unparen(sel.X)
		}
		if v, _ := syntax.Var(p, e); v != nil {
			vars[v] = true
		}
	}
	return true
}

// leaves reports whether a statement ends the loop.
func leaves(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK
	}
	return false
}

// negated returns what holds for the elements that "if cond { continue }" leaves; nil when that is
// not a comparison.
func negated(cond ast.Expr) ast.Expr {
	switch c := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			return c.X
		}
	case *ast.BinaryExpr:
		if c.Op == token.NEQ {
			return &ast.BinaryExpr{X: c.X, OpPos: c.OpPos, Op: token.EQL, Y: c.Y}
		}
	}
	return nil
}

// compares reports whether a test is, or starts with, a comparison of the element with another
// value, and records the sides.
func (sh *shape) compares(p *gocode.Place, cond ast.Expr, vars elements) bool {
	switch c := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		switch c.Op {
		case token.LAND:
			return sh.compares(p, c.X, vars) || sh.compares(p, c.Y, vars)
		case token.EQL:
			x, y := vars.in(p, c.X), vars.in(p, c.Y)
			if x == y || failure(p, c.X) || failure(p, c.Y) {
				return false
			}
			sh.element, sh.key = c.X, c.Y
			if y {
				sh.element, sh.key = c.Y, c.X
			}
			_, constant := p.Const(sh.key)
			return !constant
		case token.GTR, token.NEQ, token.GEQ:
			sh.counts = counted(p, c)
			return sh.counts != nil && sh.compares(p, sh.counts, vars)
		}
	case *ast.Ident: // ok := test(x, key), or with more results
		call := answered(p, c)
		if call == nil {
			return false
		}
		sh.cond = call
		return sh.compares(p, call, vars)
	case *ast.CallExpr:
		if _, conversion := p.Conversion(c); conversion {
			return false
		}
		if p.CalleeName(c) == "" {
			return predicate(p, c, vars)
		}
		if p.CalleeName(c) == "strings.EqualFold" {
			return sh.folds(p, c, vars)
		}
		of, others := vars.in(p, c.Fun), false
		for _, a := range c.Args {
			if vars.in(p, a) {
				of = true
			} else if _, constant := p.Const(a); !constant {
				others = true
			}
		}
		if sel, ok := c.Fun.(*ast.SelectorExpr); ok && !vars.in(p, sel.X) && p.Info.Selections[sel] != nil {
			others = true // a method of another value
		}
		return of && others && !alters(p, c)
	}
	return false
}

// folds records the sides of a call of strings.EqualFold.
func (sh *shape) folds(p *gocode.Place, call *ast.CallExpr, vars elements) bool {
	x, y := vars.in(p, call.Args[0]), vars.in(p, call.Args[1])
	if x == y {
		return false
	}
	sh.element, sh.key, sh.fold = call.Args[0], call.Args[1], true
	if y {
		sh.element, sh.key = call.Args[1], call.Args[0]
	}
	_, constant := p.Const(sh.key)
	return !constant
}

// sides returns the element's key and the key that is looked for, for a sentence about a map.
func (sh *shape) sides() (element, key string) {
	element, key = syntax.Text(sh.element), syntax.Text(sh.key)
	if sh.fold {
		return "strings.ToLower(" + element + ")", "strings.ToLower(" + key + ")"
	}
	return element, key
}

// counted returns the call whose results a comparison counts, to see whether there are some:
// len(t.find(x)) > 0, or the same with a variable; nil for others.
func counted(p *gocode.Place, c *ast.BinaryExpr) *ast.CallExpr {
	of, ok := ast.Unparen(c.X).(*ast.CallExpr)
	least, constant := syntax.ConstInt(p, c.Y)
	if !ok || !constant || p.CalleeName(of) != "len" || len(of.Args) != 1 || least != 0 && (least != 1 || c.Op != token.GEQ) {
		return nil
	}
	call, ok := syntax.Origin(p, of.Args[0]).(*ast.CallExpr)
	if !ok || p.CalleeName(call) == "" {
		return nil
	}
	return call
}

// alters reports whether a test visibly changes something, as one that notes each visit does.
func alters(p *gocode.Place, call *ast.CallExpr) bool {
	decl := p.Declaration(p.Callee(call))
	return decl != nil && decl.Body != nil && !effects.ChangesNothing(p.Entry(decl))
}

// failure reports whether an expression is nil or an error.
func failure(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return true
	}
	b, basic := t.Underlying().(*types.Basic)
	return basic && b.Kind() == types.UntypedNil || types.Identical(t, types.Universe.Lookup("error").Type())
}

// elements are variables that denote the element, or a part of it.
type elements map[types.Object]bool

// in reports whether one of the expressions names such a variable.
func (v elements) in(p *gocode.Place, list ...ast.Expr) bool {
	found := false
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && v[p.Object(id)] {
				found = true
			}
			return !found
		})
	}
	return found
}

// walked returns what a loop iterates over and the variables of its elements; nil when that is not
// a list.
func walked(p *gocode.Place, loop ast.Stmt) (over ast.Expr, vars elements) {
	vars = elements{}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		t := p.TypeOf(l.X)
		if key := counter(p, l.Key); key != nil && integer(t) { // for i := range n
			vars[key] = true
			return indexed(p, l, key), vars
		}
		over = l.X
		if t == nil || !list(t) {
			if over = yielded(p, l.X); over == nil {
				return nil, nil
			}
		}
		for _, e := range []ast.Expr{l.Key, l.Value} {
			if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
				vars[p.Object(id)] = true
			}
		}
		return over, vars
	case *ast.ForStmt:
		if call, ok := l.Cond.(*ast.CallExpr); ok && l.Init == nil && l.Post == nil { // for rows.Next()
			if to := syntax.Receiver(call); to != nil && isRows(p.TypeOf(to)) {
				return to, vars
			}
			return nil, nil
		}
		if cond, ok := l.Cond.(*ast.BinaryExpr); ok && cond.Op == token.NEQ && failure(p, cond.Y) { // for x := first; x != nil; x = x.next
			v, _ := syntax.Var(p, cond.X)
			post, step := l.Post.(*ast.AssignStmt)
			if v == nil || !step || len(post.Rhs) != 1 || !(elements{v: true}).in(p, post.Rhs[0]) {
				return nil, nil
			}
			vars[v] = true
			if init, ok := l.Init.(*ast.AssignStmt); ok && len(init.Rhs) == 1 {
				return init.Rhs[0], vars
			}
			return cond.X, vars
		}
		// for i := …; i < len(xs); i++
		cond, ok := l.Cond.(*ast.BinaryExpr)
		if ok && cond.Op == token.GEQ && counter(p, cond.X) != nil { // for i := len(xs) - 1; i >= 0; i--
			vars[counter(p, cond.X)] = true
			return indexed(p, l, counter(p, cond.X)), vars
		}
		if !ok || cond.Op != token.LSS {
			return nil, nil
		}
		id, ok := cond.X.(*ast.Ident)
		call, isCall := ast.Unparen(cond.Y).(*ast.CallExpr)
		if i := counter(p, cond.X); i != nil && !isCall && (loops.Invariant(p, l, cond.Y) || length(p, cond.Y)) { // for i := …; i < n; i++
			vars[i] = true
			return indexed(p, l, i), vars
		}
		if !ok || !isCall || p.CalleeName(call) != "len" || len(call.Args) != 1 {
			return nil, nil
		}
		vars[p.Object(id)] = true
		return call.Args[0], vars
	}
	return nil, nil
}

// length reports whether an expression is a variable that was set to the length of a list: a loop
// may shorten it when it removes an element.
func length(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	if v == nil {
		return false
	}
	_, value := syntax.Declared(p, v)
	call, ok := value.(*ast.CallExpr)
	return ok && p.CalleeName(call) == "len"
}

// counter returns the variable that a loop counts with; nil for none.
func counter(p *gocode.Place, e ast.Expr) *types.Var {
	if e == nil {
		return nil
	}
	return syntax.LocalVar(p, e)
}

// integer reports whether a type is one of integers.
func integer(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// list reports whether a loop over the type iterates over elements in memory.
func list(t types.Type) bool {
	switch u := syntax.Core(t).(type) {
	case *types.Slice, *types.Map, *types.Array:
		return true
	case *types.Pointer:
		return list(u.Elem())
	}
	return false
}

// bytes reports whether the elements are those of a text.
func bytes(t types.Type) bool {
	if t == nil {
		return true
	}
	if _, basic := t.Underlying().(*types.Basic); basic {
		return true
	}
	elem := syntax.Elem(t)
	if elem == nil {
		return false
	}
	b, ok := elem.Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Uint8 || b.Kind() == types.Int32)
}
