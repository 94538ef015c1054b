// Package buffergrowth finds buffers that each call creates empty and that grow to a large size.
package buffergrowth

import (
	"context"
	"fmt"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastGrowths is how often a buffer must be reallocated on average each time that it is
	// created.
	leastGrowths = 3
	// leastSize is the minimum mean size of an allocation, in bytes.
	leastSize = 2048
)

// Rule is buffer-growth.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "buffer-growth",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Buffer that starts empty in every call and grows large",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it. Doubling allocates two to four times the final size in
				// total; a buffer of the right size allocates it once, one that is used again not
				// at all.
				Fraction: rule.Fraction{Expect: 0.6, Low: 0.3, High: 0.95},
			},
			Prepare: prepare,
		},
	}
}

const doc = `A bytes.Buffer or strings.Builder that a function declares, or that is a
field of a struct which it creates, starts without memory. When it is full, it
allocates twice as much and copies what it holds. For a message of a megabyte
that is about fourteen allocations, two to four megabytes in all, and the next
call starts from nothing again. io.Copy into a buffer does the same, even if the
size of the source is known.

If the size is known or can be estimated (a Content-Length, the Size of a file
or object, the size of the last message), call Grow before the first write.
Buffer's ReadFrom needs 512 bytes (bytes.MinRead) more than the text. If the
buffer does not leave the function, keep it in a field or in a sync.Pool and
Reset it: that keeps its memory. If it is only copied to a writer, write there
directly.

It is fine for small buffers. The rule reports buffers that are reallocated three
times or more on average each time that they are declared, as counted, in pieces
of 2 KiB or more. It leaves alone buffers that the function grows or resets, and
code that runs for less than one request in twenty, or less than a hundred times
in a program that exits.

Seen in the field: grafana/loki#4884 (blocks read into growing buffers),
projectdiscovery/utils#786 (bodies whose Content-Length is known).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := search{pass: p, lines: map[gocode.Pos]*buffer{}, buffers: map[*types.Var]*buffer{}}
	for _, at := range p.Table.Sites {
		for _, r := range at.Allocs {
			if i := s.caller(r); i >= 0 {
				b := s.lines[gocode.Pos{File: r.Stack[i].File, Line: r.Stack[i].Line}]
				b.bytes += r.Value
				b.objects += r.Count
			}
		}
	}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

func (s *search) judge(c *finder.Case) bool {
	b := s.lines[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if b == nil || b.objects == 0 || b.bytes/b.objects < leastSize {
		return false
	}
	declared, ok := s.pass.Counts.Line(c.Site.Owner.Package, c.Site.File, b.line)
	if !ok || !evidence.Hot(s.pass, declared) {
		return false // set-up
	}
	once := *c.Site
	once.Line = b.line
	growths, ok := evidence.PerExecution(s.pass, once.Frame, float64(b.objects))
	if !ok || growths < leastGrowths {
		return false
	}
	bytes := growths * float64(b.bytes) / float64(b.objects)
	c.Callees = growing
	c.Cause = fmt.Sprintf("%s starts empty each time that %s declares it (line %d), and grows to its final size: %s reallocations and %s each time, every one copying what it holds.",
		b.name, b.function, b.line, units.Number(growths), units.Bytes(bytes))
	switch {
	case b.known != "":
		c.Fix = fmt.Sprintf("The size is known before the first write: use %s; or call %s.Grow first.", b.known, b.name)
		c.Fraction = &rule.Fraction{Expect: 0.6, Low: 0.35, High: 0.85}
	case b.leaves:
		c.Fix = fmt.Sprintf("Call %s.Grow once before the first write, with the size if it can be computed or with that of the last result.", b.name)
		c.Fraction = &rule.Fraction{Expect: 0.5, Low: 0.25, High: 0.75}
	default:
		c.Fix = fmt.Sprintf("Reuse the buffer: keep %s in a field or a sync.Pool and Reset it, which keeps its memory. Or write directly to where its content goes.", b.name)
		if !b.resets {
			c.Fix = fmt.Sprintf("Reuse the memory: a bytes.Buffer in a field or a sync.Pool keeps its memory when it is Reset. Or call %s.Grow once before the first write.", b.name)
		}
		c.Fraction = &rule.Fraction{Expect: 0.8, Low: 0.4, High: 0.97}
	}
	if c.Confidence = rule.Measured; b.known == "" {
		c.Confidence = rule.Likely // how large the next one becomes is not known
	}
	return true
}

// search remembers the buffers that lines write to.
type search struct {
	pass    *rule.Pass
	lines   map[gocode.Pos]*buffer
	buffers map[*types.Var]*buffer
}

// mostFrames is the maximum distance in frames between a buffer's method and the function that
// declares the buffer.
const mostFrames = 12

// caller returns the frame of a row that grows a buffer, in the function that declares the buffer;
// -1 for others.
func (s *search) caller(r *site.Row) int {
	from := grown(r)
	if from < 0 {
		return -1
	}
	for i, seen := from+1, 0; i < len(r.Stack) && seen < mostFrames; i++ {
		f := r.Stack[i]
		if f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency {
			continue
		}
		seen++
		if s.at(f) != nil {
			return i
		}
	}
	return -1
}

func (s *search) at(f *site.Frame) *buffer {
	pos := gocode.Pos{File: f.File, Line: f.Line}
	found, seen := s.lines[pos]
	if seen {
		return found
	}
	if place, ok := s.pass.Syntax.At(f.File, f.Line); ok && place.Decl != nil {
		if v := written(place); v != nil {
			if s.buffers[v] == nil {
				s.buffers[v] = describe(place, v)
			}
			found = s.buffers[v]
			if found.sized {
				found = nil
			}
		}
	}
	s.lines[pos] = found
	return found
}
