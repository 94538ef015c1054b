package largecopy

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastPassed is the size of a value, in bytes, from which on it is expensive to pass: copying
	// it takes about 30 ns.
	leastPassed = 1024
	// leastOwn is the minimum share of the line's CPU that the copy and the line itself must have.
	leastOwn = 0.5
)

// readers are functions that only read the arrays that are passed to them as slices, and call
// functions before they return.
func readers() []string {
	return []string{"sort.Search*", "slices.BinarySearch*", "slices.Index*", "slices.Contains*", "slices.Equal*", "slices.Max*", "slices.Min*", "len"}
}

// byValue judges a call that passes a large value, as its receiver or an argument, to a function
// that only reads it.
func byValue(c *finder.Case) bool {
	if generic(c.Place) || !dominates(c) {
		return false
	}
	for _, call := range c.Place.Calls() {
		fn := c.Place.Callee(call)
		decl := c.Place.Declaration(fn)
		if decl == nil || decl.Body == nil || later(c.Place, call) {
			continue
		}
		for _, v := range passed(c.Place, call, fn) {
			size := syntax.Sizes().Sizeof(v.param.Type())
			if size < leastPassed || !says(c.Pass, c.Match, size) || !addressable(c.Place, v.arg) || !onlyRead(c.Place.Entry(decl), v.param) {
				continue
			}
			explain(c, call, fn, v, size)
			return true
		}
	}
	return false
}

func explain(c *finder.Case, call *ast.CallExpr, fn *types.Func, v value, size int64) {
	what, arg := "parameter "+v.param.Name(), syntax.Text(v.arg)
	if v.param == fn.Signature().Recv() {
		what = "receiver"
	}
	c.Fraction = &rule.Fraction{Expect: 0.9, Low: 0.6, High: 1} // a few fields are read through the pointer instead
	c.Cause = fmt.Sprintf("The %s of %s is a value, so each call copies all of %s, %s, and the function only reads it.",
		what, syntax.Text(call.Fun), arg, units.Bytes(float64(size)))
	c.Fix = fmt.Sprintf("Make the %s a pointer, *%s: then nothing is copied.", what, types.TypeString(v.param.Type(), types.RelativeTo(fn.Pkg())))
	c.Evidence = []rule.Evidence{{
		What: evidence.CompilerSaid, Value: fmt.Sprintf("copy of %d bytes", size),
		Command: "go build -gcflags=-json=0,DIR " + c.Site.Owner.Package,
	}}
}

// dominates reports whether the rows of the match have most of the CPU of the line and of what it
// calls in libraries.
func dominates(c *finder.Case) bool {
	own, _ := stacks.Sum(c.CPU)
	all, _ := stacks.Sum(c.Site.CPU)
	return own > 0 && float64(own) >= leastOwn*float64(all)
}

// says reports whether the compiler copies so many bytes at once on the line.
func says(p *rule.Pass, m *rule.Match, size int64) bool {
	if p.Facts == nil {
		return false
	}
	for _, f := range p.Facts.At(m.Site.File, m.Site.Line) {
		var n int64
		if _, err := fmt.Sscanf(f.Message, "%d bytes", &n); f.Code == "copy" && err == nil && n == size {
			return true
		}
	}
	return false
}

// generic reports whether a line is in a function with type parameters, where types have no size.
func generic(p *gocode.Place) bool {
	if p.Decl == nil {
		return true
	}
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	return !ok || fn.Signature().TypeParams().Len()+fn.Signature().RecvTypeParams().Len() > 0
}

// later reports whether a call is one of a go or defer statement, which must keep its arguments.
func later(p *gocode.Place, call *ast.CallExpr) bool {
	switch syntax.Parent(p, call).(type) {
	case *ast.GoStmt, *ast.DeferStmt:
		return true
	}
	return false
}

// value is something that a call passes by value.
type value struct {
	arg   ast.Expr
	param *types.Var
}

// passed returns the structs and arrays that a call passes to a function without type parameters.
func passed(p *gocode.Place, call *ast.CallExpr, fn *types.Func) (values []value) {
	sig := fn.Signature()
	if sig.TypeParams().Len()+sig.RecvTypeParams().Len() > 0 {
		return nil
	}
	add := func(arg ast.Expr, param *types.Var) {
		switch param.Type().Underlying().(type) {
		case *types.Struct, *types.Array:
			values = append(values, value{arg, param})
		}
	}
	if recv := sig.Recv(); recv != nil {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || p.Info.Selections[sel] == nil || p.Info.Selections[sel].Kind() != types.MethodVal {
			return nil // a method expression shifts the arguments
		}
		add(sel.X, recv)
	}
	for i := range min(len(call.Args), sig.Params().Len()) {
		add(call.Args[i], sig.Params().At(i))
	}
	return values
}

// addressable reports whether an expression is a variable, a part of one or what a pointer points
// to.
func addressable(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, ok := p.Object(e).(*types.Var)
		return ok
	case *ast.StarExpr:
		return true
	case *ast.SelectorExpr:
		if _, pointer := p.TypeOf(e.X).Underlying().(*types.Pointer); pointer {
			return true
		}
		return addressable(p, e.X)
	case *ast.IndexExpr:
		switch p.TypeOf(e.X).Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		case *types.Array:
			return addressable(p, e.X)
		}
	}
	return false
}

// onlyRead reports whether a function only reads a parameter, so that a pointer does as well.
func onlyRead(p *gocode.Place, v *types.Var) bool {
	for _, use := range syntax.Uses(p, v) {
		if !reads(p, use) {
			return false
		}
	}
	return true
}

// reads reports whether a use of a value only reads it or a part of it, immediately. What its
// slices, maps and pointers refer to is not part of it: the copy shares that.
func reads(p *gocode.Place, use *ast.Ident) bool {
	path := p.Enclosing(use)
	var at ast.Expr = use
	up := 0
climb:
	for ; up < len(path); up++ {
		switch p.TypeOf(at).Underlying().(type) {
		case *types.Slice, *types.Map, *types.Pointer:
			return readBy(p, at, path[up]) && called(p, path[up:]) // the copy has the same
		}
		switch n := path[up].(type) {
		case *ast.ParenExpr:
			at = n
		case *ast.SelectorExpr:
			s := p.Info.Selections[n]
			if s == nil {
				return false
			}
			if s.Kind() != types.FieldVal {
				_, pointer := s.Obj().(*types.Func).Signature().Recv().Type().Underlying().(*types.Pointer)
				return !pointer
			}
			at = n
		case *ast.IndexExpr:
			if n.X != at {
				break climb
			}
			at = n
		default:
			break climb
		}
	}
	if up == len(path) {
		return false
	}
	return readBy(p, at, path[up]) && called(p, path[up:])
}

// readBy reports whether a node reads an expression that is a part of it.
func readBy(p *gocode.Place, at ast.Expr, by ast.Node) bool {
	switch n := by.(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if lhs == at {
				return false
			}
		}
	case *ast.IncDecStmt:
		return false
	case *ast.UnaryExpr:
		return n.Op.String() != "&"
	case *ast.RangeStmt:
		return n.Key != at && n.Value != at
	case *ast.SliceExpr:
		if _, array := p.TypeOf(at).Underlying().(*types.Array); !array || n.X != at {
			return true
		}
		if _, ok := syntax.Parent(p, n).(*ast.RangeStmt); ok {
			return true
		}
		call, ok := syntax.Parent(p, n).(*ast.CallExpr)
		return ok && funcname.Match(p.CalleeName(call), readers()...)
	}
	return true
}

// called reports whether function literals around a node run before the function that contains them
// returns.
func called(p *gocode.Place, path []ast.Node) bool {
	for i, n := range path {
		if _, lit := n.(*ast.FuncLit); !lit || n == p.Func {
			continue
		}
		if i+1 == len(path) {
			return false
		}
		call, ok := path[i+1].(*ast.CallExpr)
		if !ok || !funcname.Match(p.CalleeName(call), readers()...) {
			return false
		}
	}
	return true
}
