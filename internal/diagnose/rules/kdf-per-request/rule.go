// Package kdfperrequest finds services that hash passwords for requests.
package kdfperrequest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
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
				Fraction: rule.Fraction{Expect: 0.5, Low: 0, High: 1},
			},
			Start:  finder.Callers{Functions: functions, Keep: serving},
			Judge:  judge,
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

Keys that the program makes at random need no slow hash: nobody can guess them, so
the SHA-256 of a key finds its entry.

It is fine at login. The cost is a decision about security: findings are hints,
unless a request hashes several times or only reads (GET), and nobody should
lower the cost factor because of a profile.

Seen in the field: caddyserver/caddy#3462 (92 % of CPU at ten requests a
second), couchbase/sync_gateway#4900, prometheus/exporter-toolkit#32.`

// functions are the password hashes of the standard library and golang.org/x/crypto.
var functions = []string{
	"crypto/pbkdf2.Key[*", "golang.org/x/crypto/pbkdf2.Key", "golang.org/x/crypto/scrypt.Key",
	"golang.org/x/crypto/bcrypt.CompareHashAndPassword", "golang.org/x/crypto/bcrypt.GenerateFromPassword",
	"golang.org/x/crypto/argon2.IDKey", "golang.org/x/crypto/argon2.Key",
}

// several is the number of hashes per request above which a request compares with one stored hash
// after the other: a login needs one.
const several = 1.2

// judge reports more than a hint where the requests cannot be logins: those that only read, and
// those that hash several times.
func judge(c *finder.Case) bool {
	fill(c.Pass, c.Match)
	ran, ok := evidence.Executions(c.Pass, c.Site.Frame)
	m := c.Pass.Manifest
	if !ok || m.Load == nil || ran.PerUnit < 0.5 {
		return true
	}
	reads := !slices.ContainsFunc(m.Load.Targets, func(t string) bool { return !strings.HasPrefix(t, "GET ") })
	switch {
	case ran.PerUnit >= several:
		c.Cause += fmt.Sprintf(" Each request hashes %s: it is compared with one stored hash after the other.", evidence.Times(ran.PerUnit))
		c.Fix = "Find the entry by a part of the key that is stored in the clear, or by the key's SHA-256, if the program makes the keys at random: those need no slow hash. For passwords, hash once per login: issue a random token at login and check that."
	case reads && len(m.Load.Targets) > 0:
		c.Cause += " The requests are GET, so they are not logins: each proves again who sends it."
		c.Fix += " Random keys that the program makes need no slow hash: their SHA-256, once per request, is enough."
	default:
		return true
	}
	c.Confidence = rule.Likely
	return true
}

// fill reports a hint, with and without the source: hashing passwords is a decision about security.
func fill(_ *rule.Pass, m *rule.Match) {
	m.Cause = fmt.Sprintf("%s hashes a password while it serves requests. Password hashes are slow by design.", symbol.Short(m.Site.Function))
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
