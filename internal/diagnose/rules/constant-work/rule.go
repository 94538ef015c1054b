// Package constantwork finds calls that compute the same constant whenever a function runs.
package constantwork

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
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

It is the same where a function of the program passes its parameter on and all
its callers pass constants: zone("Europe/Berlin").

The same goes for the elements of a list of constants that a loop parses, and for
a field or a variable that nothing sets to another value.

It is fine in main and init, which run once. The result is then shared: do not
write to a slice, a *url.URL or a net.IP.

Seen in the field: golang/go#26106 (time.LoadLocation), hebcal/hebcal-go#34
(11.7 µs and 8.6 KB became 20 ns), unixpickle/statushub#1.`

func judge(c *finder.Case) bool {
	ok := c.All(func(call *ast.CallExpr) bool {
		return syntax.AllConst(c.Place, call) && loops.PerCall(c.Place, call)
	})
	if !ok {
		return setting(c) || inHelper(c)
	}
	call := syntax.Text(c.Calls[0])
	c.Cause = fmt.Sprintf("%s depends only on constants, yet %s computes it again in every call.", call, syntax.FuncName(c.Place))
	if c.Name() == "time.LoadLocation" {
		c.Cause = fmt.Sprintf("%s opens and parses the zone's file again in every call of %s.", call, syntax.FuncName(c.Place))
	}
	c.Fix = fmt.Sprintf("Compute %s once, in a package variable or a sync.OnceValue, and share the result read-only.", call)
	return true
}

const (
	// mostValues is the largest number of different constants that callers may pass.
	mostValues = 64
	// mostListed is the largest number of them that a sentence lists.
	mostListed = 6
)

// list names constants, or says how many there are.
func list(values []string) string {
	if len(values) > mostListed {
		return fmt.Sprintf("%d constants", len(values))
	}
	return funcname.List(values)
}

// parsers are functions that prepare something from a setting: a text that is often a constant
// where they are called through a function of the program.
func parsers() []string {
	return []string{
		"time.LoadLocation", "time.ParseDuration", "time.Parse", "net.ParseCIDR", "net.ParseIP", "net/netip.ParseAddr", "net/netip.ParsePrefix",
		"net/netip.MustParseAddr", "net/netip.MustParsePrefix", "net/url.Parse", "encoding/hex.DecodeString", "encoding/base64.(*Encoding).DecodeString",
	}
}

// setting judges a call whose arguments have only a few constant values: a variable or a field
// that nothing changes, or the elements of a list.
func setting(c *finder.Case) bool {
	if len(c.Calls) != 1 || !funcname.Match(c.Name(), funcname.TypedAll(parsers())...) || !loops.PerCall(c.Place, c.Calls[0]) {
		return false
	}
	var all []string
	for _, arg := range c.Calls[0].Args {
		values := flow.Constants(c.Pass.Syntax, c.Place, arg)
		if v := syntax.LocalVar(c.Place, arg); len(values) == 0 || v != nil && syntax.Param(c.Place, v) || open(c.Place, arg) {
			return false // for parameters see inHelper
		}
		for _, value := range values {
			all = append(all, value.ExactString())
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 || len(all) > mostValues {
		return false
	}
	if ran, counted := evidence.Executions(c.Pass, c.Site.Frame); counted && !evidence.Hot(c.Pass, ran) {
		return false
	}
	call := syntax.Text(c.Calls[0])
	c.Cause = fmt.Sprintf("%s is computed again in every call of %s, although it gets only %s.", call, syntax.FuncName(c.Place), list(all))
	c.Fix = "Compute it once where the setting is made, or for each value in a package variable, and share the result read-only."
	c.Confidence = rule.Likely
	return true
}

// open reports whether an expression is a field that a decoder or a flag may set: it is exported,
// or its address is taken.
func open(p *gocode.Place, e ast.Expr) bool {
	f := syntax.Named(p, e)
	if f == nil || !f.IsField() {
		return false
	}
	taken := f.Exported()
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND && syntax.Named(p, u.X) == f {
				taken = true
			}
			return !taken
		})
	}
	return taken
}

// inHelper judges a function that computes something from its parameters, for which its callers
// pass constants.
func inHelper(c *finder.Case) bool {
	if len(c.Calls) != 1 || !funcname.Match(c.Name(), funcname.TypedAll(parsers())...) || !loops.PerCall(c.Place, c.Calls[0]) {
		return false
	}
	var passed []string
	c.Keep(func(r *site.Row) bool {
		texts, ok := given(c, r)
		passed = append(passed, texts...)
		return ok
	})
	slices.Sort(passed)
	passed = slices.Compact(passed)
	if c.Empty() || len(passed) == 0 || len(passed) > mostValues {
		return false
	}
	if ran, counted := evidence.Executions(c.Pass, c.Site.Frame); counted && !evidence.Hot(c.Pass, ran) {
		return false
	}
	call := syntax.Text(c.Calls[0])
	c.Cause = fmt.Sprintf("%s is computed again in every call of %s, although its callers pass only %s.", call, syntax.FuncName(c.Place), list(passed))
	c.Fix = fmt.Sprintf("Compute %s once for each of these values, in package variables or a sync.OnceValue, and share the results read-only.", call)
	return true
}

// given returns the constants that the caller in a row passes for the parameters among the
// arguments of the call, as source text. It reports false if one of the arguments is neither such a
// parameter nor a constant.
func given(c *finder.Case, r *site.Row) (passed []string, ok bool) {
	for _, arg := range c.Calls[0].Args {
		values := flow.Given(c.Pass, c.Place, r, r.Owner, arg)
		if len(values) == 0 {
			return nil, false
		}
		if _, constant := c.Place.Const(arg); constant {
			continue
		}
		for _, value := range values {
			passed = append(passed, value.ExactString())
		}
	}
	return passed, len(passed) > 0
}
