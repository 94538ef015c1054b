// Package copybuffer finds copies between readers and writers that allocate a buffer each time.
package copybuffer

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

const (
	copying  = "io.copyBuffer"
	proxying = "net/http/httputil.(*ReverseProxy).copyBuffer"
)

// Rule is copy-buffer.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "copy-buffer",
		Kind:  rule.Alloc,
		Title: "Buffer of 32 KiB allocated for each copy",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are the buffers alone. A pool is emptied by collections, and has as many
				// buffers as there are copies at the same time.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
				Specificity: 1,
			},
			Start: finder.Rows(buffers),
			Judge: judge,
		},
	}
}

const doc = `io.Copy has the source write itself (io.WriterTo) or the destination read
(io.ReaderFrom), if one of them can. Otherwise it allocates a buffer of 32 KiB
for each call, zeroes it, and drops it at the end, also for a text of a few
bytes. httputil.ReverseProxy does the same for each response that it forwards.

Use io.CopyBuffer with a buffer from a sync.Pool, or one buffer for all copies of
a loop. Give a ReverseProxy a BufferPool. If the whole text is in memory, pass
it to the writer without a copy.

It is fine for rare copies, and for long ones, of which the buffer is a small
part. The rule counts only what the buffers cost.

Seen in the field: yarpc/yarpc-go#764, kopia/kopia#332, vulcand/oxy#138,
beckn/beckn-onix#853 (38 % of bytes).`

// buffers selects the allocations of copy buffers, and not reads and writes.
func buffers(s *site.Site) rule.Match {
	return rule.Match{
		Site:   s,
		Allocs: stacks.Select(s.Allocs, func(r *site.Row) bool { return makes(r, copying, proxying) }),
		// Unlike a heap profile, a CPU profile has the frames of the allocator.
		CPU: stacks.Select(s.CPU, func(r *site.Row) bool {
			return makes(r, copying, proxying) && slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return f.Function == "runtime.makeslice" })
		}),
	}
}

// makes reports whether one of the functions is the nearest to the leaf outside of the runtime.
func makes(r *site.Row, functions ...string) bool {
	for _, f := range r.Stack[:max(r.Owner, 0)] {
		if !funcname.Match(f.Function, "runtime.*") {
			return slices.Contains(functions, f.Function)
		}
	}
	return false
}

func judge(c *finder.Case) bool {
	for _, call := range syntax.Calls(c.Place) {
		switch name := c.Place.CalleeName(call); {
		case funcname.Match(name, "io.Copy", "io.CopyN"), name == "io.CopyBuffer" && c.Place.Info.Types[call.Args[2]].IsNil():
			copied(c, call, name)
			return true
		case funcname.Match(name, "(*net/http/httputil.ReverseProxy).ServeHTTP", "(net/http.Handler).ServeHTTP"):
			c.Keep(func(r *site.Row) bool { return makes(r, proxying) })
			c.Cause = "The reverse proxy has no BufferPool: it allocates a copy buffer of 32 KiB for each response that it forwards."
			c.Fix = "Set BufferPool of the httputil.ReverseProxy to a sync.Pool of []byte: Get returns a buffer of 32 KiB, Put takes it back."
			return !c.Empty()
		}
	}
	return false
}

// copied describes a call of io.Copy.
func copied(c *finder.Case, call *ast.CallExpr, name string) {
	to, from := syntax.Text(call.Args[0]), syntax.Text(call.Args[1])
	with := "io.CopyBuffer with a buffer from a sync.Pool"
	if loop := c.Place.LoopAround(call); loop != nil && !c.Place.Drives(loop) {
		with = fmt.Sprintf("io.CopyBuffer with one buffer for all iterations of the loop on line %d", syntax.Line(c.Place, loop.Pos()))
	}
	c.Cause = fmt.Sprintf("%s allocates a buffer of 32 KiB in each call, because neither %s has a WriteTo method (io.WriterTo) nor %s a ReadFrom method (io.ReaderFrom).", name, from, to)
	c.Fix = fmt.Sprintf("Use %s.", with)
	if fallsBack(c.Match) {
		c.Cause = fmt.Sprintf("%s leaves the copying to %s or %s, whose method needs a buffer here, too, and allocates 32 KiB in each call.", name, from, to)
		c.Fix = fmt.Sprintf("Use %s, and hide the method: struct{ io.Writer }{%s} has no ReadFrom, struct{ io.Reader }{%s} has no WriteTo.", with, to, from)
	}
}

// fallsBack reports whether the buffers are allocated below a method of the reader or the writer.
func fallsBack(m *rule.Match) bool {
	for _, rows := range [][]*site.Row{m.Allocs, m.CPU} {
		for _, r := range rows {
			for _, f := range r.Stack[:max(r.Owner, 0)] {
				if strings.HasSuffix(f.Function, ".ReadFrom") || strings.HasSuffix(f.Function, ".WriteTo") {
					return true
				}
			}
		}
	}
	return false
}
