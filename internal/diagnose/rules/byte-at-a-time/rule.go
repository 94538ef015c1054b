// Package byteatatime finds loops that write or read one byte per call.
package byteatatime

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is byte-at-a-time.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "byte-at-a-time",
		Kind:  rule.IO,
		Title: "One byte written or read in each call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A call costs as much for one byte as for hundreds. The work for each byte
				// remains.
				Fraction: rule.Fraction{Expect: 0.8, Low: 0.4, High: 1}, // of n bytes a call, one n-th stays
			},
			Start: finder.Sites(steady),
			Judge: judge,
		},
	}
}

const doc = `A loop passes single bytes to Write, or reads one byte per Read. Every call goes
through an interface, takes locks, checks its state, and, without a buffer in
between, enters the kernel: a microsecond for one byte instead of for a
thousand.

Find the run of bytes that need no change and write that slice at once; read
into a slice of some kilobytes. Where bytes have to go one by one, put a
bufio.Writer or bufio.Reader in between and use its WriteByte and ReadByte.

It is fine where the other side is a buffer in memory with a WriteByte of its
own, and the rule leaves bytes.Buffer, strings.Builder and bufio alone.

Seen in the field: mattn/go-colorable (escape sequences filtered byte by byte).`

// methods write or fill a slice of bytes, or write a string.
var methods = map[string]bool{"Write": true, "Read": true, "WriteString": true}

// steady selects the CPU of code that runs more than once.
func steady(s *site.Site) rule.Match {
	return rule.Match{Site: s, CPU: stacks.Select(s.CPU, stacks.Steady)}
}

func judge(c *finder.Case) bool {
	place := c.Place
	for _, call := range syntax.Calls(place) {
		loop := place.LoopAround(call)
		if loop == nil || !onByte(place, call) || loops.AtMost(place, loop, call, 4) {
			continue
		}
		if helper(place, call) && slices.ContainsFunc(c.CPU, buffered) {
			return false
		}
		c.Cause = fmt.Sprintf("%s handles one byte in each iteration of the loop on line %d.", syntax.Text(call.Fun), syntax.Line(place, loop.Pos()))
		c.Fix = "Pass the bytes that belong together in one call, or put a bufio.Writer (bufio.Reader) in between."
		return true
	}
	return inCaller(c)
}

// levels is how many callers away from the call the loop may be.
const levels = 3

// varints are functions of the standard library that read one byte after the other.
var varints = []string{"encoding/binary.ReadUvarint", "encoding/binary.ReadVarint"}

// inCaller judges a function that reads or writes one byte, such as a ReadByte method, and that a
// loop of a caller calls for each byte.
func inCaller(c *finder.Case) bool {
	p := c.Place
	var call *ast.CallExpr
	for _, one := range syntax.Calls(p) {
		if onByte(p, one) && len(loops.Around(p, one)) == 0 {
			call = one
		}
	}
	if call == nil || slices.ContainsFunc(c.CPU, buffered) {
		return false
	}
	of := ""
	c.Keep(func(r *site.Row) bool {
		at := r.Owner
		if at+1 < len(r.Stack) && funcname.Match(r.Stack[at+1].Function, varints...) {
			of = symbol.Short(funcname.Typed(r.Stack[at+1].Function))
			return true
		}
		l, ok := loops.Calling(c.Pass.Syntax, r.Stack, at, levels)
		if ok {
			of = fmt.Sprintf("the loop on line %d of %s", l.Line(), l.Name())
		}
		return ok
	})
	if c.Empty() {
		return false
	}
	c.Cause = fmt.Sprintf("%s handles one byte in each call of %s, which %s calls again and again.", syntax.Text(call.Fun), syntax.FuncName(p), of)
	c.Fix = "Put a bufio.Reader (bufio.Writer) in between, where the stream is opened: its ReadByte (WriteByte) only copies from a buffer. Or read the bytes that belong together in one call."
	return true
}

// buffered reports whether a row is in a buffer or a stream in memory, where one byte costs little.
func buffered(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack[:max(r.Owner, 0)], func(f *site.Frame) bool {
		return funcname.Match(f.Function, "bufio.*", "bytes.*", "strings.*")
	})
}

// onByte reports whether a call writes or reads exactly one byte of a stream.
func onByte(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if helper(p, call) {
		return !inMemory(p, p.TypeOf(call.Args[0])) && single(p, call.Args[1])
	}
	if fn == nil || fn.Signature().Recv() == nil || !methods[fn.Name()] || len(call.Args) != 1 {
		return false
	}
	return !inMemory(p, fn.Signature().Recv().Type()) && single(p, call.Args[0])
}

// helper reports whether a call is of a function of package io that reads or writes once.
func helper(p *gocode.Place, call *ast.CallExpr) bool {
	return len(call.Args) == 2 && funcname.Match(p.CalleeName(call), "io.ReadFull", "io.WriteString")
}

// inMemory reports whether values of a type are buffers, or streams in memory.
func inMemory(p *gocode.Place, t types.Type) bool {
	switch syntax.TypeText(p, t) {
	case "*bytes.Buffer", "*strings.Builder", "*bufio.Writer", "*bufio.Reader", "*bytes.Reader", "*strings.Reader":
		return true
	}
	return false
}

// single reports whether an expression has the length 1: []byte{c}, b[:1], b[i:i+1], a[:] of a
// [1]byte, a slice made with length 1, string(c) of a byte.
func single(p *gocode.Place, e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(x.Elts) == 1
	case *ast.Ident:
		made, ok := syntax.Origin(p, x).(*ast.CallExpr)
		return ok && p.CalleeName(made) == "make" && len(made.Args) >= 2 && one(p, made.Args[1])
	case *ast.SliceExpr:
		if x.High == nil && x.Low == nil {
			t := p.TypeOf(x.X)
			if t == nil {
				return false
			}
			a, ok := t.Underlying().(*types.Array)
			return ok && a.Len() == 1
		}
		if x.High == nil {
			return false
		}
		if x.Low == nil {
			return one(p, x.High)
		}
		plus, ok := ast.Unparen(x.High).(*ast.BinaryExpr)
		return ok && plus.Op.String() == "+" && syntax.Same(p, plus.X, x.Low) && one(p, plus.Y)
	case *ast.CallExpr:
		if _, conversion := p.Conversion(x); !conversion || len(x.Args) != 1 {
			return false
		}
		t := p.TypeOf(x.Args[0])
		if t == nil {
			return false
		}
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Kind() == types.Uint8
	}
	return false
}

func one(p *gocode.Place, e ast.Expr) bool {
	n, ok := syntax.ConstInt(p, e)
	return ok && n == 1
}
