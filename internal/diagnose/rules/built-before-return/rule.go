// Package builtbeforereturn finds objects that are built before a return which mostly drops them.
package builtbeforereturn

import (
	"context"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// mostKept is the largest share of the built objects that may be needed.
const mostKept = 1. / 3

// Rule is built-before-return.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "built-before-return",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedInputs},
		Title: "Object allocated before a return that mostly drops it",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own: the counted share of dropped objects.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
				Specificity: 3, // how an object is built does not matter where it is dropped
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function builds an object, with its lists and maps, and then looks it up in a
map: mostly an equal one is there already, and the new one is garbage. Or it
applies functional options to a struct on the heap, asks whether anybody wants
the result, and mostly returns at once.

A LoadOrStore of a sync.Map does the same: its argument is computed before it
looks for the key.

Check first. Compute the key from what the object would be built from, and build
the object after the lookup failed. Test what is switched off before the
options are applied, or give the common call a path without options.

It is fine where most objects are kept, and where the check needs the work: the
rule leaves alone objects that a function fills in order to test them, that are
used when the function returns early, or that are the key of a lookup
themselves. It counts executions: at most a third of them may go on after the
early return.

Seen in the field: google/pprof#729 (samples copied before the lookup that finds
them), census-instrumentation/opencensus-go#1267 (options on the heap for
measurements that nobody reads).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, known: map[ast.Node][]*early{}}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[early]
	known map[ast.Node][]*early // by declaration
}

// look returns what a line builds and an early return drops; nil for nothing.
func (s *search) look(f *site.Frame, p *gocode.Place) *early {
	e, ok := evidence.Executions(s.pass, *f)
	if p.Decl == nil || p.Decl.Body == nil || p.Func != ast.Node(p.Decl) || !ok || !evidence.Hot(s.pass, e) {
		return nil
	}
	for _, found := range s.of(p) {
		if found.builds(p.Line) {
			return found
		}
	}
	return nil
}

// of returns what a function builds and drops, once for each function.
func (s *search) of(p *gocode.Place) []*early {
	known, seen := s.known[p.Decl]
	if !seen {
		in := p.Entry(p.Decl)
		known = append(s.blocks(in), s.orStores(in)...)
		s.known[p.Decl] = known
	}
	return known
}

// caller returns the frame of a row, nearest the leaf, that builds such an object: nothing but the
// runtime is below it, or a function that applies options. Other functions below may compute what
// the test needs.
func (s *search) caller(r *site.Row) int {
	for i, f := range r.Stack {
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		found := s.lines.At(f)
		if found == nil {
			continue
		}
		if found.callee != "" {
			if i > 0 && syntax.Profiled(found.place, r.Stack[i-1].Function) == found.callee {
				return i
			}
		} else if found.applies || !slices.ContainsFunc(r.Stack[:i], computes) {
			return i
		}
	}
	return -1
}

// computes reports whether a frame is of a function that does more than to allocate and copy.
func computes(f *site.Frame) bool {
	return !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "internal/") ||
		funcname.Match(f.Function, "runtime.concatstring*", "runtime.slicebytetostring*", "runtime.stringtoslicebyte*")
}

func (s *search) judge(c *finder.Case) bool {
	f := s.lines.At(&c.Site.Frame)
	if f == nil || len(c.Allocs) == 0 {
		return false
	}
	dropped := 1 - f.kept
	c.Fraction = &rule.Fraction{Expect: 0.9 * dropped, Low: 0.6 * dropped, High: dropped}
	c.Confidence = rule.Likely // that the check needs less than the object is not proved
	share := "none of them was needed while executions were counted"
	if f.kept > 0 {
		share = fmt.Sprintf("%s of them are needed", units.Percent(f.kept))
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("line %d leaves %s in %s of its executions", f.line, f.name, units.Percent(dropped)),
	})
	c.Cause, c.Fix = f.words(share)
	return true
}
