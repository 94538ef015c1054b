// Package resetdropsbuffer finds objects that are reset and used again, but allocate the memory of
// a field again each time.
package resetdropsbuffer

import (
	"fmt"
	"go/types"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastBytes is the minimum share of all allocated bytes that the line must allocate.
	leastBytes = 0.02
	// mostLive is the largest share of the allocated memory that a collection may find alive:
	// memory that is kept elsewhere cannot be reused.
	mostLive = 0.1
	// mostCreated is the largest number of objects that may be created for each reset.
	mostCreated = 0.2
	// leastResets is the minimum number of resets for each run of a line that makes the memory. It
	// does not hold for lines by which the memory grows.
	leastResets = 0.5
)

// Rule is reset-drops-buffer.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "reset-drops-buffer",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Reused object allocates its buffer again after each reset",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The memory has to be cleared where the code relies on zeros, and it still grows
				// for the first large input.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 3, // it knows more than rules about slices that grow
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: judge,
		},
	}
}

const doc = `An object is kept for the next input, in a sync.Pool, a free list or a field,
and its method Reset prepares it. But Reset also sets its buffer to nil (or the
whole object to T{}), or makes a new one. The next use then allocates memory that
the object had already: the pool keeps the small object and drops the large one.

Keep the memory in Reset: x.buf = x.buf[:0] for what append fills, clear(x.m) for
a map, *x = T{buf: x.buf[:0]} for the whole object. Where the size changes, make
a new buffer only if cap(x.buf) is too small, and slice the old one otherwise;
clear it if the code relies on zeros. A buffer that has become very large may be
dropped.

It is fine when the memory is given to someone else before the reset, and when
objects are created as often as they are reset. The rule reports fields that a
function drops, as counted, in objects of which at most one is created for five
resets. It leaves alone fields that are returned, sent or stored somewhere else,
and memory that Reset makes only if what it has is too small. If the function's
name is not like Reset, Init or Release, no other variable and no function that
is called may get the memory.

Seen in the field: andybalholm/brotli#33 (a Reader drops its ring buffer when it
is reset).`

func judge(c *finder.Case) bool {
	bytes, objects := stacks.Sum(c.Allocs)
	live, _ := stacks.Sum(c.Live)
	all := c.Pass.Table.Totals.AllocBytes
	if c.Place.Decl == nil || objects == 0 || float64(bytes) < leastBytes*float64(all) || float64(live) > mostLive*float64(bytes) {
		return false
	}
	m, ok := madeAt(c.Place)
	if !ok {
		return false
	}
	runs, counted := evidence.Executions(c.Pass, c.Site.Frame)
	if !counted || runs.PerUnit <= 0 || leaves(c.Place, m.field) {
		return false
	}
	drop, resets := dropped(c.Pass, c.Place, m)
	if drop == nil || !evidence.Hot(c.Pass, counts.Executions{PerUnit: resets}) || !m.grows && resets < leastResets*runs.PerUnit {
		return false
	}
	created, known := creations(c.Pass, c.Place, m.owner, c.Allocs)
	if !known || created > mostCreated*resets {
		return false
	}
	describe(c, m, drop, created/resets)
	return true
}

// describe fills in the words.
func describe(c *finder.Case, m *made, d *drop, created float64) {
	bytes, objects := stacks.Sum(c.Allocs)
	owner := m.owner.Obj().Name()
	field := owner + "." + m.field.Name()
	each := fmt.Sprintf("%s each time, %s of all bytes", units.Bytes(float64(bytes)/float64(objects)),
		units.Percent(float64(bytes)/float64(c.Pass.Table.Totals.AllocBytes)))
	reused := fmt.Sprintf("The %s itself is reused: it is created for %s of the resets.", owner, units.Percent(created))
	if created == 0 {
		reused = fmt.Sprintf("The %s itself is reused: none is created while the line runs.", owner)
	}
	if d.makes {
		c.Cause = fmt.Sprintf("%s allocates the memory of %s again each time, although the object that it resets has such memory already: %s. %s",
			d.function, field, each, reused)
	} else {
		c.Cause = fmt.Sprintf("%s (%s) drops the memory of %s, so %s allocates it again: %s. %s",
			d.function, d.where, field, syntax.FuncName(c.Place), each, reused)
	}
	c.Fix = fix(m, d)
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	c.Confidence = rule.Measured
	if m.passed || !d.named {
		c.Confidence = rule.Likely // a function that gets the memory may keep it
	}
}

// fix returns what to do, by the type of the field.
func fix(m *made, d *drop) string {
	x := syntax.Text(m.text)
	switch m.field.Type().Underlying().(type) {
	case *types.Map:
		return fmt.Sprintf("Keep the map: clear(%s) in %s empties it and keeps its memory.", x, d.function)
	case *types.Slice:
		if m.grows {
			return fmt.Sprintf("Keep the buffer: set it to %s[:0] in %s; append then reuses its memory. Clear elements that hold pointers first.", x, d.function)
		}
		return fmt.Sprintf("Keep the buffer in %s, and make a new one only if cap(%s) is too small; otherwise reuse it: %s = %s[:n], cleared where the code relies on zeros.", d.function, x, x, x)
	}
	return fmt.Sprintf("Keep the value of %s in %s, and set what it points to back to its initial state.", x, d.function)
}
