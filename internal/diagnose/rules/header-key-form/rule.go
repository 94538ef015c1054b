// Package headerkeyform finds header names that are converted to canonical form on every call.
package headerkeyform

import (
	"fmt"
	"go/ast"
	"go/constant"
	"net/textproto"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Rule is header-key-form.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "header-key-form",
		Kind:  rule.CPU,
		Title: "Header name not in canonical form",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are those of the conversion. A name in canonical form is only read once.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.6, High: 1},
				Specificity: 1,
			},
			Start: finder.Calls{
				Functions: calls(),
				Keep:      rewrites,
			},
			Judge: judge,
		},
	}
}

const doc = `http.Header keeps its keys in canonical form: the first letter of each word in
upper case, the others in lower case. Get, Set, Add, Del and Values convert the
name that they get. A name in canonical form is only checked. Every call copies
and rewrites any other name, and allocates it unless it is one of about forty
common names.

Write the constant in canonical form: "Www-Authenticate", "X-Request-Id". The
header that is sent and found is the same, since the map has no other form.

It is fine on cold paths. The rule reports only constants, also those of a list
that a loop goes through, and those that callers pass to a function.

Seen in the field: caddyserver/caddy#7911 (48 ns became 20),
google/go-github#3389, Azure/azure-sdk-for-go#26405.`

// calls are the functions that the rule looks for.
func calls() []string {
	var callees []string
	for _, header := range []string{"net/http.Header.", "net/textproto.MIMEHeader."} {
		for _, method := range []string{"Get", "Set", "Add", "Del", "Values"} {
			callees = append(callees, header+method)
		}
	}
	callees = append(callees, "net/http.CanonicalHeaderKey")
	return callees
}

// rewrites reports whether a row is in converting a name to its canonical form, including the
// allocation.
func rewrites(r *site.Row) bool { return r.Below("net/textproto.canonicalMIMEHeaderKey") }

func judge(c *finder.Case) bool {
	var names []string
	ok := c.All(func(call *ast.CallExpr) bool {
		listed, constant := keys(c, call.Args[0])
		for _, key := range listed {
			if textproto.CanonicalMIMEHeaderKey(key) != key && !slices.Contains(names, key) {
				names = append(names, key)
			}
		}
		return constant
	})
	if !ok || len(names) == 0 {
		return false
	}
	name := names[0]
	c.Cause = fmt.Sprintf("The header name %q is not in canonical form, so it is copied and rewritten in every call.", name)
	c.Fix = fmt.Sprintf("Write it as %q, which is the same header and needs no conversion.", textproto.CanonicalMIMEHeaderKey(name))
	if more := len(names) - 1; more > 0 {
		c.Fix += fmt.Sprintf(" The same holds for %s.", units.Some(float64(more), "other name"))
	}
	return true
}

// keys returns the constants that a header name can be: its own value, the elements of a list that
// a loop goes through, or what the callers in the profile pass for a parameter.
func keys(c *finder.Case, e ast.Expr) (found []string, ok bool) {
	if key, constant := syntax.ConstString(c.Place, e); constant {
		return []string{key}, true
	}
	if list := listOf(c.Place, e); list != nil {
		for _, elt := range list.Elts {
			key, constant := syntax.ConstString(c.Place, elt)
			if !constant {
				return nil, false
			}
			found = append(found, key)
		}
		return found, true
	}
	c.Keep(func(r *site.Row) bool {
		values := flow.Given(c.Pass, c.Place, r, r.Owner, e)
		for _, v := range values {
			if v.Kind() == constant.String {
				found = append(found, constant.StringVal(v))
			}
		}
		return len(values) > 0
	})
	return found, !c.Empty()
}

// listOf returns the literal of the list whose elements a variable of a range loop is; nil for
// other expressions.
func listOf(p *gocode.Place, e ast.Expr) *ast.CompositeLit {
	v := syntax.LocalVar(p, e)
	stmt, _ := syntax.Declared(p, v)
	loop, ok := stmt.(*ast.RangeStmt)
	if !ok || loop.Value == nil || syntax.LocalVar(p, loop.Value) != v {
		return nil
	}
	list, _ := syntax.Origin(p, loop.X).(*ast.CompositeLit)
	return list
}
