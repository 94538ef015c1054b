package scanperlookup

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/later"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// testers are functions that search a list by a function, as the type checker names them.
func testers() []string {
	return []string{
		"slices.ContainsFunc", "slices.IndexFunc", "golang.org/x/exp/slices.ContainsFunc", "golang.org/x/exp/slices.IndexFunc",
		"github.com/samber/lo.Find", "github.com/samber/lo.FindIndexOf", "github.com/samber/lo.ContainsBy", "github.com/thoas/go-funk.Find",
	}
}

// firsts are functions that search the first in an order that a function computes.
func firsts() []string {
	return []string{"slices.MinFunc", "slices.MaxFunc", "github.com/samber/lo.MinBy", "github.com/samber/lo.MaxBy"}
}

// copiers are functions that copy the elements for such a search, as the type checker names them.
func copiers() []string { return []string{"slices.Collect", "slices.Clone"} }

// tests returns the frame that searches a list by a function, or copies it first; -1 for none. The
// function's own lines have most of the cost.
func tests(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		k := r.Stack[i].Owner.Kind
		if (k == gocode.Main || k == gocode.Dependency) && funcname.Match(funcname.Typed(r.Stack[i-1].Function), slices.Concat(testers(), firsts(), copiers())...) {
			return i
		}
	}
	return -1
}

// judgeTests judges a search by a function literal that compares the elements with a variable of
// the function around it.
func judgeTests(c *finder.Case) bool {
	p := c.Place.Outer()
	calls := syntax.CallsOf(p, append(testers(), firsts()...)...)
	if len(calls) != 1 || len(calls[0].Args) != 2 {
		return false
	}
	call := calls[0]
	lit, ok := syntax.Origin(p, call.Args[1]).(*ast.FuncLit)
	if !ok || len(lit.Body.List) == 0 {
		return false
	}
	order := funcname.Match(p.CalleeName(call), firsts()...)
	if order && !livesOn(p, call.Args[0]) && !samePassed(c, p, call) || keyed(p, lit) == order {
		return false
	}
	searches, ok1 := evidence.ReachedAt(c.Pass, p, call.Pos())
	tested, ok2 := evidence.ReachedAt(c.Pass, p, lit.Body.List[0].Pos())
	if !ok1 || !ok2 || searches <= 0 || tested < least*searches {
		return false
	}
	xs := syntax.Text(call.Args[0])
	n := units.Number(tested / searches)
	if order {
		c.Cause = fmt.Sprintf("%s compares all %s elements of %s each time, to find the first in an order.", symbol.Short(p.CalleeName(call)), n, xs)
		c.Fix = fmt.Sprintf("Keep %s in that order as it changes: container/heap for a minimum or maximum, or a sorted slice.", xs)
		c.Confidence = rule.Likely // the call does not show how often the order changes
		c.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.99}
		return true
	}
	return testWords(c.Match, p, predicated{symbol.Short(p.CalleeName(call)), xs, n, lit, false})
}

// samePassed reports whether a loop of a caller passes the same list for the parameter that a call
// searches.
func samePassed(c *finder.Case, p *gocode.Place, call *ast.CallExpr) bool {
	if !passed(p, call.Args[0]) {
		return false
	}
	for _, r := range c.CPU {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.File == c.Site.File && f.Line == c.Site.Line })
		if i >= 0 {
			return sameIn(c.Pass, r.Stack, i, p, call, call.Args[0])
		}
	}
	return false
}

// keyed reports whether a function literal depends on a variable of the function around it, such as
// the key that is searched. A test of the elements alone has no key.
func keyed(p *gocode.Place, lit *ast.FuncLit) bool {
	found := false
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, ok := p.Object(id).(*types.Var)
			found = found || ok && !v.IsField() && syntax.Local(p, v) && !syntax.Inside(lit, v.Pos())
		}
		return !found
	})
	return found
}

// predicate reports whether a call tests an element by a function that the caller gives, and which
// is the same for all elements.
func predicate(p *gocode.Place, call *ast.CallExpr, vars elements) bool {
	v := syntax.Named(p, call.Fun)
	if v == nil || v.IsField() || !syntax.Param(p, v) || vars.in(p, call.Fun) {
		return false
	}
	_, function := v.Type().Underlying().(*types.Signature)
	return function && vars.in(p, call.Args...)
}

// only reports whether a statement gives variables of the element new values that come from it:
// name = strings.ToLower(name).
func (v elements) only(p *gocode.Place, a *ast.AssignStmt) bool {
	if a.Tok != token.ASSIGN || !v.in(p, a.Rhs...) {
		return false
	}
	for _, lhs := range a.Lhs {
		id, ok := lhs.(*ast.Ident)
		if !ok || id.Name != "_" && !v[p.Object(id)] {
			return false
		}
	}
	return true
}

// answered returns the call whose result a variable has: ok in "if ok, _ := path.Match(x, y); ok"
// and in "ok := test(x, y)".
func answered(p *gocode.Place, id *ast.Ident) *ast.CallExpr {
	v := syntax.LocalVar(p, id)
	if v == nil || later.Sets(p, v) > 1 {
		return nil
	}
	stmt, _ := syntax.Declared(p, v)
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return nil
	}
	call, _ := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	return call
}

// yielded returns the list that an iterator goes over, or the iterator itself if it is a function
// of the package that goes over a list; nil for others, which may read from outside.
func yielded(p *gocode.Place, e ast.Expr) ast.Expr {
	if t := p.TypeOf(e); t == nil {
		return nil
	} else if _, function := t.Underlying().(*types.Signature); !function {
		return nil
	}
	if of := loops.Yielded(p, e); of != nil {
		return of
	}
	var fn *types.Func
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		fn = p.Callee(x)
	case *ast.SelectorExpr:
		fn, _ = p.Object(x.Sel).(*types.Func)
	case *ast.Ident:
		fn, _ = p.Object(x).(*types.Func)
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return nil
	}
	memory := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.RangeStmt); ok {
			t := p.TypeOf(r.X)
			memory = memory || t != nil && list(t)
		}
		return !memory
	})
	if !memory {
		return nil
	}
	return e
}
