// Package filestateperrecord finds code that asks the system for the position, the size or the
// state of a file each time that it handles a record, or opens the file each time.
package filestateperrecord

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastRuns is how often a line must run in each run of a program that exits, and leastPerUnit
	// how often per request or operation of others.
	leastRuns    = 1000
	leastPerUnit = 0.5
	// mostAbove is the number of callers that a file is followed to.
	mostAbove = 3
)

// Rule is file-state-per-record.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "file-state-per-record",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "File opened, or its state asked, for each record",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// The system call is gone, except for one in a thousand records or one per second.
				Fraction:    rule.Fraction{Expect: 0.98, Low: 0.9, High: 1},
				Specificity: 2, // io-in-loop reports calls of os.Stat in loops
				Removes:     true,
			},
			Lines: []finder.Line{{Start: asking(), Judge: judge}, opening(), creating()},
		},
	}
}

// asking starts from calls that ask for the position or the state of a file.
func asking() finder.Calls {
	return finder.Calls{
		Functions: []string{"os.(*File).Seek", "os.(*File).Stat", "os.Stat", "os.Lstat"},
		Types:     []string{"(*os.File).Seek", "(io.Seeker).Seek", "(*os.File).Stat", "(io/fs.File).Stat", "os.Stat", "os.Lstat"},
	}
}

const doc = `A writer that rotates its file asks for the file's size before each record, a
reader asks for its position before each line, or a handler asks whether a
file has changed. Each time is a system call of 0.3 to 2 µs, and os.Stat allocates
for its result: often as much as the record itself costs.

Count instead: set the size or the position when the file is opened or moved, and
add what each read or write returns. With a bufio.Reader in between, only counting
gives the right position. Whether a file was replaced or truncated is a question
for the moment when a read returns io.EOF or a write fails, or for once a second.

A logger or a store that opens its file, appends one record and closes it pays ten
times as much. Keep the file open. MkdirAll before each write asks for the state of
a directory that is there: write first, and create it when that fails.

It is fine where each change must be seen at once, and where others write to the
same file. The rule reports Seek(0, io.SeekCurrent), and Stat of a file or of a
path that the program keeps, if they run for every second request or a thousand
times in each run of a program that exits; files that a function opens with
O_APPEND and closes without a loop or a Sync; and MkdirAll that creates nothing.

Seen in the field: hpcloud/tail (Seek for each line that is read),
lestrrat-go/file-rotatelogs (os.Stat for each line that is logged),
rifflock/lfshook (MkdirAll and OpenFile for each line).`

func judge(c *finder.Case) bool {
	call, p := c.Calls[0], c.Place
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || !loops.PerCall(p, call) || !often(c.Pass, e.PerUnit) {
		return false
	}
	if loop := loops.Repeating(p.Outer(), call); loop != nil && loops.Waits(p.Outer(), loop) {
		return false // it polls
	}
	what, subject := asked(c, call)
	if what == "" {
		return false
	}
	c.Cause = fmt.Sprintf("%s asks the system for the %s, a system call for each record: %s per %s.",
		syntax.FuncName(p), what+" "+subject, evidence.Times(e.PerUnit), c.Pass.Manifest.Unit())
	switch what {
	case position:
		c.Fix = "Count it: set a field to the position when the file is opened or moved, and add the number of bytes that each read or write returns."
	case size:
		c.Fix = "Count it: set a field to the size when the file is opened, and add the number of bytes that each write returns. Ask only where another process writes to the file, and then once in a while."
	default:
		c.Fix = "Keep the answer in a field and ask again at most once a second, or when a read returns io.EOF or a write fails. A size can be counted: add the number of bytes that each write returns."
	}
	return true
}

// What the system is asked for.
const (
	position = "position in"
	size     = "size of"
	state    = "state of"
)

// often reports whether a line runs for each record, and not just for each file.
func often(p *rule.Pass, perUnit float64) bool {
	if p.Manifest.Unit() == "run" {
		return perUnit >= leastRuns
	}
	return perUnit >= leastPerUnit
}

// asked returns what a call asks for, and of which file; "" where the answer cannot be kept.
func asked(c *finder.Case, call *ast.CallExpr) (what, subject string) {
	p := c.Place
	file := syntax.Receiver(call)
	switch name := p.CalleeName(call); name {
	case "(*os.File).Seek", "(io.Seeker).Seek":
		offset, ok := syntax.ConstInt(p, call.Args[0])
		whence, known := syntax.ConstInt(p, call.Args[1])
		if !ok || !known || offset != 0 || whence != 1 || file == nil {
			return "", ""
		}
		return position, syntax.Text(file)
	case "os.Stat", "os.Lstat":
		file = call.Args[0]
	}
	if file == nil || !kept(c, file) {
		return "", ""
	}
	if onlySize(p.Outer(), call) {
		return size, syntax.Text(file)
	}
	return state, syntax.Text(file)
}

// onlySize reports whether only the size is used of what a call returns.
func onlySize(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.Result(p, call)
	if v == nil {
		return false
	}
	used := false
	for _, use := range syntax.Reads(p, v) {
		sel, ok := syntax.Parent(p, use).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Size" {
			return false
		}
		used = true
	}
	return used
}

// kept reports whether a file or its path is the same for many calls: it is a constant, a package
// variable, or a part of a value that exists before the loop, in the callers too.
func kept(c *finder.Case, file ast.Expr) bool {
	if len(c.CPU) == 0 || c.CPU[0].Owner < 0 {
		return false
	}
	p, stack, at := c.Place.Outer(), c.CPU[0].Stack, c.CPU[0].Owner
	field := false // it is in a field of something
	for range mostAbove {
		if _, constant := p.Const(file); constant {
			return true
		}
		use := file
		switch from := syntax.Origin(p, file).(type) {
		case *ast.Ident, *ast.SelectorExpr:
			file = from
		}
		v, part := syntax.Var(p, file)
		field = field || part
		switch {
		case v == nil || element(file):
			return false
		case v.Parent() == p.Pkg.Scope():
			return true
		case !syntax.Param(p, v) && !receives(p, v):
			return declaredOutside(p, v, use)
		}
		at++
		above, call := caller(c, stack, at)
		if call == nil {
			return field
		}
		if file = flow.ArgumentFor(p, call, v); file == nil {
			return field
		}
		p = above
	}
	return field
}

// caller returns the function and the call at a frame of a stack, if it is known.
func caller(c *finder.Case, stack []*site.Frame, at int) (*gocode.Place, *ast.CallExpr) {
	if at >= len(stack) {
		return nil, nil
	}
	place, ok := c.Pass.Syntax.At(stack[at].File, stack[at].Line)
	if !ok {
		return nil, nil
	}
	return place.Outer(), loops.CallTo(place, stack[at-1].Function)
}

// receives reports whether a variable is the receiver of the function around a place.
func receives(p *gocode.Place, v *types.Var) bool {
	return p.Decl != nil && p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos())
}

// element reports whether an expression is an element of a list or a map: each may be another file.
func element(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, index := n.(*ast.IndexExpr)
		found = found || index
		return !found
	})
	return found
}

// declaredOutside reports whether a local variable is declared before the loop around its use, or
// outside of the function literal that uses it.
func declaredOutside(p *gocode.Place, v *types.Var, use ast.Node) bool {
	for _, n := range p.Enclosing(use) {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			if !syntax.Inside(n, v.Pos()) {
				return true
			}
		}
	}
	return false
}
