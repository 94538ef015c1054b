// Package kdfperrequest finds services that hash passwords for requests.
package kdfperrequest

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// Rule is kdf-per-request.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "kdf-per-request",
		Kind:  rule.CPU,
		Title: "Passwords are hashed for requests",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Checking a session token takes one hash of a short text. Whether the service may
				// use tokens is a decision about security, so the low end is 0.
				Fraction: rule.Fraction{Expect: 0.5, Low: 0, High: 0.99},
			},
			Start:  finder.Callers{Functions: functions, Keep: serving},
			Judge:  func(c *finder.Case) bool { fill(c.Pass, c.Match); return true },
			Unseen: fill,
		},
	}
}

const doc = `bcrypt, scrypt, argon2 and PBKDF2 are slow by design, tens of milliseconds for
one password, so that a stolen table of hashes is hard to search. At login that
is right. A service that checks the password on every request, as HTTP Basic
authentication does, spends most of its CPU on hashing, and a few clients can
overload it.

Check the password at login, issue a random token, and look it up by its
SHA-256.

It is fine at login. The cost is a decision about security: findings are hints,
and nobody should lower the cost factor because of a profile.

Seen in the field: caddyserver/caddy#3462 (92 % of CPU at ten requests a
second), couchbase/sync_gateway#4900, prometheus/exporter-toolkit#32.`

// functions are the password hashes of the standard library and golang.org/x/crypto.
var functions = []string{
	"crypto/pbkdf2.Key[*", "golang.org/x/crypto/pbkdf2.Key", "golang.org/x/crypto/scrypt.Key",
	"golang.org/x/crypto/bcrypt.CompareHashAndPassword", "golang.org/x/crypto/bcrypt.GenerateFromPassword",
	"golang.org/x/crypto/argon2.IDKey", "golang.org/x/crypto/argon2.Key",
}

// fill reports a hint, with and without the source: hashing passwords is a decision about security.
func fill(_ *rule.Pass, m *rule.Match) {
	m.Cause = fmt.Sprintf("%s hashes a password while it serves requests. Password hashes are slow by design.", funcname.Short(m.Site.Function))
	m.Fix = "Hash once per login, not on every request: issue a random token at login and check that. Do not lower the cost factor."
	m.Confidence = rule.Hint
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
