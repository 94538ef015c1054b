package smallwrites

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// judgePart judges a line that writes a part of a message to a file or connection, before the same
// function writes the next part.
func judgePart(c *finder.Case) bool {
	call := c.Calls[0]
	w := writer(c.Place, call)
	if len(c.Calls) > 1 || w == nil || synced(c.Place) || standard(c.Place, w) || !rawWrite(c.Place, call) {
		return false
	}
	next := nextPart(c, call, w)
	if next == nil {
		return false
	}
	c.Callees = outlets
	c.Confidence = rule.Likely // the pieces may be large
	c.Fraction = &rule.Fraction{Expect: 0.8, Low: 0.3, High: 1}
	each := "a system call for each of them"
	c.Fix = "Put both into one slice and write that once, or write them with net.Buffers, which passes several slices in one system call. Or write both into a bufio.Writer, and call Flush after the last one."
	if connected(c) {
		each += ", and perhaps a packet"
	}
	c.Cause = fmt.Sprintf("%s writes one part of a message to %s here and the next on line %d: %s.",
		syntax.FuncName(c.Place), syntax.Text(w), syntax.Line(c.Place, next.Pos()), each)
	return true
}

// rawWrite reports whether a call passes a slice of bytes to the writer's own method.
func rawWrite(p *gocode.Place, call *ast.CallExpr) bool {
	return funcname.Match(p.CalleeName(call), "(io.Writer).Write", "(*os.File).Write", "(net.Conn).Write", "(*net.conn).Write", "(*crypto/tls.Conn).Write")
}

// standard reports whether a writer is standard output or standard error.
func standard(p *gocode.Place, w ast.Expr) bool {
	v := syntax.Named(p, w)
	return v != nil && v.Pkg() != nil && v.Pkg().Path() == "os"
}

// nextPart returns the call that writes to the same writer after a call, in the same execution of
// the function and about as often, without a wait between them; nil for none.
func nextPart(c *finder.Case, call *ast.CallExpr, w ast.Expr) *ast.CallExpr {
	p := c.Place
	var next *ast.CallExpr
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok || next != nil {
			return false
		}
		other, ok := n.(*ast.CallExpr)
		if !ok || other.Pos() < call.End() || !rawWrite(p, other) || !syntax.Same(p, w, writer(p, other)) {
			return true
		}
		if !syntax.Exclusive(p, call, other) && !loops.WaitsBetween(p, call, other) && asOften(c, call, other) && sameLoops(p, call, other) {
			next = other
		}
		return true
	})
	return next
}

// sameLoops reports whether two nodes are in the same loops.
func sameLoops(p *gocode.Place, a, b ast.Node) bool {
	return slices.Equal(loops.Around(p, a), loops.Around(p, b))
}

// leastOften is the minimum share of the executions of a write after which the next part follows.
const leastOften = 0.5

func asOften(c *finder.Case, a, b *ast.CallExpr) bool {
	first, ok := evidence.ReachedAt(c.Pass, c.Place, a.Pos())
	second, known := evidence.ReachedAt(c.Pass, c.Place, b.Pos())
	if !ok || !known {
		return together(c.Place, a, b)
	}
	return second >= leastOften*first
}

// together reports whether one node of a function follows another without a condition that is
// about it alone.
func together(p *gocode.Place, a, b ast.Node) bool {
	child := b
	for _, n := range p.Enclosing(b) {
		if syntax.Within(n, a) {
			return true
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			if child == n.Body || child == n.Else {
				return false
			}
		case *ast.CaseClause:
			return false
		}
		child = n
	}
	return true
}
