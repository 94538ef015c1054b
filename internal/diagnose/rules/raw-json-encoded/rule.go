// Package rawjsonencoded finds JSON texts that are encoded again as JSON.
package rawjsonencoded

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is raw-json-encoded.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "raw-json-encoded",
		Kind:  rule.CPU,
		Title: "JSON text encoded as JSON again",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are the calls that scan the text; appending it remains.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 2,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A json.RawMessage is JSON already. json.Marshal and Encode do not trust it: they
scan every byte, copy the text without its spaces into a buffer, and Marshal copies
that once more.

Append or write the text unchanged. If it came from outside, json.Valid checks
it once, where it arrives.

It is fine in a field of a struct that is encoded with others: there is no other
way. The rule reports calls whose whole value is a json.RawMessage, also through
a parameter of type any.

Seen in the field: movio/bramble#59 (answers of services encoded again),
golang/go#33422.`

// encoders are the functions that encode a value, as the type checker names them.
func encoders() []string {
	return []string{"encoding/json.Marshal", "(*encoding/json.Encoder).Encode"}
}

// encoding is a call that encodes a json.RawMessage, or a parameter that may be one.
type encoding struct {
	raw   bool
	fn    *types.Func // the function whose parameter it is
	param int
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	lines := finder.Remember(p, look)
	gives := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *[]*ast.CallExpr {
		calls := syntax.Calls(place)
		return &calls
	})
	at := func(r *site.Row) int {
		i := scanned(r)
		if i < 0 {
			return -1
		}
		e := lines.At(r.Stack[i])
		switch {
		case e == nil:
			return -1
		case e.raw:
			return i
		case i+1 < len(r.Stack) && givesRaw(p, r.Stack[i+1], gives, e):
			return i
		}
		return -1
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// scanned returns the index of the frame that calls an encoder, in a row in which the text of a
// value with MarshalJSON is scanned; -1 for other rows.
func scanned(r *site.Row) int {
	scans := false
	for i, f := range r.Stack {
		switch {
		case funcname.Match(f.Function, "encoding/json.marshalerEncoder", "encoding/json.addrMarshalerEncoder"):
			scans = true
		case funcname.Match(f.Function, "encoding/json.Marshal", "encoding/json.(*Encoder).Encode"):
			if scans && i+1 < len(r.Stack) {
				return i + 1
			}
			return -1
		case scans && funcname.Match(f.Function, "encoding/json.structEncoder.*", "encoding/json.mapEncoder.*", "encoding/json.arrayEncoder.*", "encoding/json.sliceEncoder.*"):
			return -1 // a part of a larger value
		}
	}
	return -1
}

// look returns what a line encodes, if that is or may be a json.RawMessage.
func look(_ *site.Frame, p *gocode.Place) *encoding {
	for _, call := range syntax.CallsOf(p, encoders()...) {
		if len(call.Args) != 1 {
			continue
		}
		if isRaw(p.TypeOf(call.Args[0])) {
			return &encoding{raw: true}
		}
		v := syntax.Named(p, call.Args[0])
		if v == nil || p.Decl == nil || !types.IsInterface(v.Type()) || !syntax.Param(p, v) {
			continue
		}
		fn, ok := p.Object(p.Decl.Name).(*types.Func)
		if !ok {
			continue
		}
		if i := syntax.ParamIndex(fn.Signature(), v); i >= 0 {
			return &encoding{fn: fn, param: i}
		}
	}
	return nil
}

// givesRaw reports whether a caller's line passes a json.RawMessage to the parameter that is
// encoded.
func givesRaw(p *rule.Pass, f *site.Frame, gives *finder.Lines[[]*ast.CallExpr], e *encoding) bool {
	calls := gives.At(f)
	place, ok := p.Syntax.At(f.File, f.Line)
	if calls == nil || !ok {
		return false
	}
	for _, call := range *calls {
		if fn := place.Callee(call); fn != nil && gocode.FullName(fn) == gocode.FullName(e.fn) && e.param < len(call.Args) && isRaw(place.TypeOf(call.Args[e.param])) {
			return true
		}
	}
	return false
}

// isRaw reports whether a type is json.RawMessage, or a pointer to it.
func isRaw(t types.Type) bool {
	if t == nil {
		return false
	}
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	return types.Unalias(t).String() == "encoding/json.RawMessage"
}

func judge(c *finder.Case) bool {
	calls := syntax.CallsOf(c.Place, encoders()...)
	if len(calls) == 0 {
		return false
	}
	name, value := symbol.Short(c.Place.CalleeName(calls[0])), calls[0].Args[0]
	text := syntax.Text(value)
	c.Cause = fmt.Sprintf("%s gets a json.RawMessage as %s, which is JSON already: all of it is scanned and copied again.", name, text)
	c.Fix = fmt.Sprintf("Append or write the bytes of %s as they are.", text)
	if !isRaw(c.Place.TypeOf(value)) {
		c.Fix = "Append or write the bytes of a json.RawMessage as they are: test for the type first, or give it a function of its own."
	}
	return true
}
