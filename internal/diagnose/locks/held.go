package locks

import (
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Held returns what a function does from a call that returns something scarce, such as rows with
// their connection, to an end: a section without a mutex. Calls of functions with the names in its
// own list are what it is held for.
func Held(p *gocode.Place, take *ast.CallExpr, end token.Pos, value ast.Expr, own ...string) *Section {
	s := Between(p, take.End(), end, value, own...)
	s.Lock, s.Unlock, s.From = take, take, syntax.Line(p, take.Pos())
	return s
}

// Between is [Held] for what no call takes, such as a value of a channel: from a position to an
// end.
func Between(p *gocode.Place, start, end token.Pos, value ast.Expr, own ...string) *Section {
	s := &Section{Mutex: value, place: p, start: start, end: end, own: own}
	s.From, s.To = syntax.Line(p, start), syntax.Line(p, end)
	return s
}

// Meanwhile says what a section waits for outside of the program, other than what it is held for,
// in a sentence with a space before it, and the line that waits; false if it waits for nothing, as
// far as the samples below it, the trace and its source show.
func (s *Section) Meanwhile(p *rule.Pass, file string) (line int, cause string, ok bool) {
	waits := s.seen(p, file)
	if len(waits) == 0 {
		if b := s.outsideLocks(p, file); b != nil && !s.uses(b.Line) {
			return b.Line, " " + b.Words() + ".", true
		}
		for _, w := range s.Waits(p) {
			if w.For != "" && !s.uses(w.Line) {
				waits = append(waits, w)
			}
		}
	}
	if len(waits) == 0 || s.uses(waits[0].Line) {
		return 0, "", false
	}
	return waits[0].Line, waits[0].words(), true
}

// uses reports whether a line calls what the section is held for.
func (s *Section) uses(line int) bool {
	for _, call := range s.Calls() {
		if syntax.Line(s.place, call.Lparen) == line && s.holder(s.place.CalleeName(call)) {
			return true
		}
	}
	return false
}
