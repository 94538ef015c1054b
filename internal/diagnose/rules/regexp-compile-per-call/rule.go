// Package regexpcompilepercall finds regular expressions that are compiled again on every call.
package regexpcompilepercall

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// compilers return a Regexp; matchers compile one, use it once and discard it.
var (
	compilers = []string{"regexp.Compile", "regexp.MustCompile", "regexp.CompilePOSIX", "regexp.MustCompilePOSIX"}
	matchers  = []string{"regexp.Match", "regexp.MatchString", "regexp.MatchReader"}
)

// Rule is regexp-compile-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "regexp-compile-per-call",
		Kind:  rule.Alloc,
		Title: "Regular expression compiled on every call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// The rows are those of compiling alone. A package variable compiles once.
				Fraction:    rule.Fraction{Expect: 0.98, Low: 0.93, High: 1},
				Specificity: 1,
			},
			Start: finder.Rows(take),
			Judge: guilty,
			Unseen: finder.Words{
				Cause: "A regular expression is compiled on every call. The source is not available: its pattern may or may not be constant.",
				Fix:   "If the pattern is constant, compile it once into a package variable.",
			}.Fill,
		},
	}
}

const doc = `Compiling a regular expression parses it into a tree, simplifies the tree,
compiles it to a program and analyses that for fast paths: dozens of allocations
and some microseconds even for a short one. A match is often a hundred times
cheaper. regexp.MatchString and regexp.Match compile on every call.

A constant pattern belongs in a package variable (regexp.MustCompile there also
reports mistakes when the program starts). Compile a pattern that a loop does
not change before the loop. A Regexp is safe for concurrent use.

It is fine for a pattern that comes with each call, for example from a user. The
rule leaves those alone, and also patterns that are compiled in initialisers,
under sync.Once, and after a check for nil or a cache miss. A few patterns that
repeat belong in a cache: for regexp.MatchString with a pattern from elsewhere,
a finding is only likely.

Seen in the field: gobeam/stringy#27; emicklei/go-restful#588.`

// take returns the rows of compiling.
func take(s *site.Site) rule.Match {
	m := finder.Take(s, func(r *site.Row) bool {
		return stacks.Calls(r, compilers...) || stacks.Calls(r, matchers...) && r.Below("regexp.Compile")
	}, compilers...)
	m.Callees = append(m.Callees, matchers...)
	return m
}

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, call := range syntax.CallsOf(p, append(compilers, matchers...)...) {
		if len(call.Args) == 0 || !loops.PerCall(p, call) {
			continue
		}
		pattern := syntax.Origin(p, call.Args[0])
		if syntax.Fixed(p, pattern, "regexp.QuoteMeta") {
			once(p, m, call, pattern)
			return true
		}
		if passed := len(flow.Constants(c.Pass.Syntax, p, call.Args[0])); passed > 0 {
			m.Cause = fmt.Sprintf("%s compiles the pattern %s on every call, although it is always a constant of the program (set or passed in %s).",
				syntax.FuncName(p), syntax.Text(call.Args[0]), units.Some(float64(passed), "place"))
			m.Fix = "Compile each pattern once, in a package variable, and pass or keep the *regexp.Regexp instead of its text; it is safe for concurrent use."
			return true
		}
		if loop := p.LoopAround(call); loop != nil && loops.Invariant(p, loop, call.Args[0]) {
			m.Cause = fmt.Sprintf("%s compiles the pattern %s in every iteration of the loop on line %d, and the loop does not change it.",
				syntax.FuncName(p), syntax.Text(call.Args[0]), syntax.Line(p, loop.Pos()))
			m.Fix = "Compile it once before the loop; if later calls repeat the same few patterns, keep them in a cache of bounded size."
			return true
		}
		if name := p.CalleeName(call); funcname.Match(name, matchers...) && !fromRequest(p, call.Args[0]) {
			m.Cause = fmt.Sprintf("%s compiles the pattern %s each time it is called, to use it once.", name, syntax.Text(call.Args[0]))
			m.Fix = "Compile a pattern where it is set, and keep the *regexp.Regexp next to it; or keep compiled patterns in a cache of bounded size."
			m.Confidence = rule.Likely // the source does not show how many different patterns there are
			return true
		}
	}
	return false
}

// fromRequest reports whether a pattern comes directly from a request, so each may differ.
func fromRequest(p *gocode.Place, pattern ast.Expr) bool {
	call, ok := syntax.Origin(p, pattern).(*ast.CallExpr)
	return ok && funcname.Match(p.CalleeName(call), "(net/url.Values).*", "(*net/http.Request).*", "(net/http.Header).*")
}

// once fills in the words for a pattern that is always the same.
func once(p *gocode.Place, m *rule.Match, call *ast.CallExpr, pattern ast.Expr) {
	name := p.CalleeName(call)
	if funcname.Match(name, matchers...) {
		m.Cause = fmt.Sprintf("%s compiles the pattern %s each time it is called, to use it once.", name, syntax.Text(pattern))
		m.Fix = fmt.Sprintf("Compile it once, in a package variable: var pattern = regexp.MustCompile(%s), and call its methods; it is safe for concurrent use.", syntax.Text(pattern))
		return
	}
	m.Cause = fmt.Sprintf("%s compiles the same pattern %s on every call.", syntax.FuncName(p), syntax.Text(pattern))
	m.Fix = fmt.Sprintf("Move it to a package variable: var pattern = regexp.MustCompile(%s); it is safe for concurrent use.", syntax.Text(pattern))
}
