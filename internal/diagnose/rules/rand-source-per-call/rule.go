// Package randsourcepercall finds random sources that are seeded for a few numbers.
package randsourcepercall

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is rand-source-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "rand-source-per-call",
		Kind:  rule.CPU,
		Title: "Random source seeded from the clock on every call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// Seeding and one number took 17.7 µs, one number from the shared source 19 ns.
				Fraction: rule.Fraction{Expect: 0.98, Low: 0.9, High: 1},
			},
			Start: finder.Calls{
				Functions: []string{"math/rand.NewSource", "math/rand.Seed", "math/rand.(*Rand).Seed"},
				Keep:      func(r *site.Row) bool { return !stacks.Initial(r) },
			},
			Judge: judge,
		},
	}
}

const doc = `rand.NewSource of math/rand fills a table of 607 numbers with about 2,000 steps
of another generator: 5 KiB and 10 to 20 µs, to draw perhaps one number from it.
rand.Seed does the same to the shared source, and then every draw takes a lock.

Since Go 1.20 the runtime seeds the functions of the package at random, and they
take no lock. Use rand.Intn(n), or rand.IntN of math/rand/v2.

It is fine once per worker, or where a sequence has to be reproducible: the rule
reports only seeds that come from the clock. Use crypto/rand, and neither of
these packages, for tokens, keys and passwords.

Seen in the field: mb-14/gomarkov#4, hashicorp/go-retryablehttp#33,
soroushjp/go-parallelism-monte-carlo-demo#1, deckhouse/deckhouse#5094.`

func judge(c *finder.Case) bool {
	ok := c.All(func(call *ast.CallExpr) bool {
		return len(call.Args) == 1 && clock(c.Pass.Syntax, c.Place, call.Args[0]) && loops.PerCall(c.Place, call)
	})
	if !ok {
		return false
	}
	c.Cause = fmt.Sprintf("%s seeds a generator from the clock every time: that computes 607 words, of which only a few are used.", syntax.FuncName(c.Place))
	c.Fix = "Draw from the package's own source (rand.IntN and so on of math/rand/v2): the runtime seeds it at random, and it takes no lock."
	if safety.MakesSecret(c.Place) {
		c.Fix = "Draw from crypto/rand (rand.Text for a token, rand.Read for a key): the value must not be predictable, and anyone who knows roughly when it was created can repeat a sequence that was seeded from the clock. crypto/rand needs no seed and is safe for concurrent use."
	}
	return true
}

// clock reports whether a seed comes from the clock, also one that all callers pass.
func clock(s *gocode.Syntax, p *gocode.Place, seed ast.Expr) bool {
	sources := flow.Sources(s, p, seed)
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(a flow.Argument) bool { return !reads(a) })
}

// reads reports whether an expression reads the clock.
func reads(a flow.Argument) bool {
	found := false
	ast.Inspect(a.Value, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && a.CalleeName(call) == "time.Now"
		return !found
	})
	return found
}
