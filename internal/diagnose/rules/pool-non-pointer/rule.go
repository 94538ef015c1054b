// Package poolnonpointer finds values that sync.Pool.Put allocates memory for.
package poolnonpointer

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

const put = "(*sync.Pool).Put"

// Rule is pool-non-pointer.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "pool-non-pointer",
		Kind:  rule.Alloc,
		Title: "sync.Pool.Put allocates to box its argument",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.85, High: 1}, // a pointer needs no box
				Specificity: 2,
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: guilty,
		},
	}
}

const doc = `sync.Pool holds values of type any. A pointer fits into an interface; a slice, a
string or a struct does not, so every Put allocates memory for a copy: 24 bytes
for a slice. The pool then saves the large buffer but allocates a small one.

Put a pointer instead, and keep it together with the value from Get to Put:
	p := pool.Get().(*[]byte)
	b := (*p)[:0]
	…
	*p = b
	pool.Put(p)
Taking the address at the end (pool.Put(&b)) moves b to the heap and is no
better. Or put the slice into a struct that already is used through a pointer.

It is fine when buffers are large and puts are rare.

Seen in the field: uber-go/zap#288, redis/go-redis#3850,
containerd/containerd#1810.`

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, call := range syntax.CallsOf(p, put) {
		if len(call.Args) != 1 || !syntax.Boxes(p, call.Args[0]) || !syntax.AllocatesOnly(p, call) {
			continue
		}
		m.Cause = fmt.Sprintf("Put takes %s by value. A %s does not fit into an interface, so each Put allocates a copy.",
			syntax.Text(call.Args[0]), kind(p.TypeOf(call.Args[0])))
		m.Fix = "Store pointers in the pool, and pass the pointer that Get returned to Put; the address of a local variable would be a new allocation."
		return true
	}
	return address(p, m)
}

// address judges pool.Put(&b) of a local variable b, which does not help: b is moved to the heap at
// its declaration.
func address(p *gocode.Place, m *rule.Match) bool {
	if p.Decl == nil {
		return false
	}
	found := false
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if found || !ok || p.CalleeName(call) != put || len(call.Args) != 1 {
			return !found
		}
		u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr)
		if !ok {
			return true
		}
		v := syntax.LocalVar(p, u.X)
		if v == nil || syntax.Line(p, v.Pos()) != p.Line || !header(v.Type()) || !syntax.AllocatesOnly(p) {
			return true
		}
		m.Cause = fmt.Sprintf("Put on line %d takes the address of %s, so %s itself, a %s, is allocated here on every call.",
			syntax.Line(p, call.Pos()), v.Name(), v.Name(), kind(v.Type()))
		m.Fix = "Keep the pointer that Get returned, store the slice through it, and put that pointer back."
		found = true
		return false
	})
	return found
}

// header reports whether a type is a slice or string, whose contents are elsewhere.
func header(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

func kind(t types.Type) string {
	switch t.Underlying().(type) {
	case *types.Slice:
		return "slice"
	case *types.Struct:
		return "struct"
	case *types.Array:
		return "array"
	}
	return types.TypeString(t, func(pkg *types.Package) string { return pkg.Name() })
}
