package finder

import (
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

// Start selects the lines that a [Line] judges. It is one of [Calls], [Rows], [Sites], [Frames] and
// [Callers].
type Start interface {
	// matches returns the lines with their rows: at least one row each.
	matches(p *rule.Pass) []*rule.Match
	// of reports whether the source has what the rows show, and adds it to the case.
	of(c *Case) bool
	// complete adds the evidence that every match of the start has.
	complete(p *rule.Pass, m *rule.Match)
}

// Calls starts from lines that call one of some functions. Code that runs once is left out (see
// [stacks.Steady]).
type Calls struct {
	// Functions are their names in profiles, see [funcname.Match].
	Functions []string
	// Types are the type checker's names of the same functions. nil: [funcname.Typed] derives them
	// from Functions. Calls through an interface have other names.
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
		m.Keep(stacks.Steady)
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

// Rows starts from rows of each site, such as what the line allocates or calls. It leaves out code
// that runs once (see [stacks.Steady]), lines that allocated only a few objects, and live memory,
// which is still in use.
type Rows func(*site.Site) rule.Match

func (take Rows) matches(p *rule.Pass) []*rule.Match {
	var matches []*rule.Match
	for _, s := range p.Table.Sites {
		if m := take(s); repeated(&m, func(r *site.Row) int { return r.Owner }) && !m.Empty() {
			matches = append(matches, &m)
		}
	}
	return matches
}

func (take Rows) of(*Case) bool { return true }

func (take Rows) complete(p *rule.Pass, m *rule.Match) {
	m.Evidence = append(m.Evidence, evidence.Compiler(p, m.Site)...)
}

// Sites starts from rows of each site, as they are: unlike [Rows], it also selects code that runs
// once, lines that allocated little, and live memory.
type Sites func(*site.Site) rule.Match

func (take Sites) matches(p *rule.Pass) []*rule.Match {
	var matches []*rule.Match
	for _, s := range p.Table.Sites {
		if m := take(s); !m.Empty() {
			matches = append(matches, &m)
		}
	}
	return matches
}

func (take Sites) of(*Case) bool { return true }

func (take Sites) complete(*rule.Pass, *rule.Match) {}

// Frames starts from the rows of all sites. It returns the index in a row's stack of the frame
// whose line the rule is about, -1 for none. It is for calls into other modules, whose rows are
// charged to lines of those modules. A line that owns no row becomes a site without rows. Frames
// leaves out what [Rows] leaves out.
type Frames func(*site.Row) int

func (at Frames) matches(p *rule.Pass) []*rule.Match {
	var matches []*rule.Match
	for _, m := range gather(p, at) {
		if repeated(m, at) && !m.Empty() {
			matches = append(matches, m)
		}
	}
	return matches
}

func (at Frames) of(*Case) bool { return true }

func (at Frames) complete(p *rule.Pass, m *rule.Match) {
	m.Evidence = append(m.Evidence, evidence.Compiler(p, m.Site)...)
}

// Callers starts from the lines of the main module or a dependency that call one of some functions,
// nearest the leaf, with the CPU rows of those calls (see [Through]).
type Callers struct {
	// Functions are their names in profiles, see [funcname.Match].
	Functions []string
	// Keep narrows the rows further; nil keeps all rows of the calls.
	Keep func(*site.Row) bool
}

func (s Callers) matches(p *rule.Pass) []*rule.Match {
	var matches []*rule.Match
	for _, m := range Through(p, s.Functions...) {
		if s.Keep != nil {
			m.Keep(s.Keep)
		}
		if !m.Empty() {
			matches = append(matches, &m)
		}
	}
	return matches
}

func (s Callers) of(*Case) bool { return true }

func (s Callers) complete(*rule.Pass, *rule.Match) {}
