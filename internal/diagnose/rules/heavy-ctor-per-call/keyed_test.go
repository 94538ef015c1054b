package heavyctorpercall

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestKeyedStateIsNotReset: in a pool of values whose Reset keeps the constructor's argument, one
// caller would get another's key.
func TestKeyedStateIsNotReset(t *testing.T) {
	places := ruletest.Places(t, `package main

import (
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"io"
)

func f(w io.Writer, key []byte) {
	gzip.NewWriter(w) //@ reset to another writer
	hmac.New(sha256.New, key) //@ keeps its key
	sha256.New() //@ takes nothing
}

func main() {}
`)
	for name, want := range map[string]bool{"reset to another writer": true, "keeps its key": false, "takes nothing": true} {
		p := places[name]
		call := p.Calls()[0]
		if got := resets(p, p.Callee(call), call); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
