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
	// Unseen are the words of a hint when there is no source; nil: the calls alone are
	// no mistake and nothing is said.
	Unseen *Words
}

// Case is one line before the judge.
type Case struct {
	*Match
	Pass  *Pass
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

// Find looks through all sites. What runs once (see [Steady]) is left out.
func (s Search) Find(p *Pass) []Match {
	names := s.Types
	if names == nil {
		names = typeNames(s.Callees)
	}
	guilty := func(place *gocode.Place, m *Match) bool {
		c := &Case{Match: m, Pass: p, Place: place, Calls: CallsOf(place, names...)}
		return len(c.Calls) > 0 && s.Judge(c)
	}
	var matches []Match
	for _, at := range p.Table.Sites {
		if m := s.take(at); p.judge(&m, guilty, s.Unseen) {
			matches = append(matches, m)
		}
	}
	return matches
}

// take returns the rows of a site that the search is about.
func (s Search) take(at *site.Site) Match {
	take := TakeCalls
	if s.Made {
		take = TakeMade
	}
	m := take(at, s.Callees...)
	if s.Keep != nil {
		m.keep(s.Keep)
	}
	return m
}

// typeNames is TypeName of several.
func typeNames(profile []string) []string {
	names := make([]string, len(profile))
	for i, n := range profile {
		names[i] = TypeName(n)
	}
	return names
}

// TypeName turns the name of a function in a profile into the type checker's:
// "strings.(*Replacer).Replace" into "(*strings.Replacer).Replace", "time.Time.Format"
// into "(time.Time).Format", "slices.Index[...]" into "slices.Index". A profile escapes dots in the last element of
// an import path ("gopkg.in/yaml%2ev3.Unmarshal"); so must patterns.
func TypeName(profile string) string {
	name, generic, _ := strings.Cut(profile, "[")
	if generic != "" && strings.Contains(generic, "].") {
		_, method, _ := strings.Cut(generic, "].")
		name += "." + method // a generic type's method
	}
	dir := name[:strings.LastIndexByte(name, '/')+1]
	parts := strings.Split(name[len(dir):], ".")
	if len(parts) != 3 {
		return strings.ReplaceAll(name, "%2e", ".")
	}
	pkg := dir + strings.ReplaceAll(parts[0], "%2e", ".")
	if receiver, ok := strings.CutPrefix(parts[1], "(*"); ok {
		return "(*" + pkg + "." + strings.TrimSuffix(receiver, ")") + ")." + parts[2]
	}
	return "(" + pkg + "." + parts[1] + ")." + parts[2]
}
