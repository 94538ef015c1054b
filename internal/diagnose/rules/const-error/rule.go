// Package consterror finds errors with a constant text that are re-created on every call.
package consterror

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

var makers = []string{"errors.New", "fmt.Errorf"}

// Rule is const-error.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "const-error",
		Kind:  rule.Alloc,
		Title: "The same error re-created on every call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes:     true,
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.9, High: 1}, // a variable is created once
				Specificity: 1,
			},
			Start: finder.Rows(func(s *site.Site) rule.Match { return finder.TakeCalls(s, makers...) }),
			Judge: guilty,
			Unseen: finder.Words{
				Cause: "An error is created here on a hot path. The source is not available: its text may or may not be constant.",
				Fix:   "If the text is constant, return a package variable.",
			}.Fill,
		},
	}
}

const doc = `errors.New allocates a value on each call, and fmt.Errorf also parses its
format, takes a printer from a pool and copies the text, even if there is
nothing to format. An error with a constant text is always the same: on a hot
path it belongs in a package variable.

Callers can also test for a variable with errors.Is. Note that the results of
two calls of errors.New differ, while a variable equals itself: a program that
compares errors by identity may behave differently.

It is fine on cold paths, which error paths should be; the rule reports only
lines whose cost the profile shows.

Seen in the field: the constErrorNew check of quasilyte/go-perfguard.`

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	calls := syntax.CallsOf(p, makers...)
	for _, call := range calls {
		text, ok := "", false
		if len(call.Args) == 1 {
			text, ok = syntax.ConstString(p, call.Args[0])
		}
		name := p.CalleeName(call)
		if !ok || !loops.PerCall(p, call) || name == "fmt.Errorf" && strings.Contains(text, "%") {
			return false
		}
		m.Cause = fmt.Sprintf("%s creates the same error %q again on every call of %s.", name, syntax.Short(text), syntax.FuncName(p))
		m.Fix = fmt.Sprintf("Return a package variable: var err… = errors.New(%q). Callers can then test for it with errors.Is.", syntax.Short(text))
	}
	return len(calls) > 0
}
