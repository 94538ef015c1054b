// Package pointerdenselive finds live memory with many pointers, which every collection follows.
package pointerdenselive

import (
	"fmt"
	"go/ast"
	"go/types"
	"math"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastMark is the minimum share of CPU in marking that is worth a finding.
	leastMark = 0.1
	// leastScan is the minimum part of the live heap that the collector has to scan.
	leastScan = 0.5
	// leastHeld is the minimum part of the live heap that one line must have allocated.
	leastHeld = 0.3
	// leastLive bytes of live heap: the fixed cost of a cycle does not depend on pointers.
	leastLive = 8 << 20
)

// Rule is pointer-dense-live.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "pointer-dense-live",
		Kind:   rule.GC,
		Needs:  []rule.Need{rule.NeedMetrics},
		Title:  "Live memory full of pointers",
		Doc:    doc,
		Finder: finder.Program{Judge: find},
	}
}

const doc = `In every cycle, marking scans each word of live memory that may be a pointer,
and follows it. It does not scan memory of a type without pointers: a million
records of numbers cost nothing to mark, a million strings cost a million
accesses to other memory. (At a fixed GOGC, less live memory does not help,
because cycles are then more frequent. Fewer pointers do.)

Keep records as values in one slice, and refer to them by index; use keys and
values without pointers in large maps (a fixed array, a hash, an offset into one
buffer of bytes). The price is readability, so do it only for the structure that
takes most of the heap.

It is fine for most heaps. The finding is a hint: whether the structure can do
without its pointers depends on its purpose. GOGC is easier to change.

Seen in the field: allegro/bigcache and coocoo/freecache keep entries in byte
buffers for this reason; since golang/go#9477 the collector does not scan maps
without pointers.`

func find(p *rule.Pass) []rule.Match {
	live, scan := p.Metrics[recording.MetricLive], p.Metrics["/gc/scan/heap:bytes"]
	t := p.Table.Totals
	if live < leastLive || scan < leastScan*live || t.TotalSeconds <= 0 || t.LiveBytes <= 0 || t.D < leastMark*t.TotalSeconds {
		return nil
	}
	s := collector.MostLive(p.Table)
	held := 0.0
	if s != nil {
		held = float64(s.Cost.LiveBytes) / float64(t.LiveBytes)
	}
	if held < leastHeld {
		return nil
	}
	place := p.Place(s)
	if place == nil {
		return nil
	}
	made := pointers(place)
	if made == "" {
		return nil
	}
	most := t.D * math.Min(1, held*live/scan)
	return []rule.Match{{
		Site: s, Confidence: rule.Hint,
		Saving: &rule.Saving{Seconds: most / 2, Low: 0, High: most, Collector: most / 2},
		Cause: fmt.Sprintf("This line allocated %s of the live heap, %s, as %s. Marking scans %s in each cycle and takes %s of CPU.",
			units.Percent(held), units.Bytes(float64(s.Cost.LiveBytes)), made, units.Bytes(scan), units.Percent(t.D/t.TotalSeconds)),
		Fix: "Store this structure without pointers if it allows that (values in one slice, indices instead of pointers, keys and values of fixed size): the collector then does not scan it.",
		Evidence: []rule.Evidence{
			{What: "scanned of the live heap", Value: fmt.Sprintf("%s of %s", units.Bytes(scan), units.Bytes(live))},
			{What: "CPU of mark workers", Value: units.Percent(t.D / t.TotalSeconds), Command: evidence.TopCommand(p, "cpu")},
		},
	}}
}

// pointers describes what the line allocates, if it contains pointers; "" when it does not, or when
// it is unknown.
func pointers(p *gocode.Place) string {
	found := ""
	note := func(e ast.Expr) {
		t := p.TypeOf(e)
		if t == nil || found != "" {
			return
		}
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if syntax.HoldsPointers(content(t)) {
			found = types.TypeString(t, types.RelativeTo(p.Pkg))
		}
	}
	for _, n := range syntax.Allocating(p) {
		if e, ok := n.(ast.Expr); ok && !syntax.IsString(p, e) {
			note(e)
		}
	}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool { // m[k] = v allocates groups of the map
		if a, ok := n.(*ast.AssignStmt); ok && syntax.Line(p, a.Pos()) == p.Line {
			for _, lhs := range a.Lhs {
				if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
					if _, isMap := p.TypeOf(x.X).Underlying().(*types.Map); isMap {
						note(x.X)
					}
				}
			}
		}
		return true
	})
	return found
}

// content returns the type of the memory behind a type: the elements of slices, keys and values of
// maps.
func content(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Map:
		return types.NewStruct([]*types.Var{types.NewVar(0, nil, "k", u.Key()), types.NewVar(0, nil, "v", u.Elem())}, nil)
	}
	return t
}
