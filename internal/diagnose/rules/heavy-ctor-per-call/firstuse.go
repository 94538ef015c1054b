package heavyctorpercall

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Many libraries allocate the large state of an object when it is first used: the constructor
// costs nearly nothing, and the first Encode, Write or Match of each object allocates tables.

// state is the minimum size, in bytes, of an object that is state, not a result.
const state = 4 << 10

// firstUse returns the line in a row that calls a method of another module, in which a function
// further down allocates; -1 for none.
func firstUse(r *site.Row) int {
	o := r.Owner
	if o < 0 || r.Stack[o].Owner.Kind != gocode.Dependency {
		return -1
	}
	i := o + 1
	for i < len(r.Stack) && (r.Stack[i].Owner.Kind == gocode.Std || r.Stack[i].Owner.Module == r.Stack[o].Owner.Module) {
		i++
	}
	if i == len(r.Stack) || i == o+1 || !foreign(r.Stack[i], r.Stack[i-1]) || !strings.Contains(r.Stack[i-1].Function, ").") {
		return -1
	}
	return i
}

// usedFirst judges a call of a method that allocates the state of an object of another module which
// the function has just created, and drops afterwards.
func usedFirst(c *finder.Case) bool {
	states := map[gocode.Pos]bool{}
	known := func(r *site.Row) bool {
		if firstUse(r) < 0 {
			return false
		}
		f := r.Stack[r.Owner]
		at := gocode.Pos{File: f.File, Line: f.Line}
		is, seen := states[at]
		if !seen {
			p, ok := c.Pass.Syntax.At(f.File, f.Line)
			is = ok && allocatesState(p)
			states[at] = is
		}
		return is
	}
	allocs := stacks.Select(c.Allocs, known)
	bytes, objects := stacks.Sum(allocs)
	if objects < leastMade || bytes < state*objects {
		return false
	}
	for _, call := range syntax.Calls(c.Place) {
		made := creator(c.Place, call)
		if made == nil || !returnsText(c.Place.Callee(call)) || !calledBy(c.Place, allocs, call) {
			continue
		}
		c.Allocs, c.CPU = allocs, stacks.Select(c.CPU, func(r *site.Row) bool { return r.Class == site.Malloc && known(r) })
		describeFirst(c, call, made)
		return true
	}
	return false
}

// allocatesState reports whether a line allocates an object of a fixed size that is large.
func allocatesState(p *gocode.Place) bool {
	for _, n := range p.Nodes {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if syntax.Sizes().Sizeof(p.TypeOf(n)) >= state {
				return true
			}
		case *ast.CallExpr:
			if name := p.CalleeName(n); name == "new" && syntax.Sizes().Sizeof(p.TypeOf(n.Args[0])) >= state || name == "make" && fixed(p, n) {
				return true
			}
		}
	}
	return false
}

// fixed reports whether the last argument of a make, its capacity, is a constant.
func fixed(p *gocode.Place, call *ast.CallExpr) bool {
	if len(call.Args) < 2 {
		return false
	}
	_, constant := p.Const(call.Args[len(call.Args)-1])
	return constant
}

// creator returns the call that creates the object of which a call is of a method, if the function
// creates one each time, uses it and drops it; nil for others.
func creator(p *gocode.Place, call *ast.CallExpr) *ast.CallExpr {
	to := syntax.Receiver(call)
	v := syntax.LocalVar(p, to)
	if v == nil {
		return nil
	}
	made, ok := syntax.Origin(p, to).(*ast.CallExpr)
	if !ok {
		return nil
	}
	fn := p.Callee(made)
	if fn == nil || fn.Pkg() == nil || fn.Pkg() == p.Pkg || !strings.HasPrefix(fn.Name(), "New") ||
		!loops.PerCall(p, made) || reused(p, made) || !resets(p, fn, made) || !stays(p, v) {
		return nil
	}
	return made
}

// returnsText reports whether the results of a method are texts, numbers and errors: the large
// object that it allocates is not one of them.
func returnsText(fn *types.Func) bool {
	for v := range fn.Signature().Results().Variables() {
		t := v.Type().Underlying()
		if list, ok := t.(*types.Slice); ok {
			t = list.Elem().Underlying()
		}
		if _, basic := t.(*types.Basic); !basic && !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
			return false
		}
	}
	return true
}

// calledBy reports whether rows are of a call of a method.
func calledBy(p *gocode.Place, rows []*site.Row, call *ast.CallExpr) bool {
	name := p.CalleeName(call)
	return slices.ContainsFunc(rows, func(r *site.Row) bool { return funcname.Typed(r.Stack[firstUse(r)-1].Function) == name })
}

// describeFirst fills in the words; the line of the constructor becomes that of the finding.
func describeFirst(c *finder.Case, call, made *ast.CallExpr) {
	p := c.Place
	name, use := symbol.Short(p.CalleeName(made)), symbol.Short(p.CalleeName(call))
	first := fmt.Sprintf("%s:%d", path.Base(c.Site.File), c.Site.Line)
	f := c.Site.Frame
	f.Line = syntax.Line(p, made.Pos())
	c.Site = c.Pass.Site(&f)
	c.Cause = fmt.Sprintf("%s creates a new %s with %s on every call, and drops it after use. The first call of %s, on %s, allocates its state.",
		syntax.FuncName(p), result(p, made), name, use, first)
	c.Fix = "Keep them in a sync.Pool: Get, Reset to the new source or destination, and Put back when done."
	if fn := p.Callee(call); stateless(fn) {
		c.Fix = fmt.Sprintf("Create one with %s when the program starts, in a package variable or a field: %s may be called by many goroutines at a time.", name, use)
	}
}

// stateless reports whether a method is documented as safe for concurrent use.
func stateless(fn *types.Func) bool {
	return funcname.Match(fn.FullName(), "(*github.com/klauspost/compress/zstd.Encoder).EncodeAll", "(*github.com/klauspost/compress/zstd.Decoder).DecodeAll")
}
