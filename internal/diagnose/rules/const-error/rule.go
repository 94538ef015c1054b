// Package consterror finds errors with a constant text that are re-created on every call.
package consterror

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// makers are functions that create an error, as profiles name them.
var makers = []string{"errors.New", "fmt.Errorf", "google.golang.org/grpc/status.Error", "google.golang.org/grpc/status.Errorf"}

// Rule is const-error.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "const-error",
		Kind:  rule.Alloc,
		Title: "The same error re-created on every call",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				Removes:     true,
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.9, High: 1}, // a variable is created once
				Specificity: 1,
			},
			Lines: []finder.Line{{
				Start: finder.Rows(func(s *site.Site) rule.Match { return finder.TakeCalls(s, makers...) }),
				Judge: guilty,
				Unseen: finder.Words{
					Cause: "An error is created here on a hot path. The source is not available: its text may or may not be constant.",
					Fix:   "If the text is constant, return a package variable.",
				}.Fill,
			}, {
				Start: finder.Rows(finder.TakeOwn),
				Judge: literal,
			}},
		},
	}
}

const doc = `errors.New allocates a value on each call, and fmt.Errorf also parses its
format, takes a printer from a pool and copies the text, even if there is
nothing to format. An error with a constant text is always the same: on a hot
path it belongs in a package variable. So does one that wraps a package variable
(fmt.Errorf("load: %w", ErrClosed)), and a literal of constants.

Callers can also test for a variable with errors.Is. Note that the results of
two calls of errors.New differ, while a variable equals itself: a program that
compares errors by identity may behave differently.

It is fine on cold paths, which error paths should be; the rule reports only
lines whose cost the profile shows.

Seen in the field: the constErrorNew check of quasilyte/go-perfguard.`

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	calls := syntax.CallsOf(p, funcname.TypedAll(makers)...)
	for _, call := range calls {
		if !loops.PerCall(p, call) {
			return false
		}
		if !constant(p, call) {
			return len(calls) == 1 && given(c, call)
		}
		name, text := p.CalleeName(call), syntax.Short(strings.Trim(textOf(p, call), `"`))
		m.Cause = fmt.Sprintf("%s creates the same error %q again on every call of %s.", symbol.Short(name), text, syntax.FuncName(p))
		m.Fix = fmt.Sprintf("Return a package variable: var err… = %s. Callers can then test for it with errors.Is.", syntax.Short(syntax.Text(call)))
		if len(call.Args) == 1 {
			m.Fix = fmt.Sprintf("Return a package variable: var err… = errors.New(%q). Callers can then test for it with errors.Is.", text)
		}
	}
	return len(calls) > 0
}

// textOf returns the text of an error, which is the last constant string among the arguments of a
// call of fmt.Errorf or a function like it.
func textOf(p *gocode.Place, call *ast.CallExpr) string {
	for _, arg := range call.Args {
		if text, ok := syntax.ConstString(p, arg); ok {
			return text
		}
	}
	return syntax.Text(call)
}

// constant reports whether a call makes the same error each time: from constants, and from errors
// that are package variables.
func constant(p *gocode.Place, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if _, ok := p.Const(arg); !ok && !sentinel(p, arg) && !syntax.Fixed(p, arg) {
			return false
		}
	}
	text, ok := syntax.ConstString(p, call.Args[0])
	return !ok || len(call.Args) > 1 || p.CalleeName(call) != "fmt.Errorf" || !strings.Contains(text, "%")
}

// sentinel reports whether an expression is a package variable of type error that nothing in the
// package sets again.
func sentinel(p *gocode.Place, e ast.Expr) bool {
	v := syntax.Named(p, e)
	if v == nil || v.IsField() || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
		return false
	}
	return v.Pkg() != p.Pkg || p.Initial(v) != nil
}

// mostTexts is the largest number of different constants that callers may pass.
const mostTexts = 8

// given judges a function that makes an error from its parameters, for which its callers pass
// constants.
func given(c *finder.Case, call *ast.CallExpr) bool {
	passed := keepGiven(c, call.Args)
	if len(passed) == 0 {
		return false
	}
	c.Cause = fmt.Sprintf("%s creates the same errors again on every call of %s: its callers pass only %s.",
		symbol.Short(c.Place.CalleeName(call)), syntax.FuncName(c.Place), funcname.List(passed))
	c.Fix = "Create each of these errors once, in a package variable, and return that. Callers can then test for it with errors.Is."
	return true
}

// keepGiven keeps the rows in which the caller passes constants for all values that are not
// constant themselves, and returns these constants as source text; nil if there are none or too
// many.
func keepGiven(c *finder.Case, values []ast.Expr) (passed []string) {
	c.Keep(func(r *site.Row) bool {
		for _, e := range values {
			given := flow.Given(c.Pass, c.Place, r, r.Owner, e)
			if len(given) == 0 && !sentinel(c.Place, e) {
				return false
			}
			if _, own := c.Place.Const(e); !own {
				for _, v := range given {
					passed = append(passed, v.ExactString())
				}
			}
		}
		return true
	})
	slices.Sort(passed)
	if passed = slices.Compact(passed); c.Empty() || len(passed) > mostTexts {
		return nil
	}
	return passed
}

// literal judges an error that is a literal of constants: return &NotFound{Kind: "user"}.
func literal(c *finder.Case) bool {
	p := c.Place
	for _, n := range syntax.Allocating(p) {
		ref, ok := n.(*ast.UnaryExpr)
		if !ok || !syntax.AllocatesOnly(p, ref) {
			continue
		}
		lit, ok := ast.Unparen(ref.X).(*ast.CompositeLit)
		if !ok || !isError(p.TypeOf(ref)) || len(lit.Elts) == 0 || !loops.PerCall(p, ref) {
			continue
		}
		if _, returned := syntax.Parent(p, ref).(*ast.ReturnStmt); !returned {
			continue
		}
		if !fixed(p, lit) {
			passed := keepGiven(c, valuesOf(lit))
			if len(passed) == 0 {
				return false
			}
			c.Cause = fmt.Sprintf("%s creates the same errors again on every call: its callers pass only %s.", syntax.FuncName(p), funcname.List(passed))
			c.Fix = "Create each of these errors once, in a package variable, and return that, if no caller changes its fields."
			c.Confidence = rule.Likely // a caller may change its fields
			return true
		}
		c.Cause = fmt.Sprintf("%s creates the same error %s again on every call.", syntax.FuncName(p), syntax.Text(ref))
		c.Fix = fmt.Sprintf("Return a package variable: var err… = %s, if no caller changes its fields.", syntax.Text(ref))
		c.Confidence = rule.Likely // a caller may change its fields
		return true
	}
	return false
}

// fixed reports whether all values of a literal are constants or errors that are package variables.
func fixed(p *gocode.Place, lit *ast.CompositeLit) bool {
	for _, e := range valuesOf(lit) {
		if _, ok := p.Const(e); !ok && !sentinel(p, e) {
			return false
		}
	}
	return true
}

// valuesOf returns the values of the fields of a literal.
func valuesOf(lit *ast.CompositeLit) (values []ast.Expr) {
	for _, elt := range lit.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			elt = kv.Value
		}
		values = append(values, elt)
	}
	return values
}

// isError reports whether a type has the method of type error.
func isError(t types.Type) bool {
	e, _ := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return t != nil && types.Implements(t, e)
}
