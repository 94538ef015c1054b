package passperpattern

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastText is the minimum mean length of a text, in bytes, for reading it again to matter.
	leastText = 1024
	// leastReads is the minimum number of reads of one text that one read replaces.
	leastReads = 8
)

// reads remembers the lines that look a part of a text up in a loop.
type reads struct {
	pass *rule.Pass
	at   map[gocode.Pos]*walk
}

// frame returns the frame of a loop that calls a function of another module, which reads a text
// from its start, once for each part of the text; -1 for none.
func (s *reads) frame(r *site.Row) int {
	if s.pass.Inputs == nil || s.pass.Counts == nil {
		return -1
	}
	long := false
	for i := 1; i < len(r.Stack); i++ {
		f, callee := r.Stack[i], r.Stack[i-1]
		long = long || s.long(callee.Function)
		if f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency || callee.Owner.Kind != gocode.Dependency || callee.Owner.Module == f.Owner.Module {
			continue
		}
		if (long || s.long(f.Function)) && s.find(f, callee.Function) != nil {
			return i
		}
	}
	return -1
}

// long reports whether a function got long texts.
func (s *reads) long(function string) bool {
	f := s.pass.Inputs.Of(function)
	if f == nil {
		return false
	}
	v, ok := evidence.LongestText(f)
	return ok && v.Mean() >= leastText
}

func (s *reads) find(f *site.Frame, callee string) *walk {
	at := gocode.Pos{File: f.File, Line: f.Line}
	found, known := s.at[at]
	if !known {
		if place, ok := s.pass.Syntax.At(at.File, at.Line); ok {
			found = partAt(place, callee)
		}
		s.at[at] = found
	}
	return found
}

// partAt returns the call of a function on a line, in a loop, that gets the same text in each
// iteration, and a path or an index that differs; nil for none.
func partAt(p *gocode.Place, function string) *walk {
	call := loops.CallTo(p, function)
	if call == nil || len(call.Args) < 2 || p.TypeOf(call) == nil || !looksUp(p, call) {
		return nil
	}
	loop := loops.Repeating(p, call)
	if loop == nil {
		return nil
	}
	var text ast.Expr
	differs := false
	for _, e := range call.Args {
		switch {
		case !loops.Invariant(p, loop, e):
			differs = true
		case text == nil && syntax.StringOrBytes(p.TypeOf(e)) && syntax.LocalVar(p, e) != nil:
			text = e
		}
	}
	if text == nil || !differs {
		return nil
	}
	return &walk{p, call, loop, text}
}

// looksUp reports whether a function returns a part of what it gets, by its name. Others need all
// of a text for each call: they hash, sign or compare it.
func looksUp(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	return fn != nil && slices.ContainsFunc([]string{"get", "lookup", "extract", "query", "select", "value", "field", "path"}, func(verb string) bool {
		return strings.HasPrefix(strings.ToLower(fn.Name()), verb)
	})
}

func (s *reads) judge(c *finder.Case) bool {
	found := s.at[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if found == nil {
		return false
	}
	line := syntax.Line(found.place, found.loop.Pos())
	l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, line)
	if !ok || l.Entries <= 0 || l.Iterations < leastReads {
		return false
	}
	name, text := symbol.Short(found.place.CalleeName(found.call)), syntax.Text(found.tree)
	c.Cause = fmt.Sprintf("The loop on line %d calls %s for each of %s parts of %s, and each call reads %s again from its start: n parts of a text of n parts take n²/2 steps.",
		line, name, units.Number(l.Iterations), text, text)
	c.Fix = fmt.Sprintf("Go through %s once: take all parts with one call (a function for each element, or a call that takes several paths), or parse it once before the loop and look the parts up in the result.", text)
	c.Confidence = rule.Likely
	c.Fraction = &rule.Fraction{Expect: 1 - 3/l.Iterations, Low: 0.4, High: 1 - 1/l.Iterations}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s reads of the same text each time the loop is reached", units.Number(l.Iterations)),
	})
	return true
}
