// Package jsontoany finds JSON that is decoded into maps of any although the code knows the keys.
package jsontoany

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is json-to-any.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "json-to-any",
		Kind:  rule.Alloc,
		Title: "JSON of known shape decoded into map[string]any",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// For an object of five fields, a struct of four of them took 15 % less CPU, one of
				// two 37 % less; the part of the allocations is larger.
				Fraction: rule.Fraction{Expect: 0.3, Low: 0.1, High: 0.6},
			},
			Lines: []finder.Line{
				{Start: finder.Calls{Functions: []string{"encoding/json.Unmarshal", "encoding/json.(*Decoder).Decode"}}, Judge: judge},
				{Start: finder.Frames(bound), Judge: judgeBound},
			},
		},
	}
}

const doc = `When a document is decoded into an any, every object becomes a map, every array
a slice of interfaces, every number a boxed float64 and every key a string,
whether needed or not. Decoding into a struct with the fields that the code
reads allocates none of that, and skips keys without a field.

The rule reports functions that show the shape: they read constant keys of the
decoded value, and do nothing else with it.

It is fine where the shape is not known, or the whole document is passed on: a
proxy, a template, a patch. Numbers depend on the type: in an any they are
float64, and large integers lose digits.

Seen in the field: golang/go#35585 measures the allocations of such maps;
pquerna/ffjson#115 (one field of type interface{} made decoding three times as
slow).`

// modules are functions of other packages that decode JSON, as profiles name them.
func modules() []string {
	return slices.Concat(codecs.Binders(), []string{
		"github.com/goccy/go-json.Unmarshal", "github.com/goccy/go-json.(*Decoder).Decode", "github.com/json-iterator/go.(*frozenConfig).Unmarshal",
		"github.com/json-iterator/go.Unmarshal", "github.com/json-iterator/go.(*Decoder).Decode", "github.com/bytedance/sonic.Unmarshal", "github.com/segmentio/encoding/json.Unmarshal",
	})
}

// typed are the same functions as the source names them, and those of encoding/json.
func typed() []string {
	return slices.Concat(funcname.TypedAll(modules()), codecs.TypedBinders(), []string{
		"(github.com/json-iterator/go.API).Unmarshal", "(github.com/bytedance/sonic.API).Unmarshal", "encoding/json.Unmarshal", "(*encoding/json.Decoder).Decode",
	})
}

// bound returns the frame of the main module that calls one of modules.
func bound(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		if r.Stack[i].Owner.Kind == gocode.Main && funcname.Match(r.Stack[i-1].Function, modules()...) {
			return i
		}
	}
	return -1
}

func judgeBound(c *finder.Case) bool {
	c.Calls = syntax.CallsOf(c.Place, typed()...)
	c.Callees = modules()
	return len(c.Calls) == 1 && judge(c)
}

func judge(c *finder.Case) bool {
	var keys []string
	who := "the function only reads"
	ok := c.All(func(call *ast.CallExpr) bool {
		v := target(c.Place, call)
		if v == nil {
			return false
		}
		r := reader{place: c.Place, seen: map[*types.Var]bool{}}
		known := shapeless(v.Type()) && r.variable(v) || r.field(v)
		keys = append(keys, r.keys...)
		return known && len(r.keys) > 0
	})
	if !ok {
		if keys, ok = inHelper(c); !ok {
			return false
		}
		who = "callers of " + syntax.FuncName(c.Place) + " only read"
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if len(keys) > 4 {
		keys = append(keys[:4:4], "so on")
	}
	what := "the whole document"
	if v := target(c.Place, c.Calls[0]); v != nil && !shapeless(v.Type()) {
		what = "a part of the document"
		// The struct's other fields cost as much as before.
		c.Keep(func(r *site.Row) bool {
			return r.Below("encoding/json.(*decodeState).objectInterface") || r.Below("encoding/json.(*decodeState).arrayInterface")
		})
	}
	word := "keys"
	if len(keys) == 1 {
		word = "key"
	}
	c.Cause = fmt.Sprintf("%s decodes %s into interfaces and maps, though %s the %s %s.", symbol.Short(c.Name()), what, who, word, funcname.List(keys))
	c.Fix = "Decode into a struct with those fields: keys without a field are skipped, and nothing is boxed."
	return !c.Empty()
}

// target returns the local variable of type any, of maps or slices of any, or of a struct, that a
// call decodes into.
func target(p *gocode.Place, call *ast.CallExpr) *types.Var {
	if len(call.Args) == 0 {
		return nil
	}
	v := addressed(p, call.Args[len(call.Args)-1])
	if v == nil || !syntax.Local(p, v) {
		return nil
	}
	if _, ok := v.Type().Underlying().(*types.Struct); !ok && !shapeless(v.Type()) {
		return nil
	}
	return v
}

// addressed returns v of &v; nil for other expressions.
func addressed(p *gocode.Place, e ast.Expr) *types.Var {
	addr, ok := ast.Unparen(e).(*ast.UnaryExpr)
	if !ok || addr.Op != token.AND {
		return nil
	}
	v, part := syntax.Var(p, addr.X)
	if part {
		return nil
	}
	return v
}

// shapeless reports whether any JSON value, object or array can be decoded into a type.
func shapeless(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return u.Empty()
	case *types.Map:
		return shapeless(u.Elem())
	case *types.Slice:
		return shapeless(u.Elem())
	}
	return false
}

// reader examines the uses of a decoded value.
type reader struct {
	place *gocode.Place
	seen  map[*types.Var]bool
	keys  []string // the constant keys whose values are read

	given  *ast.CallExpr // the call of a helper that decodes into the value; nil for none
	depth  int           // of the calls that the value is followed into
	caller *gocode.Place // of the function that it is followed into
	call   *ast.CallExpr // in the caller
}

// variable reports whether all uses of a variable read constant keys.
func (r *reader) variable(v *types.Var) bool {
	if r.seen[v] {
		return true
	}
	r.seen[v] = true
	for _, use := range syntax.Uses(r.place, v) {
		if !r.use(use) {
			return false
		}
	}
	return true
}

// use reports whether a use of a decoded value is known: a declaration, decoding, len, a loop over
// it, a type assertion to a map or slice, or reading a constant key.
func (r *reader) use(e ast.Expr) bool {
	p := r.place
	for _, n := range p.Enclosing(e) {
		switch n := n.(type) {
		case *ast.ParenExpr:
			e = n
			continue
		case *ast.ValueSpec, *ast.Field:
			return true
		case *ast.AssignStmt: // created empty, or asserted into another variable
			return slices.Contains(n.Lhs, e)
		case *ast.BinaryExpr: // compared with nil
			return true
		case *ast.UnaryExpr:
			return n.Op == token.AND
		case *ast.CallExpr:
			return p.CalleeName(n) == "len" || r.passed(n, e)
		case *ast.RangeStmt:
			return n.X != e || r.element(n.Value) // e may be the loop variable itself
		case *ast.IndexExpr:
			return n.X == e && r.key(n)
		case *ast.TypeAssertExpr:
			return n.X == e && n.Type != nil && r.asserted(n)
		}
		return false
	}
	return false
}

// element examines the uses of the loop variable of a range over a decoded slice.
func (r *reader) element(value ast.Expr) bool {
	id, ok := value.(*ast.Ident)
	if !ok {
		return value == nil
	}
	v, ok := r.place.Object(id).(*types.Var)
	return !ok || r.variable(v)
}

// key records a constant key. The value of the key may have any use.
func (r *reader) key(x *ast.IndexExpr) bool {
	if _, isMap := r.place.TypeOf(x.X).Underlying().(*types.Map); !isMap {
		return false
	}
	key, ok := syntax.ConstString(r.place, x.Index)
	if !ok && r.call != nil {
		if arg := flow.ArgumentFor(r.place, r.call, syntax.LocalVar(r.place, x.Index)); arg != nil {
			key, ok = syntax.ConstString(r.caller, arg)
		}
	}
	if ok {
		r.keys = append(r.keys, strconv.Quote(key))
	}
	return ok
}

// asserted examines the uses of v.(map[string]any).
func (r *reader) asserted(a *ast.TypeAssertExpr) bool {
	t := r.place.TypeOf(a.Type)
	if t == nil || !shapeless(t) {
		return false
	}
	path := r.place.Enclosing(a)
	assign, ok := path[0].(*ast.AssignStmt)
	if !ok {
		return r.use(a)
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok || len(assign.Rhs) != 1 {
		return false
	}
	v, ok := r.place.Object(id).(*types.Var)
	return ok && r.variable(v)
}
