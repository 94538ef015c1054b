// Package heapboxedelements finds elements that container/heap allocates memory for.
package heapboxedelements

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is heap-boxed-elements.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "heap-boxed-elements",
		Kind:  rule.Alloc,
		Title: "container/heap allocates memory for each element",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A typed heap allocates nothing per element; its slice grows as before.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.8, High: 1},
				Specificity: 2,
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: judge,
		},
	}
}

const doc = `container/heap takes and returns elements as any. A pointer fits into an
interface; a struct, a string or a number above 255 does not: heap.Push
allocates memory for a copy of its argument, and so does the Pop method of the
program for its result. A search that has a queue of nodes does both for each
node.

Write a heap for the element type: push and pop on a slice, with the loops that
move an element up or down, in about 30 lines, or a generic heap with a function
that compares. It allocates nothing, and comparisons and swaps are direct calls
that the compiler can inline. If the elements exist as pointers anyway, push
the pointers; a pointer to a new struct is an allocation as well.

It is fine for queues of few elements. The rule reports lines that allocate for
the conversion to any, by the heap profile.

Seen in the field: pingcap/tidb#68161.`

func judge(c *finder.Case) bool {
	if len(c.Allocs) == 0 {
		return false // nothing is boxed here
	}
	element, what := pushed(c.Place)
	if element == nil {
		element, what = popped(c)
	}
	if element == nil {
		return false
	}
	name := types.TypeString(element, func(*types.Package) string { return "" })
	c.Cause = fmt.Sprintf("container/heap takes and returns elements as any. The type %s does not fit into an interface, so %s allocates memory for a copy of each element.", name, what)
	c.Fix = fmt.Sprintf("Write a heap of %s (push and pop on a []%[1]s, with loops that move an element up or down), or use a generic heap: it boxes nothing, and compares and swaps without calls through an interface. If the elements exist as pointers anyway, push the pointers.", name)
	return true
}

// pushed returns the type of the element that heap.Push on the line boxes, and what boxes it, or
// nil.
func pushed(p *gocode.Place) (types.Type, string) {
	for _, call := range syntax.CallsOf(p, "container/heap.Push") {
		if len(call.Args) == 2 && boxes(p, call.Args[1]) && syntax.AllocatesOnly(p, call) {
			return p.TypeOf(call.Args[1]), "heap.Push"
		}
	}
	return nil, ""
}

// popped returns the type of the element that the line in a Pop method boxes as the method's
// result, and what boxes it; nil for none.
func popped(c *finder.Case) (types.Type, string) {
	p := c.Place
	if p.Decl == nil || p.Func != p.Decl || p.Decl.Recv == nil || p.Decl.Name.Name != "Pop" {
		return nil, ""
	}
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok || !heapPop(fn.Signature()) || !syntax.AllocatesOnly(p) {
		return nil, ""
	}
	e := result(p, fn.Signature().Results().At(0))
	if e == nil || !boxes(p, e) {
		return nil, ""
	}
	c.Keep(underHeap)
	if len(c.Allocs) == 0 {
		return nil, ""
	}
	return p.TypeOf(e), "Pop"
}

// heapPop reports whether a method is the Pop of a heap.Interface.
func heapPop(s *types.Signature) bool {
	if s.Params().Len() != 0 || s.Results().Len() != 1 || !types.IsInterface(s.Results().At(0).Type()) {
		return false
	}
	for _, name := range []string{"Len", "Less", "Swap", "Push"} {
		o, _, _ := types.LookupFieldOrMethod(s.Recv().Type(), true, s.Recv().Pkg(), name)
		if _, ok := o.(*types.Func); !ok {
			return false
		}
	}
	return true
}

// result returns the expression that the line converts to its function's only result v; nil for
// none.
func result(p *gocode.Place, v *types.Var) ast.Expr {
	for _, n := range p.Nodes {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			if len(n.Results) == 1 {
				return n.Results[0]
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && n.Tok == token.ASSIGN && len(n.Lhs) == len(n.Rhs) && p.Object(id) == v {
					return n.Rhs[i]
				}
			}
		}
	}
	return nil
}

// boxes reports whether an element is boxed as any. A value of a type parameter may be; the line's
// allocations show that it is.
func boxes(p *gocode.Place, e ast.Expr) bool {
	_, param := types.Unalias(p.TypeOf(e)).(*types.TypeParam)
	return param || syntax.Boxes(p, e)
}

// underHeap reports whether a row is in a call from container/heap.
func underHeap(r *site.Row) bool {
	for _, f := range r.Stack[max(r.Owner, 0):] {
		if funcname.Match(f.Function, "container/heap.*") {
			return true
		}
	}
	return false
}
