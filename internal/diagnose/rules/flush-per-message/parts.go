package flushpermessage

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// sequence is a function that has the parts of a message written one after the other.
type sequence struct {
	place *gocode.Place
	calls []*ast.CallExpr // in the order of the source, two at least
	runs  float64         // of all calls, for each execution of the first; 0 when not counted
}

// inSequence judges a function that writes a piece and flushes, and that a caller calls several
// times in a row for the parts of one message.
func inSequence(c *finder.Case) bool {
	call := c.Calls[0]
	if len(c.Calls) > 1 || len(loops.Around(c.Place, call)) > 0 || !every(c.Place, c.Place.Func, call) || answered(c.Place, call) {
		return false
	}
	var found *sequence
	c.Keep(func(r *site.Row) bool {
		at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return *f == c.Site.Frame })
		s := above(c.Pass, r.Stack, at)
		if s != nil {
			found = s
		}
		return s != nil
	})
	if c.Empty() {
		return false
	}
	parts := max(2, found.runs)
	c.Confidence = rule.Likely // the other side may wait for each part
	c.Fraction = &rule.Fraction{Expect: 0.95 * (1 - 1/parts), Low: 0.5 * (1 - 1/parts), High: 1 - 1/parts}
	by := syntax.FuncName(found.place)
	c.Cause = fmt.Sprintf("%s calls %s after each piece, and %s has it write the parts of one message one after the other (lines %s): a system call for each part, and on a connection perhaps a packet.",
		syntax.FuncName(c.Place), syntax.Text(call), by, found.lines())
	c.Fix = fmt.Sprintf("Leave the flush to the caller: let %s write all parts into the buffer, and call %s once after the last one.", by, syntax.Text(call))
	return true
}

func (s *sequence) lines() string {
	var lines []string
	for _, call := range s.calls {
		lines = append(lines, strconv.Itoa(syntax.Line(s.place, call.Pos())))
	}
	last := len(lines) - 1
	return strings.Join(lines[:last], ", ") + " and " + lines[last]
}

// above returns the function nearest to frame i of a stack that calls the frame's function several
// times in a row, itself or through others: levels callers at most, none of which waits for an
// answer after the call. It is nil if there is none.
func above(p *rule.Pass, stack []*site.Frame, i int) *sequence {
	if p.Syntax == nil || i < 0 {
		return nil
	}
	for j := i + 1; j < len(stack) && j <= i+levels; j++ {
		f := stack[j]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			return nil
		}
		place, ok := p.Syntax.At(f.File, f.Line)
		if !ok {
			return nil
		}
		call := loops.CallTo(place, stack[j-1].Function)
		if call == nil || place.Callee(call) == nil {
			return nil
		}
		if s := inRow(p, place, call); s != nil {
			return s
		}
		if answered(place, call) {
			return nil
		}
	}
	return nil
}

// inRow returns the calls of a function that follow each other with one of them, in the same
// execution and without a wait between them; nil if that is the only one.
func inRow(p *rule.Pass, place *gocode.Place, of *ast.CallExpr) *sequence {
	s := &sequence{place: place}
	to := syntax.Receiver(of)
	ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if ok && place.Callee(call) == place.Callee(of) && (to == nil || syntax.Same(place, to, syntax.Receiver(call))) {
			s.calls = append(s.calls, call)
		}
		return true
	})
	s.calls = slices.DeleteFunc(s.calls, func(call *ast.CallExpr) bool {
		return call != of && (syntax.Exclusive(place, of, call) || loops.WaitsBetween(place, of, call))
	})
	if len(s.calls) < 2 {
		return nil
	}
	first, ok := evidence.ReachedAt(p, place, s.calls[0].Pos())
	if !ok || first <= 0 {
		return s
	}
	for _, call := range s.calls {
		n, _ := evidence.ReachedAt(p, place, call.Pos())
		s.runs += n / first
	}
	if s.runs < leastParts {
		return nil
	}
	return s
}

// leastParts is the minimum mean number of calls in a row, where they are counted.
const leastParts = 1.5
