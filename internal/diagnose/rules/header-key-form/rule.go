// Package headerkeyform finds header names that are converted to canonical form on every call.
package headerkeyform

import (
	"fmt"
	"go/ast"
	"net/textproto"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
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

It is fine on cold paths. The rule reports only constants.

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
	name := ""
	ok := c.All(func(call *ast.CallExpr) bool {
		key, constant := syntax.ConstString(c.Place, call.Args[0])
		if canonical := textproto.CanonicalMIMEHeaderKey(key); constant && canonical != key {
			name = key
		}
		return constant
	})
	if !ok || name == "" {
		return false
	}
	c.Cause = fmt.Sprintf("The header name %q is not in canonical form, so it is copied and rewritten in every call.", name)
	c.Fix = fmt.Sprintf("Write it as %q, which is the same header and needs no conversion.", textproto.CanonicalMIMEHeaderKey(name))
	return true
}
