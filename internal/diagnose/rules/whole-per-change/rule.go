// Package wholeperchange finds collections that are copied or encoded as a whole for each change of
// a few elements.
package wholeperchange

import (
	"context"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastElements is the minimum mean number of elements of a copy.
	leastElements = 64
	// leastBytes must have been allocated for copies for their size to be known: the profile
	// samples one object per 512 KiB.
	leastBytes = 4 << 20
	// leastCopies is how often a collection must have been copied.
	leastCopies = 100
	// leastEncoding is the minimum time to encode a collection, in seconds, for each element that
	// changed: a small element takes about a third of a microsecond.
	leastEncoding = 30e-6
	// mostChanges is how many elements may change for each time that a collection is encoded.
	mostChanges = 4
	// mostFrames from the line that encodes a collection to the function that changes it.
	mostFrames = 4
	// mostStacks of a line are searched for that function.
	mostStacks = 20
)

// Rule is whole-per-change.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "whole-per-change",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole collection copied or saved for each change",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// A change in place, or an appended record, is one of at least 64 elements.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 2, // it says why the line copies or encodes
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function changes one element of a map or a list, and for that copies
the whole of it (copy on write), or encodes and saves the whole of it, or reads it
from a store, decodes, changes, encodes and stores it again. Or it copies a list
to drop its oldest element, or those that a test rejects, and encodes a
configuration to compare its hash. Each change costs as much as there are
elements, so n insertions cost n² steps. It is fast in a test with ten elements,
and slows down as the program runs.

Copy on write is for collections that hardly change. For others, change one map
in place under a sync.RWMutex, or use a sync.Map; or collect changes, and replace
the collection once for many of them. The same holds for a state of several
collections that a method copies, and that readers get from an atomic pointer:
changes that come within some milliseconds can share one copy.

To save, append a record of the change to a file (a journal), and write the whole
rarely; or save at most once in a while; or use an embedded database, which
writes what changed. In a store of keys and values, give each element a key of
its own: the key of the whole as a prefix, then that of the element.

A value that never changes is easy to share, but a loop that builds one of them with
a method such as With copies all of the last one for each element, though nobody
else has seen it. Add in place there, and return the finished value.

It is fine for small collections, and for those that change a few times. The rule
reports copies of at least 64 elements that replace the original after a few
changes, or that a function returns, longer each time, and loops that build a
collection with at least 24 copies and keep none of those in between. It also
reports encodings and decodings that take at least 30 µs for each element that the
function or its callers change.

Seen in the field: MikkoParkkola/trvl#575 (a new price rewrote all 320,028: 339
ms), TeraSky-OSS/declarative-conversion-operator#78 (a map copied for each
update), weaveworks/scope#470 (a topology copied for each node that is added),
itchyny/gojq#241 (an object copied for each key that is added),
timshannon/badgerhold#25 and timshannon/bolthold#105 (the keys of an index,
decoded and encoded for each insertion).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.copies = finder.Remember(p, func(f *site.Frame, place *gocode.Place) *copied { return s.copiedAt(f, place) })
	s.clones, s.ways = finder.Remember(p, s.cloneAt), map[string]*published{}
	s.trims = finder.Remember(p, s.trimmedAt)
	s.encodings = finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *encoding { return encodingAt(p.Syntax, place) })
	s.documents = finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *document { return documentAt(place) })
	return finder.Line{Start: finder.Frames(s.line), Judge: s.judge}
}

// search remembers what lines do.
type search struct {
	pass      *rule.Pass
	copies    *finder.Lines[copied]
	clones    *finder.Lines[clone]
	ways      map[string]*published // by the lines of a stack
	trims     *finder.Lines[trimmed]
	encodings *finder.Lines[encoding]
	documents *finder.Lines[document]
}

// line returns the frame of a row that copies a collection, or encodes or decodes one that it or a
// caller changes; -1 for none.
func (s *search) line(r *site.Row) int {
	if i := s.copies.Nearest(r); i >= 0 {
		return i
	}
	if i := s.trims.Nearest(r); i >= 0 {
		return i
	}
	if i := s.clones.Nearest(r); i >= 0 && s.way(s.clones.At(r.Stack[i]), r.Stack[i:]) != nil {
		return i
	}
	i := s.encodings.Nearest(r)
	if i < 0 {
		return s.document(r)
	}
	e := s.encodings.At(r.Stack[i])
	if e.changed == nil && e.looked < mostStacks {
		e.looked++
		e.changed = s.changer(r.Stack[i:], e)
	}
	if e.changed == nil {
		return s.document(r)
	}
	return i
}

func (s *search) judge(c *finder.Case) bool {
	c.Live = nil
	c.Confidence = rule.Likely // a snapshot may be what readers or users need
	if found := s.copies.At(&c.Site.Frame); found != nil {
		return found.describe(c)
	}
	if found := s.trims.At(&c.Site.Frame); found != nil {
		return found.describe(c)
	}
	if found := s.clones.At(&c.Site.Frame); found != nil && found.describe(s, c) {
		return true
	}
	if found := s.encodings.At(&c.Site.Frame); found != nil && found.changed != nil {
		return found.describe(c)
	}
	if found := s.documents.At(&c.Site.Frame); found != nil {
		return found.describe(c)
	}
	return false
}

// done returns how many units of work the profile has, by a line whose executions were counted.
func done(p *rule.Pass, f site.Frame) (float64, bool) {
	e, ok := evidence.Executions(p, f)
	each, known := evidence.PerExecution(p, f, 1)
	if !ok || !known || each <= 0 {
		return 0, false
	}
	return 1 / (each * e.PerUnit), true
}
