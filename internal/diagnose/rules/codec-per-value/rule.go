// Package codecpervalue finds encoders and decoders of a stream that are created again for each of
// its values.
package codecpervalue

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is codec-per-value.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "codec-per-value",
		Kind:  rule.CPU,
		Title: "Encoder or decoder of a stream created for each value",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are those of the constructor and of what a codec does only for the first
				// value of its stream.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.85, High: 1},
				Specificity: 2, // heavy-ctor-per-call would pool them, which a stream does not need
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop makes a new encoder on the same writer for each value that
it writes, or a method makes one on the connection that its receiver holds.
Encoders and decoders are made for streams. A gob.Encoder describes each type
once, before its first value. A new one for each value compiles and sends that
description each time, which costs more than the value, and the reader compiles
it again. Encoders of csv and xml have a buffer of 4 KiB. A decoder that is
dropped also drops what it has read ahead, so that the next one may miss values.

Create the encoder where the writer is created, before the loop or in a field
beside the writer, and use it for all values.

It is fine where each value goes into a buffer of its own: a message that must
be decoded alone. For many such messages, a format without descriptions of types
costs less than gob.

Seen in the field: cockroachdb/cockroach#460 and golang/go#46089 (gob streams of
one value each).`

// starts are the functions that a codec runs only for its first value, or for the first of each
// type.
func starts() []string {
	return []string{
		"encoding/gob.(*Encoder).sendTypeDescriptor", "encoding/gob.(*Encoder).sendType", "encoding/gob.(*Decoder).recvType",
		"encoding/gob.(*Decoder).compileDec", "encoding/gob.(*Decoder).getDecEnginePtr",
	}
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := search{pass: p, lines: finder.Remember(p, look), passed: finder.Remember(p, lookPassed), starts: starts(), loops: map[gocode.Pos]loops.Caller{}}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass   *rule.Pass
	lines  *finder.Lines[codec]
	passed *finder.Lines[codec] // whose stream is a parameter
	starts []string
	loops  map[gocode.Pos]loops.Caller // around calls of the functions of passed
}

// codec is an encoder or decoder that is created for one value.
type codec struct {
	constructor *types.Func
	stream      ast.Expr
	loop        bool
}

// caller returns the frame whose line creates or uses such a codec, for rows of the constructor and
// of what a codec does once.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if !constructor(r.Stack[i-1].Function) && !s.starting(r, i) {
			continue
		}
		if s.lines.At(f) != nil || s.looped(r, i) {
			return i
		}
	}
	return -1
}

// levels is how many callers away from the codec the loop over the values may be.
const levels = 2

// looped reports whether the frame i makes a codec on a stream that it gets from a loop which
// passes the same stream for each value.
func (s *search) looped(r *site.Row, i int) bool {
	f := r.Stack[i]
	c := s.passed.At(f)
	if c == nil {
		return false
	}
	by, ok := loops.Calling(s.pass.Syntax, r.Stack, i, levels)
	if !ok || loops.Waits(by.Place, by.Loop) || emptied(by.Place, by.Loop, passedTo(by, c)) {
		return false
	}
	p, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || !by.Shares(p, c.stream) {
		return false
	}
	s.loops[gocode.Pos{File: f.File, Line: f.Line}] = by
	return true
}

// passedTo returns the argument of a loop's call that is of the stream's type.
func passedTo(by loops.Caller, c *codec) ast.Expr {
	for _, arg := range by.Call.Args {
		if loops.FromOutside(by.Place, by.Loop, arg) {
			return arg
		}
	}
	return c.stream
}

// constructor reports whether a function, as a profile names it, is a constructor of a codec by its
// name.
func constructor(function string) bool {
	name := function[strings.LastIndexByte(function, '.')+1:]
	return strings.HasPrefix(name, "New") && (strings.Contains(name, "Encoder") || strings.Contains(name, "Decoder") ||
		strings.Contains(name, "Writer") || strings.Contains(name, "Reader"))
}

// starting reports whether a row passes, below a frame, through work that a codec does for its
// first value.
func (s *search) starting(r *site.Row, i int) bool {
	for j := range i {
		if funcname.Match(r.Stack[j].Function, s.starts...) {
			return true
		}
	}
	return false
}

// look returns the codec that a line makes for each value; nil for none.
func look(_ *site.Frame, p *gocode.Place) *codec {
	if p.Decl == nil {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		if found := made(p, call); found != nil {
			return found
		}
	}
	return nil
}

// lookPassed returns the codec that a line makes for one value on a stream that the function gets
// as a parameter; nil for none.
func lookPassed(_ *site.Frame, p *gocode.Place) *codec {
	if p.Decl == nil {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		for _, c := range []*ast.CallExpr{call, origin(p, call)} {
			if c == nil {
				continue
			}
			fn := p.Callee(c)
			if fn == nil || fn.Pkg() == nil || len(c.Args) == 0 || !constructor(fn.Name()) || !streams(fn) || !used(p, c, fn) || loops.Repeating(p, c) != nil {
				continue
			}
			if v := syntax.LocalVar(p, c.Args[0]); v != nil && syntax.Param(p, v) && writes(v.Type()) && local(p, p.Decl, c) && !emptied(p, p.Decl, c.Args[0]) {
				return &codec{constructor: fn, stream: c.Args[0], loop: true}
			}
		}
	}
	return nil
}

// writes reports whether a type is a stream for many values, not a response or the body of a
// message.
func writes(t types.Type) bool {
	return t.String() != "net/http.ResponseWriter" && t.String() != "io.ReadCloser"
}

// made returns the codec that a call creates, or that its receiver is.
func made(p *gocode.Place, call *ast.CallExpr) *codec {
	if c := codecOf(p, call); c != nil {
		return c
	}
	if made := origin(p, call); made != nil {
		return codecOf(p, made)
	}
	return nil
}

// origin returns the call that created the receiver of another; nil for none.
func origin(p *gocode.Place, call *ast.CallExpr) *ast.CallExpr {
	recv := syntax.Receiver(call)
	if recv == nil {
		return nil
	}
	made, _ := syntax.Origin(p, recv).(*ast.CallExpr)
	return made
}

// codecOf returns the codec that a call creates for one value of a stream that exists before and
// after; nil when it does not.
func codecOf(p *gocode.Place, call *ast.CallExpr) *codec {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil || len(call.Args) == 0 || !constructor(fn.Name()) || !streams(fn) || !used(p, call, fn) {
		return nil
	}
	c := &codec{constructor: fn, stream: call.Args[0]}
	if u, ok := ast.Unparen(c.stream).(*ast.UnaryExpr); ok {
		c.stream = u.X // &buf
	}
	if loop := loops.Repeating(p, call); loop != nil {
		c.loop = true
		if !loops.FromOutside(p, loop, c.stream) || emptied(p, loop, c.stream) || !local(p, loop, call) {
			return nil
		}
		return c
	}
	if !held(p, c.stream) || !loops.PerCall(p, call) || emptied(p, p.Decl, c.stream) || !local(p, p.Decl, call) {
		return nil
	}
	return c
}

// streams reports whether a constructor takes a reader or writer, and returns something that reads
// or writes values.
func streams(fn *types.Func) bool {
	sig := fn.Signature()
	if sig.Recv() != nil || sig.Params().Len() == 0 || sig.Results().Len() == 0 {
		return false
	}
	t, ok := sig.Params().At(0).Type().Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for i := range t.NumMethods() {
		if n := t.Method(i).Name(); n == "Read" || n == "Write" {
			return true
		}
	}
	return false
}

// used reports whether a method of the codec that encodes, decodes, reads or writes a value is
// called.
func used(p *gocode.Place, call *ast.CallExpr, fn *types.Func) bool {
	method := func(e ast.Expr) bool {
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		for _, word := range []string{"Encode", "Decode", "Read", "Write"} {
			if strings.HasPrefix(sel.Sel.Name, word) && sel.Sel.Name != "ReadAll" && sel.Sel.Name != "WriteAll" {
				return true
			}
		}
		return false
	}
	if parent, ok := syntax.Parent(p, call).(*ast.SelectorExpr); ok {
		return method(parent)
	}
	v := syntax.Result(p, call)
	if v == nil {
		return false
	}
	once := false
	for _, id := range syntax.Reads(p, v) {
		sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr)
		switch {
		case !ok:
			return false // other code gets it
		case method(sel) && loops.Repeating(p, sel) != loops.Repeating(p, call):
			return false // many values
		case method(sel):
			once = true
		}
	}
	return once
}

// local reports whether the result of a call does not outlive the code around it: it is assigned to
// nothing, or to a variable there.
func local(p *gocode.Place, around ast.Node, call *ast.CallExpr) bool {
	to := syntax.AssignedTo(p, call)
	if to == nil {
		return true
	}
	v := syntax.LocalVar(p, to)
	return v != nil && syntax.Inside(around, v.Pos())
}

// emptied reports whether a stream is split into messages: it is emptied, or taken as a whole,
// after each value.
func emptied(p *gocode.Place, around ast.Node, stream ast.Expr) bool {
	found := false
	ast.Inspect(around, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if ok && syntax.Same(p, sel.X, stream) {
			switch sel.Sel.Name {
			case "Reset", "Truncate", "Bytes", "String":
				found = true
			}
		}
		return !found
	})
	return found
}

// held reports whether a stream lives longer than the call: it is a field of the receiver. A
// response has one value.
func held(p *gocode.Place, stream ast.Expr) bool {
	sel, ok := ast.Unparen(stream).(*ast.SelectorExpr)
	if !ok || p.Decl.Recv == nil {
		return false
	}
	v, _ := syntax.Var(p, sel)
	if v == nil || !inside(p.Decl.Recv, v) {
		return false
	}
	t := p.TypeOf(sel)
	return t == nil || t.String() != "net/http.ResponseWriter" && t.String() != "io.ReadCloser" // a response's or request's body
}

func inside(list *ast.FieldList, v *types.Var) bool {
	return list.Pos() <= v.Pos() && v.Pos() < list.End()
}

func (s *search) judge(c *finder.Case) bool {
	found := s.lines.At(&c.Site.Frame)
	by, looped := s.loops[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if found == nil && looped {
		found = s.passed.At(&c.Site.Frame)
	}
	if found == nil {
		return false
	}
	// The buffer inside, too, which heavy-ctor-per-call would keep for the next constructor.
	c.Callees = append(c.Callees, "bufio.New*")
	name, stream := symbol.Short(found.constructor.FullName()), syntax.Text(found.stream)
	c.Cause = fmt.Sprintf("%s is called again for each value, on the same %s: ", name, stream)
	switch {
	case found.constructor.Pkg().Path() == "encoding/gob" && strings.HasSuffix(name, "Encoder"):
		c.Cause += "each new encoder compiles the description of the type and sends it before the value."
	case found.constructor.Pkg().Path() == "encoding/gob":
		c.Cause += "each new decoder reads the description of the type and compiles it before the value."
	default:
		c.Cause += "its buffer and state are created for one value and dropped."
	}
	c.Fix = fmt.Sprintf("Call %s once, where %s is created; keep the result next to it, and use it for all values.", name, stream)
	if found.loop {
		c.Fix = fmt.Sprintf("Call %s once, before the loop, and use the result for all values.", name)
	}
	if looped {
		c.Cause += fmt.Sprintf(" The loop on line %d of %s calls %s for each value.", by.Line(), by.Name(), syntax.FuncName(c.Place))
		c.Fix = fmt.Sprintf("Call %s once, before the loop on line %d of %s, and pass the result to %s.", name, by.Line(), by.Name(), syntax.FuncName(c.Place))
	}
	if found.constructor.Pkg().Path() == "encoding/gob" && strings.HasSuffix(name, "Encoder") {
		c.Fix += " The reader then needs one Decoder for the whole stream, too."
	}
	return true
}
