package loops

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Caller is a loop in a caller that calls a function again and again.
type Caller struct {
	Frame *site.Frame
	Place *gocode.Place // of the line of the call
	Call  *ast.CallExpr
	Loop  ast.Node
	// Direct is true if the call in the loop is of the function itself, not of one that calls it.
	Direct bool
}

// Name returns the caller's function as sentences name it.
func (c Caller) Name() string { return syntax.FuncName(c.Place) }

// Line returns the line of the loop.
func (c Caller) Line() int { return syntax.Line(c.Place, c.Loop.Pos()) }

// Calling returns the loop nearest to the frame i of a stack, leaf first, in which a caller calls
// the frame's function more than twice, itself or through other functions: levels callers at most.
// A call that the source does not show, such as that of a callback by a library, ends the search.
func Calling(s *gocode.Syntax, stack []*site.Frame, i, levels int) (Caller, bool) {
	if s == nil || i < 0 {
		return Caller{}, false
	}
	for j := i + 1; j < len(stack) && j <= i+levels; j++ {
		f := stack[j]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			return Caller{}, false
		}
		p, ok := s.At(f.File, f.Line)
		if !ok {
			return Caller{}, false
		}
		call := CallTo(p, stack[j-1].Function)
		if call == nil {
			return Caller{}, false
		}
		if loop := Repeating(p, call); loop != nil {
			return Caller{f, p, call, loop, j == i+1}, true
		}
	}
	return Caller{}, false
}

// CallerOf returns the call of the function of the line that owns a row, in the frame above it,
// with its place; nil when the source does not show it.
func CallerOf(s *gocode.Syntax, r *site.Row) (*gocode.Place, *ast.CallExpr) {
	if r.Owner < 0 || r.Owner+1 >= len(r.Stack) {
		return nil, nil
	}
	from := r.Stack[r.Owner+1]
	caller, ok := s.At(from.File, from.Line)
	if !ok {
		return nil, nil
	}
	return caller, CallTo(caller, r.Stack[r.Owner].Function)
}

// CallTo returns the call on the line of a function, given as a profile names it, also through an
// interface or a variable; nil if there is none.
func CallTo(p *gocode.Place, profile string) *ast.CallExpr {
	if calls := syntax.CallsTo(p, profile); len(calls) > 0 {
		return calls[0]
	}
	name := funcname.Typed(profile)
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, call := range syntax.Calls(p) {
		if _, conversion := p.Conversion(call); conversion {
			continue
		}
		switch fn := p.Callee(call); {
		case fn != nil:
			if fn.Signature().Recv() != nil && fn.Name() == name {
				return call
			}
		case p.CalleeName(call) == "" && literal(name):
			return call
		}
	}
	return nil
}

// literal reports whether the last part of a name in a profile is that of a function literal:
// "func1", or "1" for one in another.
func literal(name string) bool {
	digits := strings.TrimPrefix(name, "func")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// Shares reports whether an expression in the called function, given a place there, has the same
// variable at its root in each iteration: one of the package, one that a function literal shares
// with the code around it, or the receiver or a parameter for which the loop always passes the
// same. What is passed through another function is recognized by its type.
func (c Caller) Shares(in *gocode.Place, e ast.Expr) bool {
	v, _ := syntax.Var(in, e)
	if lit, ok := syntax.FuncAround(in, e).(*ast.FuncLit); ok && lit != in.Func { // on one line
		own := *in
		own.Func = lit
		in = &own
	}
	switch {
	case v == nil || v.IsField():
		return false
	case v.Parent() == in.Pkg.Scope():
		return true
	case in.Func != nil && !syntax.Inside(in.Func, v.Pos()):
		// In another function than the loop's, each of its calls has a variable of its own.
		return c.Place.Decl != nil && syntax.Inside(c.Place.Decl, v.Pos()) && !syntax.Inside(c.Loop, v.Pos())
	}
	sig := syntax.SignatureOf(in)
	if sig == nil {
		return false
	}
	index := syntax.ParamIndex(sig, v)
	if index < 0 && sig.Recv() != v {
		return false
	}
	if c.Direct {
		passed := syntax.Receiver(c.Call)
		if index >= 0 {
			if index >= len(c.Call.Args) {
				return false
			}
			passed = c.Call.Args[index]
		}
		return passed != nil && FromOutside(c.Place, c.Loop, passed)
	}
	passed := c.Call.Args
	if recv := syntax.Receiver(c.Call); recv != nil {
		passed = append(passed[:len(passed):len(passed)], recv)
	}
	return slices.ContainsFunc(passed, func(e ast.Expr) bool {
		t := c.Place.TypeOf(e)
		return t != nil && types.Identical(t, v.Type()) && FromOutside(c.Place, c.Loop, e)
	})
}
