package literalpercall

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// leastFunctions is the minimum number of entries of a table of functions.
const leastFunctions = 4

// dispatches reports whether a literal is a map from constants to functions, some of which are
// bound to the receiver or to variables: each call creates all of them to call one.
func dispatches(p *gocode.Place, lit *ast.CompositeLit) bool {
	m, ok := p.TypeOf(lit).Underlying().(*types.Map)
	if !ok || len(lit.Elts) < leastFunctions {
		return false
	}
	if _, function := m.Elem().Underlying().(*types.Signature); !function {
		return false
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		if _, constant := p.Const(kv.Key); !constant {
			return false
		}
		switch v := ast.Unparen(kv.Value).(type) {
		case *ast.FuncLit:
		case *ast.SelectorExpr:
			if !syntax.Binds(p, v) && !declared(p, v) {
				return false
			}
		default:
			if !declared(p, v) {
				return false
			}
		}
	}
	return true
}

func describeDispatch(c *finder.Case, entries int) {
	c.Cause = fmt.Sprintf("%s builds a map of %d functions on every call, to call one of them: each is allocated with the variables that it uses.", syntax.FuncName(c.Place), entries)
	c.Fix = "Write a switch over the keys. Or move the map to a package variable, with functions that take these variables as parameters, such as the method expressions (*T).Method."
	c.Confidence = rule.Likely
	c.Fraction = &rule.Fraction{Expect: 0.95, Low: 0.8, High: 1}
}
