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
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastRuns is how often a line must run for each unit of work to be taken for the body of somebody's loop.
	leastRuns = 100
	// leastMove is the time of one move, in seconds, that is not of a few elements: about 2 KB.
	leastMove = 200e-9
	// mostlyMoves is the part of the line's CPU that must be moving.
	mostlyMoves = 0.6
	// leastCPU is the line's least share of all CPU where the time of one move is not known.
	leastCPU = 0.05
)

// shifts finds lines outside of loops that close or open a gap in a slice, which the counters saw run many times for
// each unit of work: the loop is in a caller.
func shifts(p *rule.Pass, s *site.Site, place *gocode.Place) (rule.Match, bool) {
	e, ok := evidence.Executions(p, s.Frame)
	if !ok || e.PerUnit < leastRuns {
		return rule.Match{}, false
	}
	call, xs := shift(place)
	if call == nil || len(loops.Around(place, call)) > 0 {
		return rule.Match{}, false
	}
	m := finder.Take(s, func(r *site.Row) bool { return stacks.Calls(r, movers...) }, movers...)
	moving, _ := stacks.Sum(m.CPU)
	if all, _ := stacks.Sum(s.CPU); moving == 0 || float64(moving) < mostlyMoves*float64(all) {
		return rule.Match{}, false
	}
	seconds := s.Cost.CPUSeconds
	each, known := evidence.PerExecution(p, s.Frame, seconds)
	if known && each < leastMove || !known && seconds < leastCPU*p.Table.Totals.TotalSeconds {
		return rule.Match{}, false
	}
	m.Allocs, m.Live = nil, nil // the slice has to be somewhere
	m.Cause = fmt.Sprintf("%s moves all of %s behind one place, and runs %s times per %s", syntax.Text(call), xs, units.Number(e.PerUnit), p.Manifest.Unit())
	if known {
		m.Cause += fmt.Sprintf(", %s each", units.Seconds(each))
	}
	m.Cause += fmt.Sprintf(": n calls on n elements move n²/2. The loop is in a caller of %s.", syntax.FuncName(place))
	m.Fix = "Take out what has to go in one pass: copy what stays to a second index as the loop goes, or mark it and let slices.DeleteFunc remove all marked at once; to take from the front, move the start."
	m.Confidence = rule.Likely
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: evidence.Runs(p, s.Frame, s.Cost)})
	return m, true
}

// shift returns the call on the line that moves a part of a slice within the same slice, and the slice as text.
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

// root is the slice of a slice expression.
func root(e ast.Expr) ast.Expr {
	for {
		s, ok := ast.Unparen(e).(*ast.SliceExpr)
		if !ok {
			return e
		}
		e = s.X
	}
}

// same reports whether two expressions are parts of one slice, at least one of them not the whole.
func same(p *gocode.Place, a, b ast.Expr) bool {
	return (cut(a) || cut(b)) && syntax.Same(p, root(a), root(b))
}
