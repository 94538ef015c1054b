// Package zeroedbuffer finds large local buffers whose zeroing is wasted.
package zeroedbuffer

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Rule is zeroed-buffer.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "zeroed-buffer",
		Kind:  rule.CPU,
		Title: "Large buffer zeroed on every call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are those of the declaration: the zeroing, and a little of what the
				// processor waits for there, as the first to touch the stack.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
			},
			Start: finder.Sites(zeroing),
			Judge: judge,
		},
	}
}

const doc = `var buf [4096]byte on the stack allocates nothing, but each call zeroes all of it
before the first statement uses it: about 50 ns for 4 KiB, more than a short
token or number takes to parse. The compiler omits that only where it sees that
every element is set before it is read.

Keep the buffer where it outlives the call: in a field of the parser, in a buffer
that the caller passes, or in a slice that is cut to length 0 and appended to. Or
make it as large as most calls need, and let append grow it for the others.

It is fine where the zeros are needed, as in a table of counts, and where a call
uses most of the buffer. The rule reports only byte buffers of 512 B or more
from which nothing is read before it is written: elements are assigned, parts up
to a length are sliced, and the whole is only filled.

Seen in the field: pierrec/lz4#169 (a table zeroed for each small block; 23 %
faster with less to zero).`

// least is the size in bytes below which zeroing is a few instructions.
const least = 512

// zeroing selects the CPU of the line itself and of the runtime's functions that clear memory.
// Lines that allocate belong to other rules.
func zeroing(s *site.Site) rule.Match {
	if len(s.Allocs) > 0 {
		return rule.Match{Site: s}
	}
	m := finder.Take(s, func(r *site.Row) bool {
		return stacks.Leaf(r) || stacks.Calls(r, "runtime.duffzero", "runtime.memclrNoHeapPointers*", "runtime.asyncPreempt*")
	}, "runtime.duffzero", "runtime.memclrNoHeapPointers*")
	m.Live = nil
	return m
}

func judge(c *finder.Case) bool {
	p := c.Place
	buffers := syntax.Buffers(p)
	for _, v := range slices.SortedFunc(maps.Keys(buffers), func(a, b *types.Var) int { return cmp.Compare(a.Pos(), b.Pos()) }) {
		at := buffers[v]
		size := sizeOf(p, v, at)
		if size < least {
			continue
		}
		written, ok := onlyFilled(p, v, at)
		if !ok {
			continue
		}
		c.Cause = fmt.Sprintf("Each call of %s zeroes %s (%s), although it reads only what it writes there%s.",
			syntax.FuncName(p), v.Name(), units.Bytes(float64(size)), used(c, written, size))
		c.Fix = fix(p, v)
		return true
	}
	return false
}

// sizeOf returns the size of a buffer of bytes; 0 for others, and where it is not constant.
func sizeOf(p *gocode.Place, v *types.Var, made ast.Node) int64 {
	switch t := v.Type().Underlying().(type) {
	case *types.Array:
		_, value := syntax.Declared(p, v)
		if lit, ok := value.(*ast.CompositeLit); value != nil && (!ok || len(lit.Elts) > 0) || !isByte(t.Elem()) {
			return 0
		}
		return t.Len()
	case *types.Slice:
		call, ok := made.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 || !isByte(t.Elem()) {
			return 0
		}
		n, _ := syntax.ConstInt(p, call.Args[1])
		return n
	}
	return 0
}

func isByte(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Uint8
}

// onlyFilled reports whether a buffer is read only where it was written before: it returns the
// assignments of elements, or nil if calls fill it, too.
func onlyFilled(p *gocode.Place, v *types.Var, declared ast.Node) (written []ast.Node, ok bool) {
	filled := false
	for _, id := range syntax.Uses(p, v) {
		if id == declared || syntax.Defines(p, id) {
			continue
		}
		path := p.Enclosing(id)
		if len(path) < 2 {
			return nil, false
		}
		switch n := path[0].(type) {
		case *ast.IndexExpr:
			if !assigns(path[1], n) {
				return nil, false
			}
			written = append(written, n)
		case *ast.SliceExpr:
			switch {
			case n.X != id:
				return nil, false
			case n.High == nil: // to the end
				if !fills(p, path[1], n) {
					return nil, false
				}
				filled = true
			default:
				if _, conversion := conversionOf(p, path[1]); !conversion {
					filled = true // a call may write to the part
				}
			}
		case *ast.CallExpr:
			if name := p.CalleeName(n); name != "len" && name != "cap" {
				if !fills(p, n, id) {
					return nil, false
				}
				filled = true
			}
		default:
			return nil, false
		}
	}
	if filled {
		return nil, true
	}
	return written, len(written) > 0
}

// assigns reports whether a statement sets an element, without reading it.
func assigns(n ast.Node, element ast.Expr) bool {
	s, ok := n.(*ast.AssignStmt)
	if !ok || s.Tok != token.ASSIGN {
		return false
	}
	for _, lhs := range s.Lhs {
		if lhs == element {
			return true
		}
	}
	return false
}

func conversionOf(p *gocode.Place, n ast.Node) (types.Type, bool) {
	if call, ok := n.(*ast.CallExpr); ok {
		return p.Conversion(call)
	}
	return nil, false
}

// fills reports whether a call writes to a buffer that it gets as a whole: it copies to it, or its
// name says that it reads into it.
func fills(p *gocode.Place, n ast.Node, buffer ast.Expr) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	name := p.CalleeName(call)
	if name == "copy" {
		return call.Args[0] == buffer
	}
	if name == "io.CopyBuffer" {
		return true
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(name, "Read")
}

// used says how much of the buffer a call sets, where that was counted and is little.
func used(c *finder.Case, written []ast.Node, size int64) string {
	const little = 0.25
	owner, p := c.Site.Owner, c.Place
	if c.Pass.Counts == nil || len(written) == 0 {
		return ""
	}
	declared, ok := c.Pass.Counts.Line(owner.Package, c.Site.File, c.Site.Line)
	if !ok || declared.PerUnit <= 0 {
		return ""
	}
	sum := 0.0
	for _, n := range written {
		if e, ok := c.Pass.Counts.Line(owner.Package, c.Site.File, syntax.Line(p, n.Pos())); ok {
			sum += e.PerUnit
		}
	}
	if each := sum / declared.PerUnit; each < little*float64(size) {
		return fmt.Sprintf(": %s on average", units.Some(each, "byte"))
	}
	return ""
}

// fix says where the buffer can live: in the receiver, if there is one.
func fix(p *gocode.Place, v *types.Var) string {
	if s := syntax.SignatureOf(p); s != nil && s.Recv() != nil {
		if _, pointer := s.Recv().Type().(*types.Pointer); pointer && s.Recv().Name() != "" {
			return fmt.Sprintf("Keep %s in a field of %s and reuse it, if one goroutine at a time calls this; or make it as large as most calls need, and append.",
				v.Name(), s.Recv().Name())
		}
	}
	return fmt.Sprintf("Let the caller pass %s and reuse it, or make it as large as most calls need, and append.", v.Name())
}
