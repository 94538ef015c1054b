package quadraticinsert

import (
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastRuns is how often a line must run for each unit of work to count as the body of a
	// caller's loop.
	leastRuns = 100
	// leastMove is the minimum time of a move, in seconds, to be one of more than a few elements:
	// about 2 KB.
	leastMove = 200e-9
	// mostlyMoves is the minimum part of the line's CPU that must go into moves.
	mostlyMoves = 0.6
	// leastCPU is the line's least share of all CPU where the time of one move is not known.
	leastCPU = 0.05
)

// shifts judges a line outside of loops that closes or opens a gap in a slice, and that ran many
// times for each unit of work according to the counts: the loop is in a caller.
func shifts(c *finder.Case) bool {
	p, s, place := c.Pass, c.Site, c.Place
	e, ok := evidence.Executions(p, s.Frame)
	if !ok || e.PerUnit < leastRuns {
		return false
	}
	call, xs := shift(place)
	if call == nil || len(loops.Around(place, call)) > 0 {
		return false
	}
	c.CPU = stacks.Select(c.CPU, moves)
	moving, _ := stacks.Sum(c.CPU)
	if all, _ := stacks.Sum(s.CPU); moving == 0 || float64(moving) < mostlyMoves*float64(all) {
		return false
	}
	seconds := s.Cost.CPUSeconds
	each, known := evidence.PerExecution(p, s.Frame, seconds)
	if known && each < leastMove || !known && seconds < leastCPU*p.Table.Totals.TotalSeconds {
		return false
	}
	c.Allocs, c.Live = nil, nil // of the slice itself
	c.Cause = fmt.Sprintf("%s moves all elements of %s after one position, and runs %s times per %s", syntax.Text(call), xs, units.Number(e.PerUnit), p.Manifest.Unit())
	if known {
		c.Cause += fmt.Sprintf(", %s each", units.Seconds(each))
	}
	c.Cause += fmt.Sprintf(": n calls on n elements move n²/2. The loop is in a caller of %s.", syntax.FuncName(place))
	c.Fix = "Remove all elements in one pass: copy those that stay to a second index, or mark the others and remove them with one slices.DeleteFunc; to take from the front, advance the start of the slice."
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: evidence.Runs(p, s.Frame, s.Cost)})
	return true
}

// shift returns the call on the line that moves a part of a slice within that slice, and the text
// of the slice.
func shift(p *gocode.Place) (call *ast.CallExpr, xs string) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if call != nil || !ok || syntax.Line(p, c.Lparen) != p.Line {
			return call == nil
		}
		switch p.CalleeName(c) {
		case "copy":
			if same(p, c.Args[0], c.Args[1]) {
				call, xs = c, syntax.Text(root(c.Args[0]))
			}
		case "append":
			if len(c.Args) == 2 && c.Ellipsis != token.NoPos && cut(c.Args[0]) && cut(c.Args[1]) && same(p, c.Args[0], c.Args[1]) {
				call, xs = c, syntax.Text(root(c.Args[0]))
			}
		case "slices.Delete", "slices.Insert":
			call, xs = c, syntax.Text(c.Args[0])
		}
		return call == nil
	})
	return call, xs
}

func cut(e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.SliceExpr)
	return ok
}

// root returns the operand of nested slice expressions: xs of xs[i:][j:].
func root(e ast.Expr) ast.Expr {
	for {
		s, ok := ast.Unparen(e).(*ast.SliceExpr)
		if !ok {
			return e
		}
		e = s.X
	}
}

// same reports whether two expressions are of the same slice and at least one is a part of it.
func same(p *gocode.Place, a, b ast.Expr) bool {
	return (cut(a) || cut(b)) && syntax.Same(p, root(a), root(b))
}
