// Package readfromhidden finds wrappers of http.ResponseWriter because of which files are copied
// through a buffer instead of by sendfile.
package readfromhidden

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	leastShare   = 0.05 // of all CPU, for such copies
	leastSamples = 8
)

// Rule is readfrom-hidden.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "readfrom-hidden",
		Kind:  rule.IO,
		Title: "Wrapper of the response hides ReadFrom, so files are copied through a buffer",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// What the kernel does to send a file remains; reading it into the program and
				// writing it out again does not.
				Fraction:    rule.Fraction{Expect: 0.4, Low: 0.15, High: 0.7},
				Specificity: 2, // copy-buffer would ask for a pool of buffers
			},
			Prepare: prepare,
		},
	}
}

const doc = `The response of net/http has a method ReadFrom, with which io.Copy and
http.ServeFile let the kernel send a file to the connection (sendfile). A
middleware that wraps the response to count bytes or to note the status embeds
http.ResponseWriter, an interface without that method: files are then read into a
buffer of 32 KiB, which is allocated for each response, and written again.

Give the wrapper a method ReadFrom that calls io.Copy with the wrapped response
and counts what it returns. Unwrap does not help: only http.ResponseController
uses it.

It is fine behind TLS, where data must be encrypted in the program, and for
wrappers that change the data. The rule reports wrappers whose Write is called by
io.Copy from a file and only passes the data on.

Seen in the field: slok/go-http-metrics#216.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	c := observe(p)
	spent, n := stacks.Sum(c.cpu)
	if c.most == nil || !c.files || n < leastSamples || float64(spent)*1e-9 < leastShare*p.Table.Totals.TotalSeconds {
		return finder.Line{}
	}
	judge := func(k *finder.Case) bool {
		if k.Site.Line != c.most.Line || k.Site.Function != c.most.Function || k.Site.File != c.most.File {
			return false
		}
		k.CPU, k.Allocs, k.Block, k.Mutex, k.Live = c.cpu, c.allocs, nil, nil, nil
		k.Callees = []string{"io.copyBuffer"}
		k.Confidence = rule.Likely // the copy is measured, what sendfile takes is not
		wrapper := strings.NewReplacer("(*", "", ")", "").Replace(strings.TrimSuffix(symbol.Short(funcname.Typed(c.most.Function)), ".Write"))
		k.Cause = wrapper + " wraps the http.ResponseWriter and has no method ReadFrom: files are read into a buffer of 32 KiB and written again, instead of being sent by the kernel (sendfile)."
		k.Fix = fmt.Sprintf("Give %s a method ReadFrom(src io.Reader) (int64, error) that returns io.Copy(the wrapped response, src), and counts the bytes.", wrapper)
		k.Evidence = []rule.Evidence{{
			What: "CPU of copies from files to the wrapper", Value: fmt.Sprintf("%s (%s)", units.Seconds(float64(spent)*1e-9), units.Some(float64(n), "sample")),
			Command: evidence.TopCommand(p, "cpu"),
		}}
		return true
	}
	at := func(r *site.Row) int { i, _ := wrapper(r); return i }
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// copies are the rows of copies to a wrapper.
type copies struct {
	cpu, allocs []*site.Row
	files       bool // the copies read files
	most        *site.Frame
}

func observe(p *rule.Pass) *copies {
	c := &copies{}
	callers := map[*site.Frame]bool{} // of io.Copy, for a wrapper
	values := map[site.Frame]int64{}
	p.EachRow(func(r *site.Row) {
		if i, from := wrapper(r); i >= 0 {
			callers[from] = true
			f := r.Stack[i]
			if values[*f] += r.Value; c.most == nil || values[*f] > values[*c.most] {
				c.most = f
			}
		}
	})
	p.EachRow(func(r *site.Row) {
		if i := copying(r); i >= 0 && callers[above(r, i)] {
			c.cpu = append(c.cpu, r)
			for _, f := range r.Stack[:i] {
				c.files = c.files || f.Function == "os.(*File).Read"
			}
		}
	})
	for _, s := range p.Table.Sites {
		c.allocs = append(c.allocs, stacks.Select(s.Allocs, func(r *site.Row) bool {
			i := copying(r)
			return i >= 0 && callers[above(r, i)]
		})...)
	}
	return c
}

// copying returns the index of io.copyBuffer in the stack of a response over a plain connection; -1
// for none.
func copying(r *site.Row) int {
	at, serves := -1, false
	for i, f := range r.Stack {
		switch {
		case funcname.Match(f.Function, "crypto/tls.*"):
			return -1
		case at < 0 && f.Function == "io.copyBuffer":
			at = i
		case f.Function == "net/http.(*conn).serve":
			serves = true
		}
	}
	if !serves {
		return -1
	}
	return at
}

// above returns the frame of the first function outside of package io that calls the one at an
// index; nil for none.
func above(r *site.Row, i int) *site.Frame {
	for _, f := range r.Stack[i+1:] {
		if !strings.HasPrefix(f.Function, "io.") {
			return f
		}
	}
	return nil
}

// wrapper returns the index of the wrapper's Write in a row that copies to it, and who copies; -1
// for none.
func wrapper(r *site.Row) (int, *site.Frame) {
	at := copying(r)
	if at < 2 {
		return -1, nil
	}
	f := r.Stack[at-1]
	if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency || !strings.HasSuffix(f.Function, ".Write") || r.Stack[at-2].Function != "net/http.(*response).Write" {
		return -1, nil
	}
	return at - 1, above(r, at)
}
