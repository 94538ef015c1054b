package finder

import (
	"context"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Line finds lines whose rows and source show a mistake. It starts from rows of the
// profile and asks a judge about the source around each line.
type Line struct {
	Claim rule.Claim
	// Start selects lines and rows: Calls, Rows or Frames.
	Start Start
	// Judge decides, and fills in cause and fix. The confidence that it leaves empty becomes
	// [rule.Measured].
	Judge func(*Case) bool
	// Unseen are the words of a hint about a line without source. nil: the rows alone are no
	// mistake, and the rule says nothing.
	Unseen *Words
}

// Words are the cause and the fix of a match.
type Words struct{ Cause, Fix string }

// Case is one line before the judge.
type Case struct {
	*rule.Match
	Pass  *rule.Pass
	Place *gocode.Place
	// Calls are the calls of the functions of [Calls] on the line, outermost first: at least one. Other
	// starts leave them out.
	Calls []*ast.CallExpr
}

// All reports whether a question is true of every call.
func (c *Case) All(is func(*ast.CallExpr) bool) bool {
	for _, call := range c.Calls {
		if !is(call) {
			return false
		}
	}
	return true
}

// Name is the full name of the first call's function.
func (c *Case) Name() string { return c.Place.CalleeName(c.Calls[0]) }

// Claims says how the matches are priced.
func (l Line) Claims() rule.Claim { return l.Claim }

// Find judges every line that the start selects. Code that runs once is left out (see [stacks.Steady]).
func (l Line) Find(_ context.Context, p *rule.Pass) ([]rule.Match, error) { return l.find(p), nil }

func (l Line) find(p *rule.Pass) []rule.Match {
	var matches []rule.Match
	for _, m := range l.Start.matches(p) {
		if l.decide(p, m) {
			matches = append(matches, *m)
		}
	}
	return matches
}

// decide reports whether a match stands, and completes it.
func (l Line) decide(p *rule.Pass, m *rule.Match) bool {
	m.Keep(stacks.Steady)
	if m.Empty() {
		return false
	}
	if place := p.Place(m.Site); place != nil {
		c := &Case{Match: m, Pass: p, Place: place}
		if !l.Start.of(c) || !l.Judge(c) || m.Empty() {
			return false
		}
		if m.Confidence == "" {
			m.Confidence = evidence.Weigh(p, m.Site, false)
		}
	} else if l.Unseen != nil {
		m.Cause, m.Fix, m.Confidence = l.Unseen.Cause, l.Unseen.Fix, rule.Hint
	} else {
		return false
	}
	l.Start.complete(p, m)
	return true
}

// Prepared is a [Line] whose start and judge share what they find out about a recording.
type Prepared struct {
	Claim rule.Claim
	// Prepare returns the line to look for in a recording; false when the recording cannot show it. The
	// claim of that line is not used.
	Prepare func(ctx context.Context, p *rule.Pass) (Line, bool)
}

// Claims says how the matches are priced.
func (l Prepared) Claims() rule.Claim { return l.Claim }

// Find prepares the line and finds it.
func (l Prepared) Find(ctx context.Context, p *rule.Pass) ([]rule.Match, error) {
	line, ok := l.Prepare(ctx, p)
	if !ok {
		return nil, nil
	}
	return line.find(p), ctx.Err()
}

// Lines finds lines in a loop of its own. It is for rules whose lines no [Start] selects.
type Lines struct {
	Claim rule.Claim
	Loop  func(ctx context.Context, p *rule.Pass) ([]rule.Match, error)
}

// Claims says how the matches are priced.
func (l Lines) Claims() rule.Claim { return l.Claim }

// Find runs the loop.
func (l Lines) Find(ctx context.Context, p *rule.Pass) ([]rule.Match, error) { return l.Loop(ctx, p) }

// Start selects what a [Line] looks at. It is one of [Calls], [Rows] and [Frames].
type Start interface {
	// matches returns the lines with their rows.
	matches(p *rule.Pass) []*rule.Match
	// of reports whether the source has what the rows promise, and adds that to the case.
	of(c *Case) bool
	// complete adds the evidence that every match of the start has.
	complete(p *rule.Pass, m *rule.Match)
}

// Calls starts from lines that call one of some functions.
type Calls struct {
	// Functions are their names as profiles have them, see [funcname.Match].
	Functions []string
	// Types are the same functions as the type checker names them. nil: what
	// [funcname.Typed] makes of Functions. Calls through an interface have other names.
	Types []string
	// Keep narrows the rows further; nil keeps all rows of the calls.
	Keep func(*site.Row) bool
	// Own adds what the line allocates without a call (see [TakeCallsAndOwn]).
	Own bool
}

func (s Calls) matches(p *rule.Pass) []*rule.Match {
	take := TakeCalls
	if s.Own {
		take = TakeCallsAndOwn
	}
	var matches []*rule.Match
	for _, at := range p.Table.Sites {
		m := take(at, s.Functions...)
		if s.Keep != nil {
			m.Keep(s.Keep)
		}
		if !m.Empty() {
			matches = append(matches, &m)
		}
	}
	return matches
}

func (s Calls) of(c *Case) bool {
	names := s.Types
	if names == nil {
		names = funcname.TypedAll(s.Functions)
	}
	c.Calls = syntax.CallsOf(c.Place, names...)
	return len(c.Calls) > 0
}

func (s Calls) complete(*rule.Pass, *rule.Match) {}

// Rows starts from the rows that it takes of each site: what the line allocates, what it
// calls, what waits for it. Lines that made only a few objects are left out, and so is live memory: it was
// kept, not made in vain.
type Rows func(*site.Site) rule.Match

func (take Rows) matches(p *rule.Pass) []*rule.Match {
	var matches []*rule.Match
	for _, s := range p.Table.Sites {
		if m := take(s); repeated(&m) {
			matches = append(matches, &m)
		}
	}
	return matches
}

func (take Rows) of(*Case) bool { return true }

func (take Rows) complete(p *rule.Pass, m *rule.Match) {
	m.Evidence = append(m.Evidence, evidence.Compiler(p, m.Site)...)
}

// Frames starts from the rows of all sites. It returns the index in a row's stack of the
// frame whose line the rule is about, -1 for none. It is for calls into other modules, whose rows are charged to lines
// of those modules. A line that owns no row becomes a site without rows.
type Frames func(*site.Row) int

func (at Frames) matches(p *rule.Pass) []*rule.Match {
	var matches []*rule.Match
	for _, m := range gather(p, at) {
		if repeated(m) {
			matches = append(matches, m)
		}
	}
	return matches
}

func (at Frames) of(*Case) bool { return true }

func (at Frames) complete(p *rule.Pass, m *rule.Match) {
	m.Evidence = append(m.Evidence, evidence.Compiler(p, m.Site)...)
}
