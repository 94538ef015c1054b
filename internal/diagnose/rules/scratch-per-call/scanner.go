package scratchpercall

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// leastBuffer is the minimum size of a scanner's buffer, in bytes: a Scanner without one starts
// with 4 KiB.
const leastBuffer = 16 << 10

// scanner returns the call that gives a buffer to a bufio.Scanner of the function, directly or
// through a variable with no other use; nil for none.
func scanner(p *gocode.Place, made ast.Expr) *ast.CallExpr {
	e := made
	if v := syntax.LocalVar(p, syntax.AssignedTo(p, made)); v != nil {
		reads := syntax.Reads(p, v)
		if len(reads) != 1 || len(syntax.Assigned(p, v)) != 1 {
			return nil
		}
		e = reads[0]
	}
	call, ok := syntax.Parent(p.Outer(), e).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "(*bufio.Scanner).Buffer" || ast.Unparen(call.Args[0]) != ast.Unparen(e) {
		return nil
	}
	if v := syntax.LocalVar(p, syntax.Receiver(call)); v == nil || syntax.Param(p, v) {
		return nil // for the text of another function
	}
	return call
}

func describeScanner(p *rule.Pass, c *finder.Case, call *ast.CallExpr) bool {
	bytes, objects := stacks.Sum(c.Allocs)
	if objects == 0 || bytes/objects < leastBuffer {
		return false
	}
	of := syntax.Text(syntax.Receiver(call))
	c.Cause = fmt.Sprintf("%s gets a new buffer of %s each time %s runs, %s of all bytes, in case that a line is long, and the buffer is dropped after one text.",
		of, units.Bytes(float64(bytes)/float64(objects)), syntax.FuncName(c.Place), units.Percent(float64(bytes)/float64(p.Table.Totals.AllocBytes)))
	c.Fix = fmt.Sprintf("Write %s.Buffer(nil, %s): the scanner starts with 4 KiB and grows only for lines that need more. If most lines are long, keep the buffers in a sync.Pool.", of, syntax.Text(call.Args[1]))
	c.Fraction = &rule.Fraction{Expect: 0.9, Low: 0.5, High: 1} // long lines still need larger buffers
	c.Confidence = rule.Likely
	return true
}
