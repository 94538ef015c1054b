// Package timeformatnow finds lines that format the current time more often than its text changes.
package timeformatnow

import (
	"fmt"
	"go/ast"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is time-format-now.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "time-format-now",
		Kind:  rule.CPU,
		Title: "The current time formatted again though its text changes once a second",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are the formatting alone; comparing the second remains. The call has
				// samples only if it runs thousands of times in a second.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.7, High: 0.98},
			},
			Start: finder.Calls{Functions: []string{"time.Time.Format", "time.Time.AppendFormat"}},
			Judge: judge,
		},
	}
}

const doc = `Time.Format parses its layout in every call, looks up the zone, splits the time
into a date and allocates a string: about 300 ns. For the current time in a
layout of whole seconds, nearly all calls return the same text as the call
before.

Keep the text with its second (in an atomic.Pointer to both) and format only
when time.Now().Unix() differs from it.

It is fine where lines are rare. The rule leaves alone layouts with fractions of
a second, and times other than the current one: their texts differ.

Seen in the field: canonical/pebble#674, where formatting time was a main cost
of logging; valyala/fasthttp formats its Date header once a second for the same
reason (serverDate).`

func judge(c *finder.Case) bool {
	layout := ""
	ok := c.All(func(call *ast.CallExpr) bool {
		text, constant := syntax.ConstString(c.Place, call.Args[len(call.Args)-1])
		layout = text
		return constant && coarse(text) && present(c.Place, syntax.Receiver(call)) && loops.PerCall(c.Place, call)
	})
	if !ok {
		return false
	}
	c.Cause = fmt.Sprintf("The current time is formatted as %q in every call; the text changes once a second, and the profile shows the call far more often.", layout)
	c.Fix = "Keep the text together with its Unix second in an atomic.Pointer, and format only when the second has changed."
	return true
}

// coarse reports whether a layout has no unit below a second: two times in one second have the same
// text.
func coarse(layout string) bool {
	a := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	return a.Format(layout) == a.Add(987_654_321*time.Nanosecond).Format(layout) && layout != ""
}

// present reports whether an expression is time.Now(), possibly in another zone and through
// variables that are set once.
func present(p *gocode.Place, e ast.Expr) bool {
	for range 4 {
		if e == nil {
			return false
		}
		call, ok := syntax.Origin(p, e).(*ast.CallExpr)
		if !ok {
			return false
		}
		name := p.CalleeName(call)
		if name == "time.Now" {
			return true
		}
		if !strings.HasPrefix(name, "(time.Time).") || !funcname.Match(name, "(time.Time).UTC", "(time.Time).Local", "(time.Time).In") {
			return false
		}
		e = syntax.Receiver(call)
	}
	return false
}
