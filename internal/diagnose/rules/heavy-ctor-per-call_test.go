package rules_test

import (
	"strings"
	"testing"

	heavyctorpercall "github.com/hone-go/hone/internal/diagnose/rules/heavy-ctor-per-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
)

const packing = `package main

import (
	"compress/gzip"
	"io"
	"sync"
)

var shared = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

func pack(w io.Writer, text []byte) {
	writers := POOL{New: func() any { return gzip.NewWriter(io.Discard) }} //@ pool
	z := writers.Get().(*gzip.Writer)
	z.Reset(w)
	z.Write(text) //@ write | compress/flate.NewWriter compress/gzip.(*Writer).Write
	z.Close()
	writers.Put(z)
}

func main() { pack(io.Discard, nil) }
`

// TestPoolPerCall: a pool that a function creates for each call is named; a pool that is created
// seldom may be empty for other reasons.
func TestPoolPerCall(t *testing.T) {
	for _, c := range []struct {
		pool string
		runs uint64
		want string
	}{
		{"sync.Pool", 40, "pack creates a sync.Pool each time it runs, 40 times per request"},
		{"&sync.Pool", 40, "pack creates a sync.Pool each time it runs"},
		{"sync.Pool", 0, ""},
	} {
		pass, names := ruletest.MadeUp(t, strings.Replace(packing, "POOL", c.pool, 1))
		for _, s := range pass.Table.Sites {
			for _, r := range s.Allocs {
				r.Value = 800_000 * r.Count
			}
		}
		pass.Manifest.Load = &recording.Load{Connections: 8}
		pass.Counts = ran(names, c.runs)
		var got string
		for _, m := range matchesOf(t, heavyctorpercall.Rule(), pass) {
			got += names[m.Site.Line] + ": " + m.Cause
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || c.want != "" && !strings.HasPrefix(got, "pool: ") {
			t.Errorf("%s, %d runs: %q, want %q at the pool", c.pool, c.runs, got, c.want)
		}
	}
}
