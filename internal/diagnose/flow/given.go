package flow

import (
	"go/ast"
	"go/constant"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Given returns the constants that an expression has in the calls of a row: its own value, or what
// the caller of the frame i passes for the parameter that it is. in is a place in the function of
// that frame. It is nil when the value is not known to be a constant.
func Given(p *rule.Pass, in *gocode.Place, r *site.Row, i int, e ast.Expr) []constant.Value {
	if v, ok := in.Const(e); ok {
		return []constant.Value{v}
	}
	v := syntax.Named(in, e)
	if v == nil || v.IsField() || p.Syntax == nil || i < 0 || i+1 >= len(r.Stack) || len(syntax.Assigned(in, v)) > 0 {
		return nil
	}
	sig := syntax.SignatureOf(in)
	index := syntax.ParamIndex(sig, v)
	if index < 0 || sig.Variadic() && index == sig.Params().Len()-1 {
		return nil
	}
	from := r.Stack[i+1]
	place, ok := p.Syntax.At(from.File, from.Line)
	if !ok {
		return nil
	}
	call := loops.CallTo(place, r.Stack[i].Function)
	if call == nil || index >= len(call.Args) {
		return nil
	}
	return Constants(p.Syntax, place, call.Args[index])
}
