// Package filereadforpart finds files that are read as a whole for their first bytes or their size.
package filereadforpart

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastSize is the minimum mean size of the files: opening one costs as much as reading a few
	// kilobytes.
	leastSize = 16 << 10
	// mostFirst is the most bytes at the start of a file that are a part of it.
	mostFirst = 8 << 10
)

// Rule is file-read-for-part.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "file-read-for-part",
		Kind:  rule.IO,
		Title: "Whole file read for its first bytes or its size",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Opening and closing the file remain.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.99},
				Specificity: 2,
			},
			Start: finder.Calls{Functions: []string{"os.ReadFile", "io/ioutil.ReadFile", "io/fs.ReadFile"}},
			Judge: judge,
		},
	}
}

const doc = `os.ReadFile allocates memory for the whole file and copies it from the kernel. If
the program only looks at the first bytes (a magic number, http.DetectContentType)
or asks for the length, all that is for nothing: for a file of a megabyte
it takes a hundred times as long as a read of 512 bytes.

Open the file and read what is needed, with io.ReadFull into an array or a
bufio.Reader for a first line. For the size, call os.Stat, or Info of the entry
of a listing.

It is fine for small files. The rule reports files of 16 KiB and more on average
whose content only goes to len, to a part of constant length from the start, to
http.DetectContentType or to bytes.HasPrefix.

Seen in the field: h2non/filetype#27 (5 s became milliseconds for a video),
hashicorp/go-extract#12.`

func judge(c *finder.Case) bool {
	size := meanSize(c.Allocs)
	if size < leastSize {
		return false
	}
	var what need
	for _, call := range c.Calls {
		one, ok := needed(c.Place, call)
		if !ok {
			return false
		}
		what.size, what.first = what.size || one.size, what.first || one.first
	}
	used, fix := "its size is used", "Ask for the size with os.Stat, or with Info of the entry if a listing has the file."
	if what.first {
		used, fix = "its first bytes are used", "Open the file and read only these bytes: io.ReadFull into an array, or a bufio.Reader for a line."
		if what.size {
			used, fix = "its first bytes and its size are used", fix+" The size is in what Stat of the open file returns."
		}
	}
	c.Cause = fmt.Sprintf("%s reads files of %s, and only %s.", symbol.Short(c.Name()), units.Bytes(size), used)
	c.Fix = fix
	return true
}

// meanSize returns the mean size of the buffers for files, the largest objects, in bytes.
func meanSize(rows []*site.Row) float64 {
	largest := stacks.Largest(rows)
	if largest == nil || largest.Count == 0 {
		return 0
	}
	return float64(largest.Value) / float64(largest.Count)
}

// need is what is needed of a file.
type need struct{ size, first bool }

// needed returns what is used of the content that a call returns; false if that is more than a part
// of it.
func needed(p *gocode.Place, call *ast.CallExpr) (n need, ok bool) {
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	if v == nil || syntax.IsResult(p, v) {
		return n, false
	}
	for _, id := range syntax.Uses(p, v) {
		if p.Info.Defs[id] != nil || syntax.Defines(p, id) {
			if syntax.AssignedTo(p, call) != ast.Expr(id) {
				return n, false
			}
			continue
		}
		switch {
		case lengthOf(p, id):
			if !bound(p, id) {
				n.size = true
			}
		case start(p, id):
			n.first = true
		default:
			return n, false
		}
	}
	return n, n.size || n.first
}

// lengthOf reports whether an expression is the argument of len.
func lengthOf(p *gocode.Place, e ast.Expr) bool {
	call, ok := syntax.Parent(p, e).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "len"
}

// bound reports whether a length only limits a part: data[:min(len(data), 512)].
func bound(p *gocode.Place, e ast.Expr) bool {
	call, ok := syntax.Parent(p, syntax.Parent(p, e)).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "min"
}

// start reports whether only the start of a text is used.
func start(p *gocode.Place, e ast.Expr) bool {
	switch up := syntax.Parent(p, e).(type) {
	case *ast.SliceExpr:
		return up.X == e && up.High != nil && first(p, up.High)
	case *ast.IndexExpr:
		return up.X == e && first(p, up.Index)
	case *ast.CallExpr:
		name := p.CalleeName(up)
		return (name == "net/http.DetectContentType" || name == "bytes.HasPrefix") && len(up.Args) > 0 && up.Args[0] == e
	}
	return false
}

// first reports whether an index is a small constant, or at most one.
func first(p *gocode.Place, e ast.Expr) bool {
	if n, ok := syntax.ConstInt(p, e); ok {
		return n <= mostFirst
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "min" {
		return false
	}
	for _, arg := range call.Args {
		if t, basic := p.TypeOf(arg).Underlying().(*types.Basic); basic && t.Info()&types.IsInteger != 0 {
			if n, ok := syntax.ConstInt(p, arg); ok && n <= mostFirst {
				return true
			}
		}
	}
	return false
}
