package repeatedwork

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
)

// conversion is a function that returns all of its input in another form.
type conversion struct {
	from ast.Expr // the receiver, a parameter, or a part of one
	to   string   // type of the result
}

// converts returns what a function converts as a whole; nil if it does something else. Unlike a
// copy of the same type, which the caller needs to change it, the result can be kept.
func (s *search) converts(in *inputs.Function) *conversion {
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return nil
	}
	return conversionBy(place)
}

func conversionBy(p *gocode.Place) *conversion {
	if p.Decl == nil || p.Decl != p.Func || p.Decl.Body == nil || len(p.Decl.Body.List) == 0 {
		return nil
	}
	last, ok := p.Decl.Body.List[len(p.Decl.Body.List)-1].(*ast.ReturnStmt)
	if !ok || len(last.Results) != 1 {
		return nil
	}
	result := last.Results[0]
	t := p.TypeOf(result)
	if t == nil || !plainText(t) {
		return nil
	}
	from := filledFrom(p, result)
	if call, ok := ast.Unparen(result).(*ast.CallExpr); ok && len(call.Args) == 1 {
		_, conv := p.Conversion(call)
		if name := p.CalleeName(call); conv || name == "unicode/utf16.Decode" || name == "unicode/utf16.Encode" {
			from = call.Args[0]
		}
	}
	if from == nil || !plainText(p.TypeOf(from)) || sameElements(p.TypeOf(from), t) || !input(p, from) {
		return nil
	}
	return &conversion{from: from, to: syntax.TypeText(p, t)}
}

// filledFrom returns what a loop goes through whose elements it converts one by one to those of a
// local variable:
//
//	for i, c := range s { out[i] = rune(c) }
//	for _, c := range s { out = append(out, rune(c)) }
func filledFrom(p *gocode.Place, result ast.Expr) (from ast.Expr) {
	v := syntax.LocalVar(p, result)
	if v == nil || syntax.Param(p, v) {
		return nil
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		if !ok || len(r.Body.List) != 1 || r.Value == nil {
			return true
		}
		a, ok := r.Body.List[0].(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		value := ast.Unparen(a.Rhs[0])
		if call, ok := value.(*ast.CallExpr); ok && p.CalleeName(call) == "append" && len(call.Args) == 2 && syntax.LocalVar(p, call.Args[0]) == v {
			value = ast.Unparen(call.Args[1])
		} else if at, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr); !ok || syntax.LocalVar(p, at.X) != v {
			return true
		}
		call, ok := value.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		if elem := syntax.LocalVar(p, r.Value); elem != nil && syntax.LocalVar(p, call.Args[0]) == elem {
			if _, conv := p.Conversion(call); conv {
				from = r.X
			}
		}
		return true
	})
	return from
}

// input reports whether an expression is a parameter, the receiver, or a part of one.
func input(p *gocode.Place, e ast.Expr) bool {
	if s, ok := ast.Unparen(e).(*ast.SliceExpr); ok {
		e = s.X
	}
	v, _ := syntax.Var(p, e)
	return v != nil && syntax.Param(p, v)
}

// plainText reports whether a type is a string or a slice of numbers.
func plainText(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Slice:
		b, ok := t.Elem().Underlying().(*types.Basic)
		return ok && b.Info()&types.IsNumeric != 0
	}
	return false
}

func sameElements(a, b types.Type) bool {
	x, slice := a.Underlying().(*types.Slice)
	y, other := b.Underlying().(*types.Slice)
	return slice == other && (!slice || types.Identical(x.Elem().Underlying(), y.Elem().Underlying()))
}
