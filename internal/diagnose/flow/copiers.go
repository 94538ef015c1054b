package flow

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// reflecting are functions of modules that return a deep copy of their argument, or copy their
// second argument into the first, by reflection, as the type checker names them.
var reflecting = struct{ returns, fills []string }{
	returns: []string{
		"github.com/mitchellh/copystructure.Copy", "github.com/mohae/deepcopy.Copy", "github.com/barkimedes/go-deepcopy.*",
		"github.com/huandu/go-clone*.Clone", "github.com/huandu/go-clone*.Slowly", "github.com/brunoga/deep.Copy", "github.com/qdm12/reprint.This",
	},
	fills: []string{"github.com/jinzhu/copier.Copy*", "github.com/tiendc/go-deepcopy.Copy", "github.com/getlantern/deepcopy.Copy", "github.com/ulule/deepcopier.*"},
}

// CopyOf returns the value that a call returns a copy of; nil for other calls. deep reports whether
// what it refers to is copied as well.
func (s *Copies) CopyOf(p *gocode.Place, call *ast.CallExpr) (from ast.Expr, deep bool) {
	name := p.CalleeName(call)
	switch name {
	case "maps.Clone", "slices.Clone", "bytes.Clone":
		return call.Args[0], false
	case "append":
		if len(call.Args) == 2 && call.Ellipsis.IsValid() && syntax.EmptySlice(p, call.Args[0]) {
			return call.Args[1], false
		}
		return nil, false
	case "":
		return nil, false
	}
	if decl, ok := s.syntax.Declared(p.Callee(call)); ok {
		if v := s.Original(decl); v != nil {
			return ArgumentFor(decl, call, v), true
		}
		if v := roundTrip(decl); v != nil {
			return ArgumentFor(decl, call, v), true
		}
	}
	if funcname.Match(name, reflecting.returns...) && len(call.Args) > 0 {
		return call.Args[0], true
	}
	if !Clones(name) {
		return nil, false
	}
	fn := p.Callee(call)
	switch {
	case fn != nil && fn.Signature().Recv() != nil && len(call.Args) == 0:
		return syntax.Receiver(call), true
	case len(call.Args) == 1:
		return call.Args[0], true
	}
	return nil, false
}

// CopyInto returns the variable that a call copies a value into, and the value; nil for other
// calls: copier.Copy(&to, from).
func CopyInto(p *gocode.Place, call *ast.CallExpr) (to *types.Var, from ast.Expr) {
	if len(call.Args) < 2 || !funcname.Match(p.CalleeName(call), reflecting.fills...) {
		return nil, nil
	}
	u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr)
	if !ok {
		return nil, nil
	}
	return syntax.LocalVar(p, u.X), call.Args[1]
}

// roundTrip returns the parameter of a function that encodes it and decodes the text into what it
// returns, of the same type; nil for other functions.
func roundTrip(p *gocode.Place) *types.Var {
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok || p.Decl.Body == nil || len(p.Decl.Body.List) > 12 {
		return nil
	}
	sig := fn.Signature()
	v := sig.Recv()
	switch {
	case sig.Results().Len() == 0:
		return nil
	case v == nil && sig.Params().Len() == 1:
		v = sig.Params().At(0)
	case v == nil || sig.Params().Len() > 0:
		return nil
	}
	if !types.Identical(syntax.Pointed(v.Type()), syntax.Pointed(sig.Results().At(0).Type())) {
		return nil
	}
	encodes, decodes := false, false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || p.Callee(call) == nil {
			return true
		}
		name := p.Callee(call).Name()
		if strings.HasPrefix(name, "Marshal") || name == "Encode" {
			encodes = encodes || len(call.Args) > 0 && syntax.Mentions(p, call.Args[0], v)
		}
		decodes = decodes || strings.HasPrefix(name, "Unmarshal") || name == "Decode"
		return true
	})
	if !encodes || !decodes {
		return nil
	}
	return v
}
