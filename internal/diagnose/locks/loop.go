package locks

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// manyIterations of a loop under the lock are too many to hold it for all of them.
const manyIterations = 1000

// Loop describes the loop of a section around a line, if it iterates often each time that the lock
// is held: a sentence with a space before it; "" for none.
func (s *Section) Loop(p *rule.Pass, at *site.Site, file string, line int) string {
	place, ok := p.Syntax.At(file, line)
	if !ok {
		return ""
	}
	loop, ok := loops.Outermost(place).(*ast.RangeStmt)
	if !ok || syntax.Line(place, loop.Pos()) < s.From || syntax.Line(place, loop.Pos()) > s.To {
		return ""
	}
	frame := at.Frame
	frame.File, frame.Line = file, line
	ran, ok := evidence.Executions(p, frame)
	if !ok || ran.PerCall < manyIterations {
		return ""
	}
	return fmt.Sprintf(" The lock is held for a whole loop over %s, %s iterations each time.", syntax.Text(loop.X), units.Count(int64(ran.PerCall+0.5)))
}

// InParts is the advice for a section that holds a lock for a whole loop.
func (s *Section) InParts() string {
	if m := s.sweeps(); m != nil {
		return fmt.Sprintf("Do not look at all of %s each time: drop what is old where it is looked up, and let a goroutine with a ticker remove what nobody asks for, a part at a time.", syntax.Text(m))
	}
	return fmt.Sprintf("Handle a part of the elements at a time, and unlock in between; or split what %s guards by key into shards, each with a lock of its own.", syntax.Text(s.Mutex))
}

// sweeps returns the map of which a loop in the section deletes some of all entries; nil for none.
func (s *Section) sweeps() (m ast.Expr) {
	own(s.place, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || m != nil || call.Pos() < s.start || call.Pos() >= s.end || s.place.CalleeName(call) != "delete" || len(call.Args) != 2 {
			return
		}
		for _, loop := range loops.Around(s.place, call) {
			if r, ok := loop.(*ast.RangeStmt); ok && syntax.Same(s.place, r.X, call.Args[0]) && r.Key != nil && syntax.Same(s.place, r.Key, call.Args[1]) {
				m = r.X
			}
		}
	})
	return m
}
