// Package deepequaltyped finds reflect.DeepEqual on types that could be compared directly.
package deepequaltyped

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

// Rule is deepequal-typed.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "deepequal-typed",
		Kind:  rule.CPU,
		Title: "reflect.DeepEqual on values of known type",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// slices.Equal took 12 ns instead of 476 (8 ints), maps.Equal 161 instead of 1129
				// (3 strings), == 5 instead of 111 (a struct of three fields).
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
			},
			Start: finder.Calls{
				Functions: []string{"reflect.DeepEqual"},
				Own:       true,
			},
			Judge: judge,
		},
	}
}

const doc = `reflect.DeepEqual boxes both values, walks them by reflection, and records
visited pointers in a map, because values may be cyclic. When both sides are of
one known type, slices.Equal, maps.Equal, == or a small Equal method compare
them ten to forty times faster, and the compiler checks that the types agree.

The rule leaves alone types that need reflection: interfaces and functions, and
recursive types. Of a function with parameters of type any, or of a type
parameter, it looks at what its callers pass.

It is fine in tests and on cold paths. Two results differ: DeepEqual
distinguishes a nil slice or map from an empty one, and considers a slice with
NaN equal to itself. The rewrite has to keep what callers rely on.

Seen in the field: kubernetes-sigs/structured-merge-diff#95,
asynkron/protoactor-go#1129.`

func judge(c *finder.Case) bool {
	var t types.Type
	known := c.All(func(call *ast.CallExpr) bool {
		if len(call.Args) != 2 {
			return false
		}
		x, y := c.Place.TypeOf(call.Args[0]), c.Place.TypeOf(call.Args[1])
		if x == nil || y == nil || !types.Identical(x, y) || !direct(x, nil) {
			return false
		}
		t = x
		return true
	})
	if !known {
		return inHelper(c)
	}
	if len(syntax.Calls(c.Place)) > len(c.Calls) {
		*c.Match = finder.TakeCalls(c.Site, "reflect.DeepEqual") // another call may allocate what the line itself allocates
	}
	a, b := syntax.Text(c.Calls[0].Args[0]), syntax.Text(c.Calls[0].Args[1])
	c.Cause = fmt.Sprintf("Both sides are of type %s, yet reflect.DeepEqual puts them into interfaces and walks them by reflection.",
		syntax.TypeText(c.Place, t))
	c.Fix = advice(t, a, b)
	if holdsBytes(t) && (safety.Secret(c.Place, c.Calls[0].Args[0]) || safety.Secret(c.Place, c.Calls[0].Args[1])) {
		c.Fix = safety.ConstantTime
	}
	return true
}

// inHelper judges a function that compares its parameters, of type any or of a type parameter,
// whose callers pass two values of one known type.
func inHelper(c *finder.Case) bool {
	call := c.Calls[0]
	sig := syntax.SignatureOf(c.Place)
	if len(c.Calls) > 1 || len(call.Args) != 2 || sig == nil {
		return false
	}
	x := syntax.ParamIndex(sig, syntax.LocalVar(c.Place, call.Args[0]))
	y := syntax.ParamIndex(sig, syntax.LocalVar(c.Place, call.Args[1]))
	if x < 0 || y < 0 {
		return false
	}
	var known []string
	*c.Match = finder.TakeCalls(c.Site, "reflect.DeepEqual")
	c.Keep(func(r *site.Row) bool {
		t := passed(c, r, x, y)
		if t != "" && !slices.Contains(known, t) {
			known = append(known, t)
		}
		return t != ""
	})
	c.Keep(stacks.Steady)
	if c.Empty() {
		return false
	}
	slices.Sort(known)
	c.Cause = fmt.Sprintf("Callers of %s pass two values of the type %s, yet reflect.DeepEqual walks them by reflection.", syntax.FuncName(c.Place), funcname.List(known))
	c.Fix = "Compare them where their type is known: with ==, slices.Equal, maps.Equal, or an Equal method that compares field by field. A function that gets the comparison as an argument needs no reflection either."
	return true
}

// passed returns the type of the two arguments that the caller of a row passes; "" if they differ,
// or only reflection can compare them.
func passed(c *finder.Case, r *site.Row, x, y int) string {
	if r.Owner < 0 || r.Owner+1 >= len(r.Stack) {
		return ""
	}
	from := r.Stack[r.Owner+1]
	p, ok := c.Pass.Syntax.At(from.File, from.Line)
	if !ok {
		return ""
	}
	call := loops.CallTo(p, r.Stack[r.Owner].Function)
	if call == nil || max(x, y) >= len(call.Args) {
		return ""
	}
	a, b := p.TypeOf(call.Args[x]), p.TypeOf(call.Args[y])
	if a == nil || b == nil || !types.Identical(a, b) || !direct(a, nil) {
		return ""
	}
	return syntax.TypeText(p, a)
}

// direct reports whether ordinary code can compare values of a type: the type contains no
// interface, function or channel, and is not recursive.
func direct(t types.Type, path []types.Type) bool {
	for _, above := range path {
		if types.Identical(above, t) {
			return false
		}
	}
	path = append(path, t)
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer && u.Kind() != types.UntypedNil
	case *types.Slice:
		return direct(u.Elem(), path)
	case *types.Array:
		return direct(u.Elem(), path)
	case *types.Map:
		return direct(u.Elem(), path) && direct(u.Key(), path)
	case *types.Pointer:
		return direct(u.Elem(), path)
	case *types.Struct:
		for f := range u.Fields() {
			if !direct(f.Type(), path) {
				return false
			}
		}
		return true
	}
	return false
}

// holdsBytes reports whether a type is a string, or a slice or an array of bytes.
func holdsBytes(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		t = u.Elem()
	case *types.Array:
		t = u.Elem()
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Byte || b.Info()&types.IsString != 0)
}

func advice(t types.Type, a, b string) string {
	const empty = " (nil and empty are then equal; add a test for nil where that matters)."
	switch u := t.Underlying().(type) {
	case *types.Slice:
		if syntax.PlainData(u.Elem()) {
			return fmt.Sprintf("Write slices.Equal(%s, %s)%s", a, b, empty)
		}
		return fmt.Sprintf("Write slices.EqualFunc(%s, %s, …) with a comparison of the elements%s", a, b, empty)
	case *types.Map:
		if syntax.PlainData(u.Elem()) {
			return fmt.Sprintf("Write maps.Equal(%s, %s)%s", a, b, empty)
		}
		return fmt.Sprintf("Write maps.EqualFunc(%s, %s, …) with a comparison of the values%s", a, b, empty)
	}
	if syntax.PlainData(t) {
		return fmt.Sprintf("Write %s == %s.", a, b)
	}
	return "Give the type an Equal method that compares field by field, with slices.Equal and maps.Equal for its slices and maps."
}
