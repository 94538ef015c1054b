package scanperlookup

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
)

// shape is a loop that does nothing but test elements, but for those that it looks for.
type shape struct {
	over    ast.Expr // what is walked
	cond    ast.Expr // the test
	key     ast.Expr // what the elements are compared with; nil where the test is a call
	element ast.Expr // the element's side of the comparison
	hit     ast.Stmt // the first statement for an element that is found
	filters bool     // it goes on after a hit
	until   int      // the last line of the test
}

// shapeOf recognises
//
//	for … xs { …; if test(x) { …; return } }      a search
//	for … xs { …; if test(x) { ys = append(…) } } a filter
//	for … xs { …; if !test(x) { continue }; … }   either
//
// where the test compares something of the element with something that is not of it, and what stands before it
// only defines variables.
func shapeOf(p *gocode.Place, loop ast.Stmt) (shape, bool) {
	over, vars := walked(p, loop)
	if over == nil || bytes(p.TypeOf(over)) {
		return shape{}, false
	}
	body := rule.LoopBody(loop).List
	for i, stmt := range body {
		switch s := stmt.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				return shape{}, false
			}
			for _, lhs := range s.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && vars.in(p, s.Rhs...) {
					vars[p.Object(id)] = true
				}
			}
		case *ast.IfStmt:
			return tested(p, s, body[i+1:], over, vars)
		default:
			return shape{}, false
		}
	}
	return shape{}, false
}

func tested(p *gocode.Place, s *ast.IfStmt, rest []ast.Stmt, over ast.Expr, vars elements) (shape, bool) {
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
	sh := shape{over: over, cond: s.Cond, until: rule.Line(p, s.Body.Lbrace)}
	b, branch := last.(*ast.BranchStmt)
	switch {
	case branch && b.Tok == token.CONTINUE && b.Label == nil && len(s.Body.List) == 1:
		if len(rest) == 0 {
			return shape{}, false
		}
		sh.hit, sh.filters = rest[0], !leaves(rest[len(rest)-1])
		sh.cond = negated(s.Cond)
	case len(rest) > 0:
		return shape{}, false // the others are worked on, too
	default:
		sh.hit, sh.filters = s.Body.List[0], !leaves(last)
	}
	if sh.cond == nil {
		return shape{}, false
	}
	return sh, sh.compares(p, sh.cond, vars)
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

// negated is what holds for the elements that "if cond { continue }" leaves; nil when that is no comparison.
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

// compares reports whether a test is, or starts with, a comparison of the element with something else, and notes the sides.
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
		}
	case *ast.CallExpr:
		if _, conversion := p.Conversion(c); conversion || p.CalleeName(c) == "" {
			return false
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
			others = true // a method of something else
		}
		return of && others
	}
	return false
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

// elements are variables that stand for the element, or for something of it.
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

// walked returns what a loop walks and the variables of its elements; nil when it walks no list.
func walked(p *gocode.Place, loop ast.Stmt) (over ast.Expr, vars elements) {
	vars = elements{}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		if t := p.TypeOf(l.X); t == nil || !list(t) {
			return nil, nil
		}
		for _, e := range []ast.Expr{l.Key, l.Value} {
			if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
				vars[p.Object(id)] = true
			}
		}
		return l.X, vars
	case *ast.ForStmt:
		// for i := …; i < len(xs); i++
		cond, ok := l.Cond.(*ast.BinaryExpr)
		if !ok || cond.Op != token.LSS {
			return nil, nil
		}
		id, ok := cond.X.(*ast.Ident)
		call, isCall := ast.Unparen(cond.Y).(*ast.CallExpr)
		if !ok || !isCall || p.CalleeName(call) != "len" || len(call.Args) != 1 {
			return nil, nil
		}
		vars[p.Object(id)] = true
		return call.Args[0], vars
	}
	return nil, nil
}

// list reports whether a loop over the type walks elements in memory.
func list(t types.Type) bool {
	switch u := t.Underlying().(type) {
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
	var elem types.Type
	switch u := t.Underlying().(type) {
	case *types.Slice:
		elem = u.Elem()
	case *types.Array:
		elem = u.Elem()
	case *types.Basic:
		return true
	default:
		return false
	}
	b, ok := elem.Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Uint8 || b.Kind() == types.Int32)
}
