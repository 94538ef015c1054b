package busyspin

import (
	"fmt"
	"go/ast"
	"math"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// vain is the minimum number of counted iterations of a loop that only try, per iteration that
	// does something.
	vain = 100
	// leastVain is the minimum number of iterations for each unit of work of a loop in which none
	// did anything while executions were counted.
	leastVain = 1
	// hot is the minimum share of a loop's iterations in which a line runs that belongs to trying.
	hot = 0.5
	// yielder is the function of the runtime that schedules other goroutines on behalf of
	// runtime.Gosched; it runs on the stack of the scheduler, so its callers are unknown.
	yielder = "runtime.gosched_m"
	// mostYields is the minimum share of the counted calls of Gosched that a loop must have to be
	// charged with their cost.
	mostYields = 0.9
)

// search finds loops that poll, by counted executions, and caches what it found.
type search struct {
	pass  *rule.Pass
	known map[*ast.ForStmt]*polling // nil for loops that do not poll
	lines map[gocode.Pos]*polling
}

// polling is a loop that tries again and again.
type polling struct {
	place      *gocode.Place
	loop       *ast.ForStmt
	attempt    ast.Node // the first one
	kind       attempt
	through    string // the function of the package that has the attempt; "" when it is in the loop
	callees    []*ast.FuncDecl
	outside    []string // methods of other packages that try
	blocking   string   // the method beside them that blocks; "" if there is none
	iterations float64  // for each unit of work
	done       float64  // iterations that did something
	yields     float64  // share of the package's calls of Gosched
	all        bool     // everything below the loop belongs to trying
	empty      ast.Node // a loop inside whose body did not run
}

// attempt is how a loop tries.
type attempt int

const (
	none    attempt = iota
	lock            // CompareAndSwap, TryLock, TryAcquire
	channel         // a select with a default, the length of a channel
	state           // an atomic load, a value that a mutex guards
	failing         // a call that returns an error
	waiting         // a context, the time, a list without elements
)

// line returns the frame of a row, nearest to the leaf, whose line belongs to trying in a loop that
// polls; -1 for none.
func (s *search) line(r *site.Row) int {
	for i, f := range r.Stack {
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		pos := gocode.Pos{File: f.File, Line: f.Line}
		l, ok := s.lines[pos]
		if !ok {
			l = s.look(f)
			s.lines[pos] = l
		}
		if l != nil && s.tries(r.Stack[:i], l) {
			return i
		}
	}
	return -1
}

// tries reports whether frames below a line of a loop belong to trying: they are of the runtime, or
// of the functions that try.
func (s *search) tries(below []*site.Frame, l *polling) bool {
	if l.all {
		return true
	}
	for _, f := range slices.Backward(below) {
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if slices.ContainsFunc(l.outside, func(method string) bool { return strings.HasSuffix(f.Function, "."+method) }) {
			return true
		}
		p := s.pass.Place(&site.Site{Frame: *f})
		if p == nil || !slices.Contains(l.callees, p.Decl) {
			return false
		}
	}
	return true
}

// look returns the polling loop around a line, if the line runs in most iterations; nil for none.
func (s *search) look(f *site.Frame) *polling {
	p := s.pass.Place(&site.Site{Frame: *f})
	if p == nil || p.Func == nil {
		return nil
	}
	var found *polling
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		if !ok || loop.Post != nil || syntax.Line(p, loop.Pos()) > p.Line || syntax.Line(p, loop.End()) < p.Line {
			return true
		}
		l, seen := s.known[loop]
		if !seen {
			l = s.judge(p, loop)
			s.known[loop] = l
		}
		if l != nil && s.runs(p, loop, p.Line) >= hot*l.iterations {
			found = l
		}
		return true
	})
	return found
}

// runs returns how often a line of the file that contains a node ran per unit of work; 0 if that is
// unknown.
func (s *search) runs(p *gocode.Place, n ast.Node, line int) float64 {
	e, _ := s.pass.Counts.Line(p.Pkg.Path(), p.Fset.Position(n.Pos()).Filename, line)
	return e.PerUnit
}

// judge returns what a loop is if nearly all of its iterations only try; nil otherwise.
func (s *search) judge(p *gocode.Place, loop *ast.ForStmt) *polling {
	l := &polling{place: p, loop: loop}
	counted, ok := s.pass.Counts.Loop(p.Pkg.Path(), p.Fset.Position(loop.Pos()).Filename, syntax.Line(p, loop.Pos()))
	if ok {
		l.done = counted.Entries
	}
	from, to := syntax.Line(p, loop.Pos()), syntax.Line(p, loop.End())
	for line := from; line <= to; line++ {
		l.iterations = max(l.iterations, s.runs(p, loop, line))
	}
	for line := from + 1; line < to; line++ {
		if n := s.runs(p, loop, line); n < hot*l.iterations {
			l.done = max(l.done, n)
		}
	}
	endless := l.done <= 0 // it started before the executions were counted
	if endless && l.iterations < leastVain || l.iterations < vain*l.done {
		return nil
	}
	t := trying{search: s, p: p, of: l}
	t.node(loop.Cond)
	t.node(loop.Body)
	if t.works || l.kind == none || l.kind == waiting && t.moves || !l.all && l.iterations < vain*l.done {
		return nil
	}
	if all := s.yields(p); t.yields > 0 && all > 0 {
		l.yields = t.yields / all
	}
	return l
}

// yields returns how often the package's calls of Gosched ran for each unit of work.
func (s *search) yields(p *gocode.Place) (n float64) {
	for _, f := range p.Files() {
		ast.Inspect(f, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && p.CalleeName(call) == gosched {
				n += s.runs(p, call, syntax.Line(p, call.Pos()))
			}
			return true
		})
	}
	return n
}

// describe judges a line of a polling loop and fills in the words.
func (s *search) describe(c *finder.Case) bool {
	l := s.lines[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if l == nil {
		return false
	}
	if l.yields >= mostYields {
		c.Pass.EachRow(func(r *site.Row) {
			if r.Owner < 0 && r.Below(yielder) {
				c.CPU = append(c.CPU, r)
			}
		})
		l.yields = 0 // charged once, to the first line
	}
	spent, _ := stacks.Sum(c.CPU)
	total := c.Pass.Table.Totals.TotalSeconds
	if float64(spent)/1e9 < leastShare*total {
		return false
	}
	c.Allocs = nil
	p := l.place
	at := syntax.Line(p, l.loop.Pos())
	tries := syntax.Short(l.text())
	c.Confidence = rule.Measured
	if l.empty != nil || l.kind == waiting {
		l.describeIdle(c)
		l.evidence(c, spent)
		return true
	}
	c.Cause = fmt.Sprintf("The loop on line %d of %s polls: of %s iterations%s, %s did something. The others only try (%s) and repeat: the goroutine never blocks, and uses a processor while there is nothing to do.",
		at, syntax.FuncName(p), units.Count(int64(math.Round(l.iterations))), per(c.Pass), share(l.done/l.iterations), tries)
	if l.kind == failing || l.all {
		c.Cause = fmt.Sprintf("The loop on line %d of %s tries again at once when %s fails: of %s iterations%s, %s did something else. There is no pause between two attempts, and a processor is busy as long as they fail.",
			at, syntax.FuncName(p), tries, units.Count(int64(math.Round(l.iterations))), per(c.Pass), share(l.done/l.iterations))
	}
	c.Fix, c.Fraction = l.fix()
	l.evidence(c, spent)
	return true
}

// evidence adds what the loop costs and how many iterations only try.
func (l *polling) evidence(c *finder.Case, spent int64) {
	total := c.Pass.Table.Totals.TotalSeconds
	c.Evidence = append(c.Evidence,
		rule.Evidence{What: "CPU of trying", Value: units.Percent(float64(spent) / 1e9 / total), Command: evidence.ListCommand(c.Pass, "cpu", c.Site.Function)},
		rule.Evidence{What: evidence.ExecutionsCounted, Value: l.tries()})
}

// tries says how many iterations only try.
func (l *polling) tries() string {
	if l.done <= 0 {
		return "no iteration did something"
	}
	return units.Count(int64(l.iterations/l.done)) + " iterations for each one that did something"
}

// per names the unit of work of counts: " per request".
func per(p *rule.Pass) string { return " per " + p.Manifest.Unit() }

func share(part float64) string {
	if part < 0.0001 {
		return "less than 0.01 %"
	}
	return units.Percent(part)
}

// text is the attempt as the source has it.
func (l *polling) text() string {
	if l.through != "" {
		return l.through
	}
	switch n := l.attempt.(type) {
	case *ast.SelectStmt:
		return "select with a default"
	case ast.Expr:
		return syntax.Text(n)
	}
	return "the attempt"
}

// fix returns what to do instead, and what that saves of the cost of trying.
func (l *polling) fix() (string, *rule.Fraction) {
	switch l.kind {
	case channel:
		return "Block until there is something: receive without a default, in a select with the channel that ends the loop if there is one, or with range over a channel that is closed at the end.",
			&rule.Fraction{Expect: 1, Low: 0.9, High: 1}
	case lock:
		if l.blocking != "" {
			return fmt.Sprintf("Call %s instead: the goroutine then sleeps until it succeeds.", l.blocking),
				&rule.Fraction{Expect: 0.9, Low: 0.6, High: 1}
		}
		// The lock that sleeps has to be unlocked and woken for as well.
		return "Use a sync.Mutex: its Lock spins only for a moment, then the goroutine sleeps until the holder unlocks.",
			&rule.Fraction{Expect: 0.9, Low: 0.6, High: 1}
	}
	if l.kind == failing || l.all {
		return "Pause between two attempts, longer each time up to a limit, with some randomness, and stop when the context ends. If another goroutine of the program decides when it succeeds, block until then: with a sync.Mutex, a channel or a sync.Cond.",
			&rule.Fraction{Expect: 0.95, Low: 0.8, High: 1}
	}
	return "Wait for the change: in sync.Cond.Wait, or for a value on a channel that the other side sends or closes when the state changes.",
		&rule.Fraction{Expect: 0.95, Low: 0.8, High: 1}
}
