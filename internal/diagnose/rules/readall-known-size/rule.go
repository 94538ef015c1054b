// Package readallknownsize finds calls of io.ReadAll whose length is known before reading.
package readallknownsize

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

var readers = []string{"io.ReadAll", "io/ioutil.ReadAll"}

// Rule is readall-known-size.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "readall-known-size",
		Kind:  rule.Alloc,
		Title: "io.ReadAll where the length is known",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are the buffers alone. Before Go 1.26 they add up to about four times
				// the text, since then to little more than twice. One buffer of the right size
				// remains.
				Fraction:    rule.Fraction{Expect: 0.55, Low: 0.4, High: 0.8},
				Specificity: 1,
			},
			Start: finder.Rows(func(s *site.Site) rule.Match {
				return finder.Take(s, growing, readers...)
			}),
			Judge: guilty,
		},
	}
}

const doc = `io.ReadAll does not know the length. It starts with 512 bytes and allocates
larger buffers as it reads. Up to Go 1.25 it copied everything to each larger
buffer; since Go 1.26 it collects pieces and copies them once at the end. Either
way it allocates at least twice what it returns.

If the length is known, allocate one buffer: Content-Length gives it for an HTTP
body, Stat for a file, Len for a reader of memory, a field or method of your own
reader (Size). Limit the length that a client may send, and handle −1 for bodies
of unknown length. Better still, do not hold the whole body: decode from the
reader, or use io.Copy.

It is fine for small and rare bodies.

Seen in the field: prometheus/client_golang#976, grafana/loki#20647,
oras-project/oras-go#1426.`

// growing reports whether a row allocates or copies the buffers, and does not read into them.
func growing(r *site.Row) bool {
	if !stacks.Calls(r, readers...) {
		return false
	}
	for i := r.Owner - 1; i >= 0; i-- {
		if f := r.Stack[i].Function; !funcname.Match(f, append(readers, "runtime.*")...) {
			return false // a reader's own
		}
	}
	return true
}

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, call := range syntax.CallsOf(p, readers...) {
		if len(call.Args) != 1 {
			continue
		}
		what, how := flow.Length(c.Pass.Syntax, p, call.Args[0])
		if what == "" {
			continue
		}
		m.Cause = fmt.Sprintf("%s reads %s into growing buffers and copies them together, though the length is known beforehand.", symbol.Short(p.CalleeName(call)), what)
		m.Fix = fmt.Sprintf("Use %s; or read with a decoder, which needs only a part in memory.", how)
		return true
	}
	return false
}
