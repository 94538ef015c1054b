package quadraticinsert

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastCopies is how often a line must have copied the slice.
	leastCopies = 100
	// leastElements is the minimum mean number of elements of a copy.
	leastElements = 64
	// mostlyHere is the minimum part of a function's cost that must come from callers that add to
	// one slice.
	mostlyHere = 0.8
)

// adds judges a line outside of loops that replaces a slice by a longer copy of itself. The profile
// of allocations shows the length of the copies. The slice is a field or a package variable, which
// grows from call to call, or the function returns the copy to a caller that replaces its slice in
// a loop.
func adds(c *finder.Case) bool {
	stmt, how := moved(c.Place)
	if stmt != nil && how != removes && (persists(c.Place, stmt.Lhs[0]) || entry(c.Place, stmt.Lhs[0])) {
		xs := syntax.Text(stmt.Lhs[0])
		elem := elemOf(c.Place, stmt.Lhs[0])
		return describeCopies(c, elem, how, xs, fmt.Sprintf("%s %s each time that it adds to it", syntax.FuncName(c.Place), how.what(xs)))
	}
	l := longer(c.Place)
	if l == nil {
		return false
	}
	name := syntax.Text(l.xs)
	if l.replaces {
		return describeCopies(c, elemOf(c.Place, l.xs), l.how, name, fmt.Sprintf("%s %s each time that it adds to it", syntax.FuncName(c.Place), l.how.what(name)))
	}
	caller, target := addingCaller(c)
	if caller == nil {
		return false
	}
	what := fmt.Sprintf("%s makes a new slice with room for a few more elements and copies all of %s into it, and line %d replaces %s by the result",
		syntax.FuncName(c.Place), name, caller.Line, target)
	return describeCopies(c, elemOf(c.Place, l.xs), l.how, target, what)
}

func describeCopies(c *finder.Case, elem types.Type, how way, xs, what string) bool {
	c.CPU, c.Allocs = stacks.Select(c.CPU, grows), stacks.Select(c.Allocs, grows)
	c.Live = nil
	bytes, objects := stacks.Sum(c.Allocs)
	if objects < leastCopies || elem == nil || syntax.Generic(elem) {
		return false
	}
	elements := float64(bytes) / float64(objects) / float64(max(1, syntax.Sizes().Sizeof(elem)))
	if elements < leastElements {
		return false
	}
	c.Cause = fmt.Sprintf("%s: %s times, with %s elements on average. n additions copy n²/2 elements.",
		what, units.Count(objects), units.Number(float64(int64(elements))))
	c.Fix = how.fix(xs)
	if how == prepends {
		c.Fix = fmt.Sprintf("Append to the end of %s, which copies only when the capacity is used up, and read it from its end.", xs)
	}
	c.Confidence = rule.Likely
	return true
}

// grows selects what a longer copy costs: the line's own allocation, and the runtime's copying.
func grows(r *site.Row) bool { return stacks.Leaf(r) || moves(r) }

func elemOf(p *gocode.Place, e ast.Expr) types.Type {
	t := p.TypeOf(e)
	if t == nil {
		return nil
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return nil
	}
	return s.Elem()
}

// persists reports whether a slice outlives the call: it is a field or a package variable. A field
// of a local struct outlives the call, too, if a pointer refers to the struct; the size of the
// copies decides.
func persists(p *gocode.Place, e ast.Expr) bool {
	v, part := syntax.Var(p, e)
	return v != nil && (part || v.Parent() == p.Pkg.Scope()) && len(loops.Around(p, e)) == 0
}

// entry reports whether a slice is an entry of a map from outside of the loops around it: an index
// that is built entry by entry. The size of the copies decides whether entries get many elements.
func entry(p *gocode.Place, e ast.Expr) bool {
	at, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok || p.TypeOf(at.X) == nil {
		return false
	}
	if _, ok := p.TypeOf(at.X).Underlying().(*types.Map); !ok {
		return false
	}
	for _, loop := range loops.Around(p, e) {
		if !loops.FromOutside(p, loop, at.X) {
			return false
		}
	}
	return true
}

// copyOf reports whether an expression is a full copy of xs, or a part of it without spare
// capacity, which append copies.
func copyOf(p *gocode.Place, e, xs ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr: // xs[:len(xs):len(xs)]
		return e.Slice3 && e.Low == nil && syntax.Same(p, e.X, xs) && lenOf(p, e.High, xs) && lenOf(p, e.Max, xs)
	case *ast.CallExpr:
		switch p.CalleeName(e) {
		case "slices.Clone", "slices.Clip", "bytes.Clone":
			return len(e.Args) == 1 && syntax.Same(p, e.Args[0], xs)
		case "append":
			return len(e.Args) == 2 && e.Ellipsis.IsValid() && syntax.EmptySlice(p, e.Args[0]) && syntax.Same(p, e.Args[1], xs)
		}
	}
	return false
}

func lenOf(p *gocode.Place, e, xs ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "len" && len(call.Args) == 1 && syntax.Same(p, call.Args[0], xs)
}

// addingCaller returns the frame of a caller that replaces a slice by the result of the place's
// function, which gets that slice, in a loop or permanently; nil unless most of the cost comes from
// such callers.
func addingCaller(c *finder.Case) (*site.Frame, string) {
	fn := ""
	if c.Place.Decl != nil && c.Place.Func == ast.Node(c.Place.Decl) {
		fn = c.Place.Decl.Name.Name
	}
	var first *site.Frame
	var target string
	var all, adding int64
	for _, rows := range [][]*site.Row{c.Allocs, c.CPU} {
		for _, r := range rows {
			all += r.Count
			if r.Owner < 0 || r.Owner+1 >= len(r.Stack) || fn == "" {
				continue
			}
			f := r.Stack[r.Owner+1]
			place, ok := c.Pass.Syntax.At(f.File, f.Line)
			if !ok {
				continue
			}
			if xs, ok := replaces(place, fn); ok {
				adding += r.Count
				if first == nil {
					first, target = f, syntax.Text(xs)
				}
			}
		}
		if all > 0 {
			break // the allocations decide where there are some
		}
	}
	if first == nil || float64(adding) < mostlyHere*float64(all) {
		return nil, ""
	}
	return first, target
}

// replaces reports whether the line repeatedly assigns the result of a function to one of its
// arguments or its receiver: xs = add(xs, x), xs = xs.with(x).
func replaces(p *gocode.Place, fn string) (xs ast.Expr, ok bool) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if xs != nil || !is || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
			return xs == nil
		}
		call, is := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !is || syntax.Line(p, call.Lparen) != p.Line || p.Callee(call) == nil || p.Callee(call).Name() != fn {
			return true
		}
		given := call.Args
		if recv := syntax.Receiver(call); recv != nil {
			given = append([]ast.Expr{recv}, given...)
		}
		for _, arg := range given {
			if syntax.Same(p, arg, a.Lhs[0]) && (growing(p, a) != nil || persists(p, a.Lhs[0])) {
				xs = a.Lhs[0]
			}
		}
		return xs == nil
	})
	return xs, xs != nil
}
