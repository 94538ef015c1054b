package flow

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Pattern returns the constant pattern of the expression whose method a call calls; false if it is
// not known, or not always the same.
func Pattern(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (pattern string, ok bool) {
	all, ok := Patterns(s, p, call)
	if !ok || len(all) != 1 {
		return "", false
	}
	return all[0], true
}

// Patterns returns the different constant patterns of the expressions whose method a call may call;
// false if one of them is not known. See [Compiled].
func Patterns(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (all []string, ok bool) {
	return PatternsOf(s, p, syntax.Receiver(call))
}

// PatternsOf is [Patterns] for the expressions that an expression of the program may be.
func PatternsOf(s *gocode.Syntax, p *gocode.Place, e ast.Expr) (all []string, ok bool) {
	given, ok := Compiled(s, p, e)
	if !ok {
		return nil, false
	}
	for _, g := range given {
		values := Constants(s, g.Place, g.Value)
		if len(values) == 0 {
			return nil, false
		}
		for _, v := range values {
			if v.Kind() != constant.String {
				return nil, false
			}
			if text := constant.StringVal(v); !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all, len(all) > 0
}

// Compiled returns the patterns from which the regular expressions are compiled that an expression
// may be: those of a variable, of a field, of what callers pass for a parameter, of the elements of
// a list or a map that a literal sets, or of a function that returns one of these. It returns false
// if one of them is not known.
func Compiled(s *gocode.Syntax, p *gocode.Place, e ast.Expr) (patterns []Argument, ok bool) {
	if e == nil {
		return nil, false
	}
	return compiled(s, p, e, mostSteps)
}

func compiled(s *gocode.Syntax, p *gocode.Place, e ast.Expr, steps int) (patterns []Argument, ok bool) {
	if steps == 0 {
		return nil, false
	}
	if list, key := container(p, e); list != nil {
		return elementsCompiled(s, p, list, key, steps-1)
	}
	for _, source := range Sources(s, p, e) {
		var found []Argument
		made, is := ast.Unparen(source.Value).(*ast.CallExpr)
		switch list, key := container(source.Place, source.Value); {
		case list != nil:
			found, ok = elementsCompiled(s, source.Place, list, key, steps-1)
		case !is:
			return nil, false
		case len(made.Args) == 1 && funcname.Match(source.CalleeName(made), "regexp.MustCompile", "regexp.Compile"):
			found, ok = []Argument{{source.Place, made.Args[0]}}, true
		default:
			in, value := result(source.Place, made)
			if in == nil {
				return nil, false
			}
			found, ok = compiled(s, in, value, steps-1)
		}
		if !ok {
			return nil, false
		}
		patterns = append(patterns, found...)
	}
	return patterns, len(patterns) > 0
}

// result returns what a function of the package returns that does nothing else, also one that
// sync.OnceValue made.
func result(p *gocode.Place, call *ast.CallExpr) (*gocode.Place, ast.Expr) {
	if in, value := syntax.Returned(p, call); in != nil {
		return in, value
	}
	once, ok := syntax.Origin(p, call.Fun).(*ast.CallExpr)
	if !ok || p.CalleeName(once) != "sync.OnceValue" || len(once.Args) != 1 {
		return nil, nil
	}
	lit, ok := once.Args[0].(*ast.FuncLit)
	if !ok || len(lit.Body.List) != 1 {
		return nil, nil
	}
	ret, ok := lit.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return nil, nil
	}
	return p, ret.Results[0]
}

// container returns the list or map whose element an expression is, and the element's index, which
// is nil for the elements that a loop ranges over: list[i], or a variable for it. It returns nil
// for other expressions.
func container(p *gocode.Place, e ast.Expr) (list, key ast.Expr) {
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		return x.X, x.Index
	}
	v := syntax.LocalVar(p, e)
	if v == nil {
		return nil, nil
	}
	if ranged := Ranged(p, v); ranged != nil {
		return ranged, nil
	}
	stmt, value := syntax.Declared(p, v)
	if a, ok := stmt.(*ast.AssignStmt); ok && value == nil && len(a.Rhs) == 1 && len(a.Lhs) == 2 && syntax.LocalVar(p, a.Lhs[0]) == v {
		value = a.Rhs[0] // e, ok := m[k]
	}
	if x, ok := value.(*ast.IndexExpr); ok && len(syntax.Assigned(p, v)) < 2 {
		return x.X, x.Index
	}
	return nil, nil
}

// elementsCompiled is [Compiled] for the elements of a list or a map that a literal sets, if
// nothing else puts elements into it.
func elementsCompiled(s *gocode.Syntax, p *gocode.Place, list, key ast.Expr, steps int) (patterns []Argument, ok bool) {
	var keys []constant.Value
	if key != nil {
		keys = Constants(s, p, key)
	}
	if set(p, syntax.Named(p, list)) {
		return nil, false
	}
	for _, source := range Sources(s, p, list) {
		lit, is := ast.Unparen(source.Value).(*ast.CompositeLit)
		if !is {
			return nil, false
		}
		for _, e := range lit.Elts {
			if kv, is := e.(*ast.KeyValueExpr); is {
				if at, known := source.Const(kv.Key); known && len(keys) > 0 && !slices.ContainsFunc(keys, func(k constant.Value) bool { return k.ExactString() == at.ExactString() }) {
					continue
				}
				e = kv.Value
			}
			found, ok := compiled(s, source.Place, e, steps)
			if !ok {
				return nil, false
			}
			patterns = append(patterns, found...)
		}
	}
	return patterns, len(patterns) > 0
}

// set reports whether the package assigns to elements of a list or map, or appends to it.
func set(p *gocode.Place, v *types.Var) bool {
	found := false
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || found {
				return !found
			}
			for _, lhs := range a.Lhs {
				x, ok := ast.Unparen(lhs).(*ast.IndexExpr)
				found = found || ok && syntax.Named(p, x.X) == v
			}
			for _, rhs := range a.Rhs {
				call, ok := ast.Unparen(rhs).(*ast.CallExpr)
				found = found || ok && p.CalleeName(call) == "append" && len(call.Args) > 0 && syntax.Named(p, call.Args[0]) == v
			}
			return !found
		})
	}
	return found || v == nil
}
