// Package jsonroundtrip finds values that are marshalled only to be unmarshalled again.
package jsonroundtrip

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is json-round-trip.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "json-round-trip",
		Kind:  rule.CPU,
		Title: "Marshalled only to be unmarshalled",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A copy by assignment costs about a hundredth of encoding, scanning and
				// reflection.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 2,
				Removes:     true,
			},
			Start: finder.Calls{Functions: []string{
				"encoding/json.Marshal", "encoding/json.MarshalIndent", "encoding/json.Unmarshal", "gopkg.in/yaml%2ev2.Marshal", "gopkg.in/yaml%2ev2.Unmarshal",
				"gopkg.in/yaml%2ev3.Marshal", "gopkg.in/yaml%2ev3.Unmarshal", "encoding/xml.Marshal", "encoding/xml.Unmarshal",
				"github.com/vmihailenco/msgpack/v5.Marshal", "github.com/vmihailenco/msgpack/v5.Unmarshal", "go.mongodb.org/mongo-driver/bson.Marshal",
				"go.mongodb.org/mongo-driver/bson.Unmarshal", "github.com/goccy/go-json.Marshal", "github.com/goccy/go-json.Unmarshal",
				"github.com/json-iterator/go.Marshal", "github.com/json-iterator/go.Unmarshal", "github.com/bytedance/sonic.Marshal", "github.com/bytedance/sonic.Unmarshal",
			}},
			Judge: judge,
		},
	}
}

const doc = `A function encodes a value, decodes the text into another one, and has no other
use for the text. That copies the value, or converts it between two types with
the same fields, through a parser and reflection.

Assign the fields, convert the struct (Go converts between struct types whose
fields have the same names and types, tags aside: T(v)), or write a Clone
method. For maps and slices inside that must not be shared, use maps.Clone and
slices.Clone. If the types are known only at run time, a library that maps
structs by reflection costs a fraction of that.

It is fine in tests and at startup, and where the encoding itself is the
purpose: normalizing, dropping unexported fields, testing the encoding. The rule
reports only texts that have no other use in the function.

Seen in the field: tikv/pd#8298 (a Clone through JSON: 1,961 ns, by assignment 34),
kubernetes/kubernetes#51526.`

func judge(c *finder.Case) bool {
	for _, call := range c.Calls {
		pair, ok := pairOf(c.Place, call)
		if !ok {
			continue
		}
		c.Cause = fmt.Sprintf("%s encodes %s on line %d, and %s decodes the text on line %d; the text has no other use.",
			funcname.Short(c.Place.CalleeName(pair.out)), syntax.Text(pair.out.Args[0]), syntax.Line(c.Place, pair.out.Pos()),
			funcname.Short(c.Place.CalleeName(pair.in)), syntax.Line(c.Place, pair.in.Pos()))
		c.Fix = "Assign the fields, or convert the struct; clone the maps and slices inside that must not be shared."
		return true
	}
	return false
}

// pair is a call that marshals a value and the call that unmarshals the text.
type pair struct{ out, in *ast.CallExpr }

// pairOf returns the pair that a call is part of: text, err := Marshal(v) … Unmarshal(text, &w), if
// text has no other use.
func pairOf(p *gocode.Place, call *ast.CallExpr) (pair, bool) {
	body := syntax.Body(p)
	if body == nil || loops.Guarded(p, call) {
		return pair{}, false
	}
	var texts []*types.Var // the variables that Marshal's results are assigned to
	outs := map[*types.Var]*ast.CallExpr{}
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return true
		}
		out, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || !named(p, out, "Marshal") {
			return true
		}
		if v, part := syntax.Var(p, a.Lhs[0]); v != nil && !part && syntax.Local(p, v) {
			texts = append(texts, v)
			outs[v] = out
		}
		return true
	})
	for _, v := range texts {
		in, other := uses(p, body, v)
		if in == nil || other || codec(p, in) != codec(p, outs[v]) {
			continue
		}
		if call == in || call == outs[v] {
			return pair{outs[v], in}, true
		}
	}
	return pair{}, false
}

// uses returns the one call that unmarshals a text, and reports whether there is any other use of
// it.
func uses(p *gocode.Place, body ast.Node, v *types.Var) (in *ast.CallExpr, other bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if w, part := syntax.Var(p, lhs); w == v && !part {
					if n.Tok == token.ASSIGN && in != nil {
						other = true
					}
				}
			}
			for _, rhs := range n.Rhs {
				ast.Inspect(rhs, walk(p, v, &in, &other))
			}
			return false
		case *ast.CallExpr, *ast.ReturnStmt, *ast.Ident:
			ast.Inspect(n, walk(p, v, &in, &other))
			return false
		}
		return true
	})
	return in, other
}

// walk reports whether an expression or statement uses a variable.
func walk(p *gocode.Place, v *types.Var, in **ast.CallExpr, other *bool) func(ast.Node) bool {
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if named(p, n, "Unmarshal") && len(n.Args) == 2 {
				if w, part := syntax.Var(p, n.Args[0]); w == v && !part {
					if *in != nil {
						*other = true
					}
					*in = n
					ast.Inspect(n.Args[1], visit)
					return false
				}
			}
		case *ast.Ident:
			if p.Object(n) == v {
				*other = true
			}
		}
		return true
	}
	return visit
}

func named(p *gocode.Place, call *ast.CallExpr, name string) bool {
	fn := p.Callee(call)
	return fn != nil && fn.Signature().Recv() == nil && (fn.Name() == name || name == "Marshal" && fn.Name() == "MarshalIndent") && len(call.Args) > 0
}

// codec returns the package of a call's function: the same package has to read the text.
func codec(p *gocode.Place, call *ast.CallExpr) *types.Package { return p.Callee(call).Pkg() }
