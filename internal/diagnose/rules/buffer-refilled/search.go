package bufferrefilled

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	mostUp   = 2 // callers whose functions are looked at
	mostDown = 2 // depth of callees
)

// spot is a call.
type spot struct {
	line int
	text string
	file *types.Var // that is sought, or put below the reader
	to   *types.Var // the reader; nil for a Seek
	size int64      // of the buffer that the call makes; 0 for others
}

// search looks for what throws the buffer of a reader away.
type search struct {
	pass   *rule.Pass
	place  *gocode.Place // of the reading line
	reader *types.Var
	param  bool    // the reader is a parameter: callers have other names for it
	most   float64 // executions of the reading line for each unit of work
	resets []spot
	seeks  []spot
	looked []*ast.FuncDecl

	reset, seek *spot
}

// look examines the function of the reading line and its callers, and the functions of the package
// that they call.
func (x *search) look(rows []*site.Row) {
	x.function(x.place.Decl, 0)
	for _, r := range rows {
		for i := r.Owner + 1; i <= r.Owner+mostUp && i < len(r.Stack); i++ {
			f := r.Stack[i]
			if f.Owner.Package != r.Stack[r.Owner].Owner.Package {
				break
			}
			if p := x.pass.Place(&site.Site{Frame: *f}); p != nil && p.Pkg == x.place.Pkg {
				x.function(p.Decl, 0)
			}
		}
	}
	for i := range x.resets {
		for j := range x.seeks {
			if x.reset == nil && same(x.resets[i].file, x.seeks[j].file) {
				x.reset, x.seek = &x.resets[i], &x.seeks[j]
			}
		}
	}
}

// function collects what a function and its callees do as often as the line reads.
func (x *search) function(d *ast.FuncDecl, depth int) {
	if d == nil || d.Body == nil || slices.Contains(x.looked, d) {
		return
	}
	x.looked = append(x.looked, d)
	p := x.place.Entry(d)
	inspectCalls(d.Body, func(call *ast.CallExpr) {
		switch name := p.CalleeName(call); name {
		case "(*os.File).Seek", "(io.Seeker).Seek":
			x.add(&x.seeks, p, call, syntax.Receiver(call), nil)
		case "(*bufio.Reader).Reset":
			if v := syntax.Named(p, syntax.Receiver(call)); x.param || same(v, x.reader) {
				x.add(&x.resets, p, call, call.Args[0], v)
			}
		case "bufio.NewReader", "bufio.NewReaderSize":
			var v *types.Var
			if to := syntax.AssignedTo(p, call); to != nil {
				v = syntax.Named(p, to)
			}
			if x.param || same(v, x.reader) {
				x.add(&x.resets, p, call, call.Args[0], v)
			}
		default:
			if depth < mostDown {
				x.function(p.Declaration(p.Callee(call)), depth+1)
			}
		}
	})
}

// add keeps a call that runs about as often as the line reads.
func (x *search) add(to *[]spot, p *gocode.Place, call *ast.CallExpr, file ast.Expr, reader *types.Var) {
	e, ok := x.executions(p, call)
	if v := syntax.Named(p, file); v != nil && ok && e.PerUnit >= leastPart*x.most {
		*to = append(*to, spot{syntax.Line(p, call.Lparen), syntax.Text(call), v, reader, made(p, call)})
	}
}

// executions returns how often the line of a call ran.
func (x *search) executions(p *gocode.Place, call *ast.CallExpr) (counts.Executions, bool) {
	return evidence.ExecutionsAt(x.pass, p, call.Lparen)
}

// goesOn reports whether the buffer may be useful: a line of the package reads from the reader much
// more often than it is reset, or reads more from it than a few bytes, as far as is known.
func (x *search) goesOn() bool {
	more := false
	for _, f := range x.place.Files() {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			p := x.place.Entry(fn)
			inspectCalls(fn.Body, func(call *ast.CallExpr) {
				for _, e := range append(slices.Clip(call.Args), syntax.Receiver(call)) {
					if e == nil || !x.maybe(p, e, fn) {
						continue
					}
					ran, ok := x.executions(p, call)
					often := ok && ran.PerUnit > mostReads*x.most
					much := ok && ran.PerUnit >= leastPart*x.most && unknown(p, call)
					more = more || often || much
				}
			})
		}
	}
	return more
}

// unknown reports whether a call of a function of another package may read much from a reader.
func unknown(p *gocode.Place, call *ast.CallExpr) bool {
	if p.Declaration(p.Callee(call)) != nil {
		return false
	}
	switch p.CalleeName(call) {
	case "(*bufio.Reader).Reset", "(*bufio.Reader).Discard", "(*bufio.Reader).Buffered", "(*bufio.Reader).Size",
		"(*bufio.Reader).UnreadByte", "(*bufio.Reader).UnreadRune":
		return false
	}
	_, _, few := reads(p, call)
	return !few
}

// maybe reports whether an expression may be the reader: it has one of its names or, in the
// functions that pass the reader on, is a variable for a bufio.Reader.
func (x *search) maybe(p *gocode.Place, e ast.Expr, fn *ast.FuncDecl) bool {
	v := syntax.Named(p, e)
	if same(v, x.reader) || same(v, x.reset.to) {
		return true
	}
	return v != nil && !v.IsField() && v.Type().String() == "*bufio.Reader" && slices.Contains(x.looked, fn)
}

// size returns the size of the reader's buffer: that of the call that creates it each time,
// otherwise the smallest of the package's readers.
func (x *search) size() int64 {
	size := x.reset.size
	if size > 0 {
		return size
	}
	for _, f := range x.place.Files() {
		inspectCalls(f, func(call *ast.CallExpr) {
			if n := made(x.place, call); n > 0 && (size == 0 || n < size) {
				size = n
			}
		})
	}
	if size == 0 {
		return standardSize
	}
	return size
}

// made returns the size of the buffer of the reader that a call creates; 0 for other calls and an
// unknown size.
func made(p *gocode.Place, call *ast.CallExpr) (size int64) {
	switch p.CalleeName(call) {
	case "bufio.NewReader":
		return standardSize
	case "bufio.NewReaderSize":
		size, _ = syntax.ConstInt(p, call.Args[1])
	}
	return size
}
