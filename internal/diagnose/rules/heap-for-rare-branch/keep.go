package heapforrarebranch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// levels is how many functions may pass a value on to the one that keeps it.
const levels = 3

// search looks for where values are kept.
type search struct {
	pass *rule.Pass
	runs float64 // how often the value is allocated, for each unit of work
}

// keep is where a function may keep what it gets.
type keep struct {
	place   *gocode.Place // in that function
	by      string        // its name
	param   *types.Var
	use     ast.Node
	runs    float64
	literal bool // a function literal is kept, or what it shares
}

// passed returns where the function that gets a value as an argument keeps it, if it does so only
// in branches that seldom run; nil otherwise.
func (s *search) passed(p *gocode.Place, value ast.Expr) *keep {
	call, ok := syntax.Parent(p, value).(*ast.CallExpr)
	if !ok {
		return nil
	}
	k, ok := s.kept(p, call, value, levels)
	if !ok || k == nil {
		return nil
	}
	_, k.literal = value.(*ast.FuncLit)
	return k
}

// kept returns where a call keeps an argument, nil if it does not. It reports false if it keeps the
// argument often, or if that is not known.
func (s *search) kept(p *gocode.Place, call *ast.CallExpr, value ast.Expr, depth int) (found *keep, ok bool) {
	i := slices.IndexFunc(call.Args, func(arg ast.Expr) bool { return ast.Unparen(arg) == value })
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if i < 0 || decl == nil || decl.Body == nil || depth == 0 || fn.Signature().Variadic() || i >= fn.Signature().Params().Len() {
		return nil, false
	}
	inner, param := p.Entry(decl), fn.Origin().Signature().Params().At(i) // of a generic function as it is declared
	for _, use := range syntax.Uses(inner, param) {
		if inner.Info.Defs[use] != nil || harmless(inner, param, use) {
			continue
		}
		runs, known := evidence.ReachedAt(s.pass, inner, use.Pos())
		if lit := syntax.Capturing(inner, param, use); lit != nil {
			runs, known = evidence.ReachedAt(s.pass, inner, lit.Pos())
		}
		if known && runs <= mostKept*s.runs {
			if found == nil {
				found = &keep{place: inner, by: decl.Name.Name, param: param, use: use, runs: runs}
			}
			continue
		}
		on, passes := syntax.Parent(inner, use).(*ast.CallExpr)
		if !passes {
			return nil, false
		}
		below, fine := s.kept(inner, on, use, depth-1)
		if !fine {
			return nil, false
		}
		if found == nil {
			found = below
		}
	}
	return found, true
}

// harmless reports whether a use of a parameter cannot keep it: a call of a function, a test, a
// copy of what a pointer points at, or a field of that which points at nothing.
func harmless(p *gocode.Place, param *types.Var, use *ast.Ident) bool {
	if syntax.Capturing(p, param, use) != nil {
		return false
	}
	switch n := syntax.Parent(p, use).(type) {
	case *ast.CallExpr:
		return n.Fun == ast.Expr(use) && !started(p, n)
	case *ast.BinaryExpr:
		return true
	case *ast.StarExpr:
		switch n := syntax.Parent(p, n).(type) {
		case *ast.UnaryExpr:
			return n.Op != token.AND
		case *ast.SelectorExpr:
			return false
		}
		return true
	case *ast.SelectorExpr:
		s := p.Info.Selections[n]
		if s == nil || s.Kind() != types.FieldVal {
			return false
		}
		u, address := syntax.Parent(p, n).(*ast.UnaryExpr)
		_, plain := s.Type().Underlying().(*types.Basic)
		return plain && !(address && u.Op == token.AND)
	}
	return false
}

// started reports whether a call runs in a goroutine or when the function returns.
func started(p *gocode.Place, call *ast.CallExpr) bool {
	_, ok := syntax.Parent(p, call).(*ast.GoStmt)
	return ok
}

// address returns the expression that takes the address of a variable; nil if a use does not.
func address(p *gocode.Place, id *ast.Ident) ast.Expr {
	if u, ok := syntax.Parent(p, id).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return u
	}
	return nil
}

// words says where the value is kept.
func (k *keep) words() string {
	where := syntax.Where(k.place, k.use.Pos())
	if call, ok := syntax.Parent(k.place, k.use).(*ast.CallExpr); ok && call.Fun != k.use {
		return fmt.Sprintf("hands %s to %s (%s)", k.param.Name(), syntax.Text(call.Fun), where)
	}
	return fmt.Sprintf("keeps %s (%s)", k.param.Name(), where)
}

// confirmed reports whether the compiler says that the parameter leaks to the heap.
func (k *keep) confirmed(p *rule.Pass) bool {
	if p.Facts == nil {
		return false
	}
	at := k.place.Fset.Position(k.param.Pos())
	return slices.ContainsFunc(p.Facts.At(at.Filename, at.Line), func(f gocode.Fact) bool {
		return f.Code == "leak" && strings.Contains(f.Message, "param") && strings.Contains(f.Message, k.param.Name())
	})
}
