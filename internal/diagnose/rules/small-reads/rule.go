// Package smallreads finds reads of a few bytes directly from a file or connection.
package smallreads

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// few is the largest number of bytes of a small read: reading a page costs as much as its system
// call.
const few = 512

// Rule is small-reads.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "small-reads",
		Kind:  rule.IO,
		Title: "A few bytes read at a time, a system call each",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// The rows are the read calls. A bufio.Reader reads 4096 bytes at a time: byte by
				// byte, one call in a thousand remains; for records of 512 bytes, one in eight.
				Fraction:    rule.Fraction{Expect: 0.93, Low: 0.75, High: 1},
				Specificity: 1,
			},
			Prepare: handedOver,
			Lines:   []finder.Line{{Start: reading(), Judge: judge}},
		},
	}
}

// reading starts from calls that read.
func reading() finder.Calls {
	return finder.Calls{
		Functions: append([]string{
			"fmt.Fscan*", "fmt.Scan*", "io.ReadFull", "io.ReadAtLeast", "encoding/binary.Read", "net.(*TCPConn).Read",
			"io.(*LimitedReader).Read", "io.(*teeReader).Read", "io.(*SectionReader).Read", "io.(*multiReader).Read",
		}, inlets...),
		Types: []string{
			"fmt.Fscan*", "fmt.Scan*", "io.ReadFull", "io.ReadAtLeast", "encoding/binary.Read",
			"(io.Reader).Read", "(*os.File).Read", "(net.Conn).Read", "(*net.conn).Read", "(*io.LimitedReader).Read", "(*io.SectionReader).Read",
		},
		Keep: reaches,
	}
}

const doc = `A read from an *os.File or a net.Conn is a system call, however few bytes it
asks for. fmt.Fscan on a file is the worst: it needs single runes, and reads one
byte per call. A header of four bytes and then a body are two calls for each
message. Many decoders take single bytes from the reader that they are given.

Put one bufio.Reader in front and read everything through it.

It is fine where other code reads from the same descriptor afterwards: a buffer
may have read more than was asked for. The rule follows a buffer through
readers that pass reads on. Where another module reads, it reports the line that
gives it the file. Of reads of unknown length it takes those of files that cost
little each.

Seen in the field: aquasecurity/tracee#1407, gopasspw/gopass#607,
rancher/os#1628, Consensys/gnark-crypto#423 (points of a file, ten times faster
with a buffer).`

// inlets are the functions of the standard library that end in read(2), recv(2) and the like.
var inlets = []string{"os.(*File).Read", "net.(*conn).Read"}

func judge(c *finder.Case) bool {
	what, known := "", true
	ok := c.All(func(call *ast.CallExpr) bool {
		words, small := size(c.Pass.Syntax, c.Place, call)
		if what = words; small {
			return loops.PerCall(c.Place, call)
		}
		// Of a buffer of unknown length, counts and cost show that little is read.
		what, known = "little at a time", false
		buf := buffer(c.Place, call)
		return words == "" && parameter(c.Place, buf) < 0 && !rest(buf) && little(c.Pass, &c.Site.Frame, c.CPU)
	})
	if !ok || handsOver(c) {
		return false
	}
	if !known {
		c.Confidence = rule.Likely
	}
	c.Callees = inlets
	c.Cause = fmt.Sprintf("%s reads %s directly from a file or connection: a system call each time.", symbol.Short(c.Name()), what)
	c.Fix = "Put one bufio.Reader in front, created once, and read everything through it."
	return true
}

// handsOver reports whether the line is of another module that the program gives the file to: that
// line is reported.
func handsOver(c *finder.Case) bool {
	row := stacks.Largest(c.CPU)
	if row == nil || row.Stack[row.Owner].Owner.Kind == gocode.Main {
		return false
	}
	h := newHanded(c.Pass)
	i := h.caller(row)
	return i >= 0 && h.over(row, i) != nil
}

// buffer returns what a call reads into.
func buffer(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if strings.HasPrefix(p.CalleeName(call), "io.") {
		return call.Args[1]
	}
	return call.Args[0]
}

// size describes how much a call reads at a time, "" if that is not known, and reports whether it
// is little.
func size(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (string, bool) {
	name := p.CalleeName(call)
	if strings.HasPrefix(name, "fmt.") {
		return "single bytes", true
	}
	if name == "encoding/binary.Read" {
		n := fixed(p.TypeOf(call.Args[2]))
		return fmt.Sprintf("%d bytes", n), n > 0 && n <= few
	}
	n := length(s, p, buffer(p, call))
	if n <= 0 {
		return "", false
	}
	return fmt.Sprintf("%d bytes", n), n <= few
}

// length returns the constant length of a buffer, the largest if callers ask for several; 0 when it
// is not known.
func length(s *gocode.Syntax, p *gocode.Place, e ast.Expr) int64 {
	e = syntax.Origin(p, e)
	low := int64(0)
	if part, ok := e.(*ast.SliceExpr); ok {
		if part.Low != nil {
			if low, ok = syntax.ConstInt(p, part.Low); !ok {
				return 0
			}
		}
		if part.High != nil {
			return most(s, p, part.High) - low
		}
		if n := arrayLength(p.TypeOf(part.X)); n > 0 {
			return n - low
		}
		e = syntax.Origin(p, part.X)
	}
	if field, ok := e.(*ast.SelectorExpr); ok {
		if from := flow.Sources(s, p, field); len(from) == 1 && from[0].Value != ast.Expr(field) {
			p, e = from[0].Place, from[0].Value
		}
	}
	if call, ok := e.(*ast.CallExpr); ok && p.CalleeName(call) == "make" && len(call.Args) > 1 {
		return most(s, p, call.Args[1]) - low
	}
	return 0
}

// most returns the largest of the constants that a number can be; 0 when one is not known.
func most(s *gocode.Syntax, p *gocode.Place, e ast.Expr) (largest int64) {
	for _, v := range flow.Constants(s, p, e) {
		n, ok := constant.Int64Val(constant.ToInt(v))
		if !ok {
			return 0
		}
		largest = max(largest, n)
	}
	return largest
}

func arrayLength(t types.Type) int64 {
	if t == nil {
		return 0
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if a, ok := t.Underlying().(*types.Array); ok {
		return a.Len()
	}
	return 0
}

// fixed returns the size of what a pointer points to, as encoding/binary encodes it; 0 when it has
// none.
func fixed(t types.Type) int64 {
	if t == nil {
		return 0
	}
	ptr, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return 0
	}
	return width(ptr.Elem())
}

func width(t types.Type) int64 {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		sizes := map[types.BasicKind]int64{
			types.Bool: 1, types.Int8: 1, types.Uint8: 1, types.Int16: 2, types.Uint16: 2, types.Int32: 4, types.Uint32: 4,
			types.Int64: 8, types.Uint64: 8, types.Float32: 4, types.Float64: 8, types.Complex64: 8, types.Complex128: 16,
		}
		return sizes[u.Kind()]
	case *types.Array:
		return u.Len() * width(u.Elem())
	case *types.Struct:
		sum := int64(0)
		for f := range u.Fields() {
			n := width(f.Type())
			if n == 0 {
				return 0
			}
			sum += n
		}
		return sum
	}
	return 0
}
