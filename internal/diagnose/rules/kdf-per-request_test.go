package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	kdfperrequest "github.com/hone-go/hone/internal/diagnose/rules/kdf-per-request"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
)

func TestKDFPerRequestReports(t *testing.T) { hints(t, kdfperrequest.Rule()) }

// TestKDFBeyondLogins: hashing is more than a hint if the requests cannot be logins.
func TestKDFBeyondLogins(t *testing.T) {
	const src = `package main

import (
	"crypto/pbkdf2"
	"crypto/sha256"
)

func check(password string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, password, salt, 100_000, 32) //@ check | crypto/pbkdf2.Key[go.shape.x] < net/http.HandlerFunc.ServeHTTP
}

func main() {}
`
	for _, c := range []struct {
		name    string
		request string
		each    uint64
		want    rule.Confidence
		says    string
	}{
		{"a login", "POST http://127.0.0.1/login", 1, rule.Hint, ""},
		{"a request that reads", "GET http://127.0.0.1/lots", 1, rule.Likely, "not logins"},
		{"one that rarely hashes", "GET http://127.0.0.1/lots", 0, rule.Hint, ""},
		{"several hashes", "POST http://127.0.0.1/lots", 3, rule.Likely, "one stored hash after the other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, names := ruletest.MadeUp(t, src)
			p.Manifest.Load = &recording.Load{Targets: []string{c.request}}
			p.Counts = ran(names, c.each)
			found := matchesOf(t, kdfperrequest.Rule(), p)
			if len(found) != 1 || found[0].Confidence != c.want || !strings.Contains(found[0].Cause, c.says) {
				t.Errorf("%+v, want %s and %q", found, c.want, c.says)
			}
		})
	}
}
