// Package constantwork finds calls that compute the same constant whenever a function runs.
package constantwork

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

// Rule is constant-work.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "constant-work",
		Kind:  rule.CPU,
		Title: "The same result computed from constants in every call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// A package variable computes it once; reading the variable remains.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.9, High: 1},
				Specificity: 1,
			},
			Start: finder.Calls{
				Functions: append(effects.PureFuncs(), "time.LoadLocation"),
				Keep:      func(r *site.Row) bool { return !stacks.Initial(r) },
			},
			Judge: judge,
		},
	}
}

const doc = `A call of a function without state whose arguments are all constants has the
same result for the life of the program. The compiler does not know that, so the
program computes it, and often allocates it, on every call. The most expensive
such function is time.LoadLocation: each call opens and parses a file of the
time zone database, which takes 10 to 30 µs.

Keep the result in a package variable, or in a sync.OnceValue when it may fail
or is rarely needed.

It is fine in main and init, which run once. The result is then shared: do not
write to a slice, a *url.URL or a net.IP.

Seen in the field: golang/go#26106 (time.LoadLocation), hebcal/hebcal-go#34
(11.7 µs and 8.6 KB became 20 ns), unixpickle/statushub#1.`

func judge(c *finder.Case) bool {
	ok := c.All(func(call *ast.CallExpr) bool {
		return syntax.AllConst(c.Place, call) && loops.PerCall(c.Place, call)
	})
	if !ok {
		return false
	}
	call := syntax.Text(c.Calls[0])
	c.Cause = fmt.Sprintf("%s depends only on constants, yet %s computes it again in every call.", call, syntax.FuncName(c.Place))
	if c.Name() == "time.LoadLocation" {
		c.Cause = fmt.Sprintf("%s opens and parses the zone's file again in every call of %s.", call, syntax.FuncName(c.Place))
	}
	c.Fix = fmt.Sprintf("Compute %s once, in a package variable or a sync.OnceValue, and share the result read-only.", call)
	return true
}
