package locks

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// leastBlocked is the minimum share of the trace in which goroutines wait below a section.
const leastBlocked = 0.03

// Blocked is a wait in the trace that a line of a section leads to.
type Blocked struct {
	Line    int // of the section
	Wait    *wall.Wait
	lengths float64 // of the trace, that goroutines wait there
	within  string  // the function that waits; "" for the one of the section
	given   string  // who passes what the line calls to the section's function; ""
	other   string  // of a wait for another lock: who holds that, a sentence; ""
}

// Blocked returns the longest wait of the trace below the lines of a section in a file; nil for
// none. Functions are below a line if a sample, an allocation or a wait in the profiles shows them
// there, or if the source leads from it to them. Waits for other locks count only if there are no
// others.
func (s *Section) Blocked(p *rule.Pass, file string) *Blocked {
	if !traced.Long(p) {
		return nil
	}
	if b := s.outsideLocks(p, file); b != nil {
		return b
	}
	return s.forLock(p, file)
}

// outsideLocks is Blocked without waits for locks.
func (s *Section) outsideLocks(p *rule.Pass, file string) *Blocked {
	below := s.below(p, file)
	_, whole := s.place.Func.(*ast.FuncDecl)
	deeper := s.reaches(p.Syntax)
	length := p.Trace.Parallelism.Length
	for i := range p.Trace.Blocking.Waits { // longest first
		w := &p.Trace.Blocking.Waits[i]
		if w.Seconds < leastBlocked*length {
			return nil
		}
		if w.Reason == "sync" || w.Line.OfProbe() || w.Object != "" || w.Count == w.Open {
			continue
		}
		lines := []exectrace.Line{w.Line}
		for _, c := range w.Callers {
			lines = append(lines, c.Line)
		}
		for _, l := range lines {
			if l.Standard() {
				continue
			}
			b := &Blocked{Wait: w, lengths: w.Seconds / length}
			switch {
			case l.File == file && l.Line > s.From && l.Line < s.To && !(whole && strings.Contains(l.Function, ".func")):
				b.Line = l.Line
			case below[traced.Generic(l.Function)] > 0:
				b.Line, b.within = below[traced.Generic(l.Function)], symbol.Short(funcname.Typed(l.Function))
			default:
				r := holding(p.Syntax, deeper, l)
				if r == nil {
					continue
				}
				b.Line, b.within, b.given = r.line, r.name(), r.given
			}
			return b
		}
	}
	return nil
}

// below returns the functions below the lines of a section, as profiles name them, with the line
// that leads to each.
func (s *Section) below(p *rule.Pass, file string) map[string]int {
	below := map[string]int{}
	_, whole := s.place.Func.(*ast.FuncDecl)
	visit := func(r *site.Row) {
		for at := len(r.Stack) - 1; at > 0; at-- {
			f := r.Stack[at]
			// A literal in the section, of a go statement, is not part of it.
			if f.File != file || f.Line <= s.From || f.Line >= s.To || whole && strings.Contains(f.Function, ".func") {
				continue
			}
			for _, g := range r.Stack[:at] {
				if g.Function != f.Function {
					below[traced.Generic(g.Function)] = f.Line
				}
			}
			return
		}
	}
	p.EachRow(visit)
	for _, other := range p.Table.Sites {
		for _, rows := range [][]*site.Row{other.Block, other.Allocs} {
			for _, r := range rows {
				visit(r)
			}
		}
	}
	for _, call := range s.Calls() {
		if decl := s.place.Declaration(s.place.Callee(call)); decl != nil && decl.Body != nil {
			below[traced.Generic(syntax.ProfileName(s.place.Entry(decl)))] = syntax.Line(s.place, call.Lparen)
		}
	}
	delete(below, traced.Generic(syntax.ProfileName(s.place)))
	return below
}

// Words describes the wait: "Line 12 waits meanwhile for the network, 200 ms each time".
func (b *Blocked) Words() string {
	in := ""
	if b.within != "" {
		in = " in " + b.within
	}
	if b.given != "" {
		in += ", below the function that it gets from " + b.given
	}
	return fmt.Sprintf("Line %d waits meanwhile %s%s, for %s of the time, %s on average", b.Line, b.what(), in,
		units.Percent(min(1, b.lengths)), units.Seconds(b.Wait.Seconds/float64(b.Wait.Count)))
}

// what says what the line waits for: "for the network".
func (b *Blocked) what() string {
	switch {
	case b.Wait.Object != "":
		return "for another lock"
	case b.Wait.Reason == "network":
		return "for the network"
	case strings.HasPrefix(b.Wait.Reason, "chan send"):
		return "for a receiver on a channel"
	case strings.HasPrefix(b.Wait.Reason, "chan receive"):
		return "for a sender on a channel"
	case b.Wait.Reason == "sleep":
		return "for time.Sleep"
	case strings.HasPrefix(b.Wait.Reason, "select"):
		return "in a select over channels"
	}
	return "in " + b.Wait.Reason
}

// Lasts describes how long the wait takes: "That takes 200 ms on average, and 30 % of the time".
func (b *Blocked) Lasts() string {
	return fmt.Sprintf("That takes %s on average, and %s of the time", units.Seconds(b.Wait.Seconds/float64(b.Wait.Count)), units.Percent(min(1, b.lengths)))
}

// Explains reports whether the wait is long enough to explain waits of others for a share of the
// trace.
func (b *Blocked) Explains(share float64) bool { return b.lengths >= half*share }

// half is the minimum part of the time with a waiter in which the holder must wait: it also works.
const half = 0.4
