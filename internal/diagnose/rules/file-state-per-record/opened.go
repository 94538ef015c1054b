package filestateperrecord

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostCreated is the largest share of the CPU of MkdirAll that creates directories, if nearly all
// calls find theirs.
const mostCreated = 0.1

// opening finds files that are opened to append to them.
func opening() finder.Line {
	return finder.Line{Start: finder.Calls{Functions: []string{"os.OpenFile"}}, Judge: judgeOpened}
}

// creating finds directories that are created although they exist.
func creating() finder.Line {
	return finder.Line{Start: finder.Calls{Functions: []string{"os.MkdirAll"}}, Judge: judgeCreated}
}

func judgeOpened(c *finder.Case) bool {
	call, p := c.Calls[0], c.Place
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || !loops.PerCall(p, call) || !often(c.Pass, e.PerUnit) || !appends(p, call) {
		return false
	}
	if !closed(p.Outer(), call) && !closedAbove(c, call) {
		return false
	}
	c.Confidence = rule.Likely // that the next record goes to the same file is not seen
	c.Fraction = &rule.Fraction{Expect: 0.95, Low: 0.6, High: 1}
	c.Cause = fmt.Sprintf("%s opens %s to append a record, and closes it again: %s per %s. The system looks up the path, allocates the open file and frees it, for one write each.",
		syntax.FuncName(p), syntax.Text(call.Args[0]), evidence.Times(e.PerUnit), c.Pass.Manifest.Unit())
	c.Fix = "Keep the file open in a field (in a map by path, if there are several), and write to it, through a bufio.Writer if a crash may lose the last records. " +
		"Open it again after a rotation: when a signal or the program's own timer says so."
	return true
}

// appends reports whether a call of os.OpenFile opens a file for writing at its end.
func appends(p *gocode.Place, call *ast.CallExpr) bool {
	flags, ok := syntax.ConstInt(p, call.Args[1])
	return ok && flags&int64(os.O_APPEND) != 0
}

// closed reports whether a function closes the file that a call in it opens, after it wrote to it
// once: a loop would write many records, and Sync waits for the disk anyway.
func closed(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.Result(p, call)
	return v != nil && !v.IsField() && syntax.Local(p, v) && closes(p, v, call)
}

func closes(p *gocode.Place, v *types.Var, opened ast.Node) bool {
	if loopAfter(p, opened) {
		return false
	}
	found := false
	for _, use := range syntax.Reads(p, v) {
		switch parent := syntax.Parent(p, use).(type) {
		case *ast.SelectorExpr:
			found = found || parent.Sel.Name == "Close"
			if parent.Sel.Name == "Sync" {
				return false
			}
		case *ast.CallExpr:
			// A function of the program may write any number of records.
			if fn := p.Callee(parent); fn == nil || fn.Pkg() == nil || strings.Contains(fn.Pkg().Path(), ".") || fn.Pkg() == p.Pkg {
				return false
			}
		case *ast.ReturnStmt:
			return false
		}
	}
	return found
}

// loopAfter reports whether a function has a loop after the call that opens a file.
func loopAfter(p *gocode.Place, opened ast.Node) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = found || n.Pos() > opened.Pos()
		}
		return !found
	})
	return found
}

// closedAbove reports whether a function returns the file that it opens, and its caller closes it.
func closedAbove(c *finder.Case, call *ast.CallExpr) bool {
	if len(c.CPU) == 0 || c.CPU[0].Owner < 0 {
		return false
	}
	if _, returned := syntax.Parent(c.Place.Outer(), call).(*ast.ReturnStmt); !returned {
		return false
	}
	above, from := caller(c, c.CPU[0].Stack, c.CPU[0].Owner+1)
	return from != nil && closed(above, from)
}

func judgeCreated(c *finder.Case) bool {
	call, p := c.Calls[0], c.Place
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || !loops.PerCall(p, call) || !often(c.Pass, e.PerUnit) || len(c.CPU) == 0 {
		return false
	}
	all, _ := stacks.Sum(c.CPU)
	created, _ := stacks.Sum(stacks.Select(c.CPU, func(r *site.Row) bool { return stacks.Depth(r, makers) < r.Owner }))
	if float64(created) > mostCreated*float64(all) {
		return false
	}
	c.Confidence = rule.Likely // by what the calls cost
	c.Fraction = &rule.Fraction{Expect: 0.95, Low: 0.7, High: 1}
	c.Cause = fmt.Sprintf("%s calls os.MkdirAll(%s) each time, %s per %s, though the directory is there nearly always: MkdirAll only asks the system for its state.",
		syntax.FuncName(p), syntax.Text(call.Args[0]), evidence.Times(e.PerUnit), c.Pass.Manifest.Unit())
	c.Fix = "Open or write the file first, and create the directory only if that fails with fs.ErrNotExist; then try again. Or create it when the program starts, and keep a set of those that were created."
	return true
}

// makers are the functions that create a directory below os.MkdirAll.
var makers = []string{"os.Mkdir", "syscall.Mkdir", "syscall.Mkdirat", "syscall.CreateDirectory"}
