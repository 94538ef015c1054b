// Package kdfperrequest says how much of a service's CPU goes into hashing passwords.
package kdfperrequest

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
)

// Rule is kdf-per-request.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "kdf-per-request",
		Kind:  rule.CPU,
		Title: "Passwords are hashed for requests",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// A session's token is checked by one hash of a short text. Whether requests may have one is not
				// for hone to say, so that nothing may be saved at all.
				Fraction: rule.Fraction{Expect: 0.5, Low: 0, High: 0.99},
			},
			Loop: find,
		},
	}
}

const doc = `bcrypt, scrypt, argon2 and PBKDF2 are made to be slow, tens of milliseconds for
one password, so that a stolen table of hashes is hard to search. At login that
is right. A service that checks the password with every request, as HTTP Basic
authentication leads to, spends its machine on it, and can be stopped by a few
clients.

Check the password at login, hand out a random token, and look that up by its
SHA-256.

It is fine at login, and the cost is a decision about security: the rule
reports, it never accuses, and nobody should lower the cost factor because of a
profile.

Seen in the field: caddyserver/caddy#3462 (92 % of CPU at ten requests a
second), couchbase/sync_gateway#4900, prometheus/exporter-toolkit#32.`

// functions are the password hashes of the standard library and golang.org/x/crypto.
var functions = []string{
	"crypto/pbkdf2.Key[*", "golang.org/x/crypto/pbkdf2.Key", "golang.org/x/crypto/scrypt.Key",
	"golang.org/x/crypto/bcrypt.CompareHashAndPassword", "golang.org/x/crypto/bcrypt.GenerateFromPassword",
	"golang.org/x/crypto/argon2.IDKey", "golang.org/x/crypto/argon2.Key",
}

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, m := range finder.Through(p, functions...) {
		m.CPU = stacks.Select(m.CPU, serving)
		if m.Empty() {
			continue
		}
		m.Cause = fmt.Sprintf("%s hashes a password while it serves requests. Password hashes are slow by design.", funcname.Short(m.Site.Function))
		m.Fix = "Hash once per login, not on every request: issue a random token at login and check that. Do not lower the cost factor."
		m.Confidence = rule.Hint // a decision about security
		matches = append(matches, m)
	}
	return matches, nil
}

// serving reports whether a row is below an HTTP server's connection.
func serving(r *site.Row) bool {
	for _, f := range r.Stack {
		if funcname.Match(f.Function, "net/http.(*conn).serve", "net/http.(*http2serverConn).runHandler", "net/http.HandlerFunc.ServeHTTP") {
			return true
		}
	}
	return false
}
