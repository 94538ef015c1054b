package labelled

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// resolvers are the methods that return a metric's child for its labels, in the Prometheus client
// and others like it, or the scope with some tags, in tally.
func resolvers() []string {
	return []string{"WithLabelValues", "GetMetricWithLabelValues", "With", "GetMetricWith", "Tagged"}
}

// recorders are methods of the child, of which it must have one, or of a scope.
func recorders() []string { return []string{"Inc", "Add", "Set", "Observe", "Counter"} }

// Resolves reports whether a function has the name of one that resolves a child.
func Resolves(function string) bool {
	name := function[strings.LastIndexByte(function, '.')+1:]
	for _, m := range resolvers() {
		if name == m {
			return true
		}
	}
	return ByName(name)
}

// ByName reports whether a function looks a metric up by a name that has the labels in it, as in
// VictoriaMetrics' client and in go-metrics.
func ByName(name string) bool {
	return strings.HasPrefix(name, "GetOrCreate") || strings.HasPrefix(name, "GetOrRegister")
}

// Resolver reports whether a call resolves a metric by labels: by its name, its parameters and the
// methods of its result.
func Resolver(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || !Resolves("."+fn.Name()) {
		return false
	}
	sig := fn.Signature()
	if ByName(fn.Name()) {
		return sig.Params().Len() > 0 && isString(sig.Params().At(0).Type()) && sig.Results().Len() > 0 && records(p, sig.Results().At(0).Type())
	}
	if sig.Recv() == nil {
		return false
	}
	if sig.Params().Len() != 1 || sig.Results().Len() == 0 || !labelType(sig.Params().At(0).Type()) {
		return false
	}
	return records(p, sig.Results().At(0).Type())
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// labelType reports whether a parameter's type is []string or a map of strings.
func labelType(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return isString(u.Elem())
	case *types.Map:
		return isString(u.Key()) && isString(u.Elem())
	}
	return false
}

func records(p *gocode.Place, t types.Type) bool {
	for _, name := range recorders() {
		obj, _, _ := types.LookupFieldOrMethod(t, true, p.Pkg, name)
		if _, ok := obj.(*types.Func); ok {
			return true
		}
	}
	return false
}

// Values returns the labels that a call is given, and reports whether they are in a map literal.
func Values(p *gocode.Place, call *ast.CallExpr) ([]ast.Expr, bool) {
	if fn := p.Callee(call); fn != nil && ByName(fn.Name()) {
		return call.Args[:1], false
	}
	if len(call.Args) == 1 {
		if lit, ok := syntax.Origin(p, call.Args[0]).(*ast.CompositeLit); ok {
			_, isMap := p.TypeOf(lit).Underlying().(*types.Map)
			var values []ast.Expr
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Value
				} else if isMap {
					continue
				}
				values = append(values, e)
			}
			return values, isMap
		}
	}
	if call.Ellipsis.IsValid() {
		return nil, false
	}
	return call.Args, false
}
