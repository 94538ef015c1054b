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
	return fmt.Sprintf("Handle a part of the elements at a time, and unlock in between; or split what %s guards by key into shards, each with a lock of its own.", syntax.Text(s.Mutex))
}
