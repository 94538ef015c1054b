package labelled

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// otel is the module whose instruments get attributes with each value.
const otel = "go.opentelemetry.io/otel/"

// deepest is how many calls and variables lead from a call to its labels.
const deepest = 6

// Labels returns the labels that a call gives to a metric, with their places: a call that looks a
// metric up, one that records a value with attributes of OpenTelemetry, or one that adds to a map
// of package expvar. It returns false for other calls.
func Labels(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) ([]flow.Argument, bool) {
	fn := p.Callee(call)
	if fn == nil {
		return nil, false
	}
	switch {
	case strings.HasPrefix(fn.FullName(), "(*expvar.Map).Add") || fn.FullName() == "(*expvar.Map).Set":
		return []flow.Argument{{Place: p, Value: call.Args[0]}}, true
	case Resolver(p, call):
		values, _ := Values(p, call)
		var all []flow.Argument
		for _, v := range values {
			all = append(all, flow.Argument{Place: p, Value: v})
		}
		return all, true
	case fn.Pkg() != nil && fn.Pkg().Path()+"/" == otel+"metric/" && (fn.Name() == "Add" || fn.Name() == "Record"):
		var all []flow.Argument
		for _, arg := range call.Args {
			all = append(all, attributes(s, p, arg, deepest)...)
		}
		return all, true
	}
	return nil, false
}

// attributes returns the values of the attributes in an expression.
func attributes(s *gocode.Syntax, p *gocode.Place, e ast.Expr, depth int) (all []flow.Argument) {
	if depth == 0 {
		return nil
	}
	if v := syntax.Named(p, e); v != nil {
		sources := flow.Sources(s, p, e)
		for _, from := range sources {
			if syntax.Named(from.Place, from.Value) == nil {
				all = append(all, attributes(s, from.Place, from.Value, depth-1)...)
			}
		}
		if len(all) == 0 {
			for _, set := range syntax.Assigned(p, v) {
				all = append(all, attributes(s, p, set, depth-1)...)
			}
		}
		return all
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			all = append(all, attributes(s, p, x, depth-1)...)
		}
	case *ast.CallExpr:
		if keyed(p.TypeOf(e)) && len(e.Args) > 0 {
			return []flow.Argument{{Place: p, Value: e.Args[len(e.Args)-1]}}
		}
		for _, arg := range e.Args {
			all = append(all, attributes(s, p, arg, depth-1)...)
		}
		for _, r := range results(s, p, e) {
			all = append(all, attributes(s, r.Place, r.Value, depth-1)...)
		}
	}
	return all
}

// keyed reports whether a type is that of one attribute.
func keyed(t types.Type) bool {
	return t != nil && types.TypeString(t, nil) == otel+"attribute.KeyValue"
}

// results returns the first results of the function of the program that a call calls.
func results(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (all []flow.Argument) {
	fn := p.Callee(call)
	if fn == nil || s == nil {
		return nil
	}
	in, ok := s.Declared(fn)
	if !ok || in.Decl == nil {
		return nil
	}
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) > 0 {
				all = append(all, flow.Argument{Place: in, Value: n.Results[0]})
			}
		}
		return true
	})
	return all
}
