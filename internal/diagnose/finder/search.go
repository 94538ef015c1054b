package finder

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Search is the most common form of a rule: it begins at lines that call one of
// some functions and lets the syntax decide.
type Search struct {
	// Callees are the functions as profiles name them, see [funcname.Match].
	Callees []string
	// Types are the same functions as the type checker names them; nil: what
	// [funcname.Typed] makes of Callees. Calls through an interface have other names.
	Types []string
	// Keep narrows the rows further; nil keeps all rows of the calls.
	Keep func(*site.Row) bool
	// Made adds what the line allocates without a call (see [TakeCallsAndOwn]).
	Made bool
	// Judge decides and fills in cause and fix; what it leaves at zero becomes
	// [rule.Measured], and the rule's own fraction.
	Judge func(*Case) bool
	// Unseen are the words of a hint when there is no source; nil: the calls alone are
	// no mistake and nothing is said.
	Unseen *Words
}

// Case is one line before the judge.
type Case struct {
	*rule.Match
	Pass  *rule.Pass
	Place *gocode.Place
	Calls []*ast.CallExpr // of the searched functions on the line, outermost first; at least one
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

// Find looks through all sites. What runs once (see [stacks.Steady]) is left out.
func (s Search) Find(p *rule.Pass) []rule.Match {
	names := s.Types
	if names == nil {
		names = funcname.TypedAll(s.Callees)
	}
	guilty := func(place *gocode.Place, m *rule.Match) bool {
		c := &Case{Match: m, Pass: p, Place: place, Calls: syntax.CallsOf(place, names...)}
		return len(c.Calls) > 0 && s.Judge(c)
	}
	var matches []rule.Match
	for _, at := range p.Table.Sites {
		if m := s.take(at); decide(p, &m, guilty, s.Unseen) {
			matches = append(matches, m)
		}
	}
	return matches
}

// take returns the rows of a site that the search is about.
func (s Search) take(at *site.Site) rule.Match {
	take := TakeCalls
	if s.Made {
		take = TakeCallsAndOwn
	}
	m := take(at, s.Callees...)
	if s.Keep != nil {
		m.Keep(s.Keep)
	}
	return m
}
