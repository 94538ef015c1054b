package rule

import (
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Search is the most common form of a rule: it begins at lines that call one of
// some functions and lets the syntax decide.
type Search struct {
	// Callees are the functions as profiles name them, see [Named].
	Callees []string
	// Types are the same functions as the type checker names them; nil: what
	// [TypeName] makes of Callees. Calls through an interface have other names.
	Types []string
	// Keep narrows the rows further; nil keeps all rows of the calls.
	Keep func(*site.Row) bool
	// Made adds what the line allocates without a call (see [TakeMade]).
	Made bool
	// Judge decides and fills in cause and fix; what it leaves at zero becomes
	// [Measured], and the rule's own fraction.
	Judge func(*Case) bool
	// Unseen fills in cause and fix when there is no source; nil: the calls alone are
	// no mistake and nothing is said.
	Unseen func(*Match)
}

// Case is one line before the judge.
type Case struct {
	*Match
	Pass  *Pass
	Place *gocode.Place
	Calls []*ast.CallExpr // of the searched functions on the line, outermost first; at least one
}

// All tells whether a question is true of every call.
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

// Find looks through all sites.
func (s Search) Find(p *Pass) []Match {
	names := s.Types
	if names == nil {
		for _, callee := range s.Callees {
			names = append(names, TypeName(callee))
		}
	}
	var matches []Match
	for _, at := range p.Table.Sites {
		m := s.take(at)
		if m.Empty() {
			continue
		}
		place := p.Place(at)
		if place == nil {
			if s.Unseen != nil {
				m.Confidence = Hint
				s.Unseen(&m)
				matches = append(matches, m)
			}
			continue
		}
		c := &Case{Match: &m, Pass: p, Place: place, Calls: CallsOf(place, names...)}
		if len(c.Calls) == 0 || !s.Judge(c) || m.Empty() {
			continue
		}
		if m.Confidence == "" {
			m.Confidence = p.Weigh(at, false)
		}
		matches = append(matches, m)
	}
	return matches
}

// take returns the rows of a site that the search is about.
func (s Search) take(at *site.Site) Match {
	var m Match
	if s.Made {
		m = TakeMade(at, s.Callees...)
	} else {
		m = TakeCalls(at, s.Callees...)
	}
	if s.Keep != nil {
		for _, rows := range []*[]*site.Row{&m.CPU, &m.Allocs, &m.Mutex, &m.Block, &m.Live} {
			*rows = Rows(*rows, s.Keep)
		}
	}
	return m
}

// TypeName turns the name of a function in a profile into the type checker's:
// "strings.(*Replacer).Replace" into "(*strings.Replacer).Replace", "time.Time.Format"
// into "(time.Time).Format", "slices.Index[...]" into "slices.Index".
func TypeName(profile string) string {
	name, generic, _ := strings.Cut(profile, "[")
	if generic != "" && strings.Contains(generic, "].") {
		_, method, _ := strings.Cut(generic, "].")
		name += "." + method // a generic type's method
	}
	dir := name[:strings.LastIndexByte(name, '/')+1]
	parts := strings.Split(name[len(dir):], ".")
	if len(parts) != 3 {
		return name
	}
	pkg := dir + strings.ReplaceAll(parts[0], "%2e", ".")
	if receiver, ok := strings.CutPrefix(parts[1], "(*"); ok {
		return "(*" + pkg + "." + strings.TrimSuffix(receiver, ")") + ")." + parts[2]
	}
	return "(" + pkg + "." + parts[1] + ")." + parts[2]
}
