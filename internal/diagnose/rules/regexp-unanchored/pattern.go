package regexpunanchored

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	resyntax "regexp/syntax"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// mostSteps is how many variables, fields and lists an expression is followed through.
const mostSteps = 6

// patterns are those of all expressions that a call may have.
type patterns struct {
	syntax *gocode.Syntax
	seen   map[key]bool // those that are being followed
	all    int
	open   int    // how many are not anchored
	first  string // of those
	name   string // where they are kept
}

// key is a variable, as itself or as a list.
type key struct {
	v    *types.Var
	list bool
}

// of adds the patterns of an expression's values; false if one is not known.
func (s *patterns) of(p *gocode.Place, e ast.Expr, steps int) bool {
	if e == nil || steps == 0 {
		return false
	}
	if s.name == "" {
		s.name = syntax.Text(e)
	}
	switch x := syntax.Origin(p, e).(type) {
	case *ast.CallExpr:
		return s.compiled(p, x)
	case *ast.IndexExpr:
		return s.elements(p, x.X, steps-1)
	case *ast.Ident, *ast.SelectorExpr:
		v := syntax.Named(p, x)
		if v == nil || s.seen[key{v: v}] {
			return v != nil
		}
		s.seen[key{v: v}] = true
		if stmt, _ := syntax.Declared(p, v); stmt != nil {
			loop, ok := stmt.(*ast.RangeStmt)
			return ok && syntax.LocalVar(p, loop.Value) == v && s.elements(p, loop.X, steps-1)
		}
		given := given(s.syntax, p, x, v)
		return len(given) > 0 && !slices.ContainsFunc(given, func(g flow.Argument) bool { return !s.of(g.Place, g.Value, steps-1) })
	}
	return false
}

// given returns what the main module gives to a parameter or a field.
func given(s *gocode.Syntax, p *gocode.Place, e ast.Expr, v *types.Var) (all []flow.Argument) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || !v.IsField() {
		return flow.Passed(s, p, v)
	}
	owner := p.TypeOf(sel.X)
	if ptr, ok := owner.(*types.Pointer); ok {
		owner = ptr.Elem()
	}
	for _, value := range s.ValuesOf(types.TypeString(owner, nil), v.Name()) {
		all = append(all, flow.Argument{Place: value.Place, Value: value.Value})
	}
	return all
}

// elements is of for the elements of a list or a map.
func (s *patterns) elements(p *gocode.Place, e ast.Expr, steps int) bool {
	if steps == 0 {
		return false
	}
	switch x := syntax.Origin(p, e).(type) {
	case *ast.CompositeLit:
		for _, value := range x.Elts {
			if kv, ok := value.(*ast.KeyValueExpr); ok {
				value = kv.Value
			}
			if !s.of(p, value, steps-1) {
				return false
			}
		}
		return s.stored(p, e, steps)
	case *ast.CallExpr:
		return s.built(p, e, x, steps)
	case *ast.Ident, *ast.SelectorExpr:
		v := syntax.Named(p, x)
		if v == nil || s.seen[key{v, true}] {
			return v != nil
		}
		s.seen[key{v, true}] = true
		var all []flow.Argument
		for _, value := range syntax.Assigned(p, v) {
			all = append(all, flow.Argument{Place: p, Value: value})
		}
		if len(all) == 0 {
			all = given(s.syntax, p, x, v)
		}
		return len(all) > 0 && !slices.ContainsFunc(all, func(g flow.Argument) bool { return !s.elements(g.Place, g.Value, steps-1) }) && s.stored(p, e, steps)
	}
	return false
}

// built is elements for the result of make or append.
func (s *patterns) built(p *gocode.Place, list ast.Expr, call *ast.CallExpr, steps int) bool {
	switch p.CalleeName(call) {
	case "make":
		return s.stored(p, list, steps)
	case "append":
		if call.Ellipsis.IsValid() {
			return false
		}
		return s.elements(p, call.Args[0], steps) &&
			!slices.ContainsFunc(call.Args[1:], func(arg ast.Expr) bool { return !s.of(p, arg, steps-1) })
	}
	return false
}

// stored adds the patterns of the elements that the package stores in a list or a map by an index.
func (s *patterns) stored(p *gocode.Place, list ast.Expr, steps int) bool {
	v := syntax.Named(p, list)
	if v == nil {
		return true // of a literal
	}
	known := true
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || !known {
				return known
			}
			for i, lhs := range a.Lhs {
				at, ok := ast.Unparen(lhs).(*ast.IndexExpr)
				if !ok || syntax.Named(p, at.X) != v {
					continue
				}
				pos := p.Fset.Position(a.Pos())
				in, ok := s.syntax.At(pos.Filename, pos.Line)
				known = known && ok && len(a.Lhs) == len(a.Rhs) && s.of(in, a.Rhs[min(i, len(a.Rhs)-1)], steps-1)
			}
			return known
		})
	}
	return known
}

// compiled adds the patterns that a call compiles.
func (s *patterns) compiled(p *gocode.Place, call *ast.CallExpr) bool {
	if len(call.Args) != 1 || !funcname.Match(p.CalleeName(call), "regexp.MustCompile", "regexp.Compile", "regexp.MustCompilePOSIX", "regexp.CompilePOSIX") {
		return false
	}
	values := flow.Constants(s.syntax, p, call.Args[0])
	if values == nil {
		if !startsAnchored(p, call.Args[0]) {
			return false
		}
		s.all++
		return true
	}
	for _, v := range values {
		if v.Kind() != constant.String {
			return false
		}
		pattern := constant.StringVal(v)
		s.all++
		if !settled(pattern) {
			if s.open++; s.open == 1 {
				s.first = pattern
			}
		}
	}
	return true
}

// startsAnchored reports whether a pattern that is put together starts with an anchor.
func startsAnchored(p *gocode.Place, e ast.Expr) bool {
	e = syntax.Origin(p, e)
	if call, ok := e.(*ast.CallExpr); ok && p.CalleeName(call) == "fmt.Sprintf" {
		e = call.Args[0]
	}
	first := e
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		first = syntax.Operands(sum)[0]
	}
	text, ok := syntax.ConstString(p, first)
	return ok && (strings.HasPrefix(text, "^") || strings.HasPrefix(text, `\A`))
}

// settled reports whether a search for a pattern is over at the start of a text: it is anchored, or
// it matches nothing there.
func settled(pattern string) bool {
	re, err := resyntax.Parse(pattern, resyntax.Perl)
	if err != nil || anchored(re) {
		return true
	}
	made, err := regexp.Compile(`\A(?:` + pattern + `)`)
	return err != nil || made.MatchString("")
}

// anchored reports whether matches of an expression start at the start of the text.
func anchored(re *resyntax.Regexp) bool {
	switch re.Op {
	case resyntax.OpBeginText:
		return true
	case resyntax.OpConcat, resyntax.OpCapture, resyntax.OpPlus:
		return anchored(re.Sub[0])
	case resyntax.OpRepeat:
		return re.Min > 0 && anchored(re.Sub[0])
	case resyntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *resyntax.Regexp) bool { return !anchored(sub) })
	}
	return false
}
