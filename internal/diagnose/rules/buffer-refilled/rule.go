// Package bufferrefilled finds buffered readers that are reset for each small record, so that their
// whole buffer is read again.
package bufferrefilled

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	standardSize = 4096 // of the buffer that bufio.NewReader makes
	large        = 16 << 10
	// leastPart is the minimum share of the executions of a reading line after which the buffer is
	// discarded; mostReads is the maximum number of executions of any line that may read from the
	// buffer each time: a loop that continues to read needs the buffer.
	leastPart = 0.5
	mostReads = 2
	leastRuns = 100 // executions for each unit of work, or for each call of a function up the stack
)

// Rule is buffer-refilled.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "buffer-refilled",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole buffer read again for each small record",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.4, Low: 0.1, High: 0.7}, // see saves
				Specificity: 2,
			},
			Start: finder.Sites(func(s *site.Site) rule.Match {
				m := finder.Take(s, fills, read)
				m.Allocs, m.Live, m.Block, m.Mutex = nil, nil, nil, nil
				return m
			}),
			Judge: judge,
		},
	}
}

const doc = `A bufio.Reader fills its whole buffer with one read. After a Seek of the
file the buffer has to be thrown away with Reset, or a new reader made: a
program that does so for each record of 40 bytes copies 4 KiB each time, or as
much as the buffer has, and uses one in a hundred bytes.

Read a record at a known position with ReadAt of its bytes, without Seek and
without the buffer: one system call instead of two. If the length is in the
record, a buffer of about a record's size is enough (io.NewSectionReader, which
needs no Seek). If positions ascend, Discard moves forward within the buffer.

It is fine where reading continues from the position: the rule reports lines
that read a few bytes, in functions that seek and reset as often as they read,
as counted, while no other line reads more often from the same reader.

Seen in the field: grafana/mimir#3798.`

// read is what fills the buffer.
const read = "os.(*File).Read"

// fills reports whether a row is in the read of a file that a buffered reader asked for.
func fills(r *site.Row) bool {
	below := false
	for i := range min(max(r.Owner, 0), len(r.Stack)) {
		f := r.Stack[i].Function
		if below && strings.HasPrefix(f, "bufio.(*Reader).") {
			return true
		}
		below = below || f == read
	}
	return false
}

func judge(c *finder.Case) bool {
	ran, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || ran.PerUnit < leastRuns {
		return false
	}
	for _, call := range syntax.Calls(c.Place) {
		from, n, ok := reads(c.Place, call)
		if !ok {
			continue
		}
		v := syntax.Named(c.Place, from)
		if v == nil {
			continue
		}
		x := &search{pass: c.Pass, place: c.Place, reader: v, param: syntax.Param(c.Place, v), most: ran.PerUnit}
		x.look(c.CPU)
		if x.reset == nil || x.seek == nil || x.goesOn() {
			continue
		}
		size := x.size()
		if n >= size/2 {
			continue
		}
		what := units.Some(float64(n), "byte")
		if n == 0 {
			what = "a line"
		}
		c.Cause = fmt.Sprintf("%s reads only %s each time, after a Seek (line %d) and %s (line %d). Those discard the buffer, so each time the file is read into the whole buffer again, %s.",
			syntax.Text(call), what, x.seek.line, x.reset.text, x.reset.line, units.Bytes(float64(size)))
		c.Fix = "Read just the record with ReadAt of the file at its position, without the buffer and without Seek. If records have no fixed length, give the reader a buffer of about a record's size; if positions ascend, go forward within the buffer with Discard."
		f := saves(size)
		c.Fraction = &f
		return true
	}
	return false
}

// saves returns the share of the reads that reading 40 bytes instead saves, for files in the page
// cache (amd64, Linux): of 2 to 8 µs for 32 KiB, 0.5 to 1 µs remain, of 4 KiB about half. The cost
// of Seek is saved in addition.
func saves(size int64) rule.Fraction {
	if size >= large {
		return rule.Fraction{Expect: 0.75, Low: 0.45, High: 0.92}
	}
	return rule.Fraction{Expect: 0.4, Low: 0.1, High: 0.7}
}

// same reports whether two expressions in one package name the same variable or field.
func same(a, b *types.Var) bool { return a != nil && a == b }

// inspectCalls calls visit for each call below a node.
func inspectCalls(n ast.Node, visit func(*ast.CallExpr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			visit(call)
		}
		return true
	})
}
