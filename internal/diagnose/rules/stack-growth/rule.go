// Package stackgrowth finds goroutines whose stacks grow again and again.
package stackgrowth

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastShare of CPU that growing the stacks of one kind of goroutines must take.
	leastShare = 0.02
	// leastSamples of it.
	leastSamples = 8
)

// Rule is stack-growth.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "stack-growth",
		Kind:  rule.Goroutine,
		Title: "Goroutines that grow their stacks again and again",
		Doc:   doc,
		// Kept goroutines grow once; a collection may still shrink stacks that are mostly unused.
		Fraction: rule.Fraction{Expect: 0.8, Low: 0.4, High: 1},
		Find:     find,
	}
}

const doc = `A goroutine begins with a few KiB of stack. Each time that does not do, the
runtime takes a stack of twice the size, copies the old one and adjusts every
pointer into it. A goroutine that lives long pays once. One that is begun for
each small piece of work pays each time, and the profile blames whichever
innocent function happened to need the space.

Keep the goroutines and hand them work over a channel, or do the work in place;
or make the large frame smaller: an array of some KiB as a local variable is
usually the one. (Since Go 1.19 goroutines begin with the average stack that the
last collection saw, which helps when most of them are alike.)

It is fine when deep recursion needs the stack once.

Seen in the field: grpc/grpc-go#3204 (workers that reuse their stacks),
golang/go#18138, cockroachdb/cockroach#100434.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	byEntry := map[string]*rule.Match{}
	growing := map[string]map[*site.Frame]int64{} // where the stack was too small, by entry
	p.EachRow(func(r *site.Row) {
		at := grew(r)
		if at < 0 {
			return
		}
		entry := goroutine(r)
		m := byEntry[entry.Function]
		if m == nil {
			m = &rule.Match{Callees: []string{"runtime.newstack"}}
			byEntry[entry.Function] = m
			growing[entry.Function] = map[*site.Frame]int64{}
		}
		m.CPU = append(m.CPU, r)
		if f := module(r, at); f != nil {
			growing[entry.Function][f] += r.Value
		}
	})
	var matches []rule.Match
	for entry, m := range byEntry {
		spent, samples := rule.Sum(m.CPU)
		share := float64(spent) / 1e9 / p.Table.Totals.TotalSeconds
		f := most(growing[entry])
		if p.Table.Totals.TotalSeconds <= 0 || share < leastShare || samples < leastSamples || f == nil {
			continue
		}
		m.Site = siteOf(p, f)
		m.Confidence = rule.Likely // that the goroutines are short-lived follows from the cost
		if p.Place(m.Site) == nil {
			m.Confidence = rule.Hint
		}
		m.Cause = fmt.Sprintf("Goroutines that begin in %s outgrow their stacks again and again: copying stacks takes %s of CPU, most of it when line %d needs space.",
			entry, rule.Percent(share), f.Line)
		m.Fix = "Keep these goroutines and hand them work, so that a stack grows once; or do the work in place, or make large local arrays smaller."
		m.Evidence = []rule.Evidence{{What: "CPU in growing stacks", Value: fmt.Sprintf("%s (%s)", rule.Percent(share), rule.Some(float64(samples), "sample")), Command: p.Top("cpu")}}
		matches = append(matches, *m)
	}
	slices.SortFunc(matches, func(a, b rule.Match) int { return cmp.Compare(a.Cause, b.Cause) })
	return matches, nil
}

// grew returns the index of runtime.newstack in a row that grows a stack; -1 when it does not.
func grew(r *site.Row) int {
	copies := false
	for i, f := range r.Stack {
		switch f.Function {
		case "runtime.copystack", "runtime.stackalloc", "runtime.stackfree":
			copies = true
		case "runtime.newstack":
			if copies {
				return i
			}
			return -1 // a preemption
		}
	}
	return -1
}

// goroutine is the frame in which a row's goroutine began.
func goroutine(r *site.Row) *site.Frame {
	for i := len(r.Stack) - 1; i >= 0; i-- {
		if !rule.Named(r.Stack[i].Function, "runtime.goexit", "sync.(*WaitGroup).Go.func1") {
			return r.Stack[i]
		}
	}
	return r.Stack[len(r.Stack)-1]
}

// module is the first frame of a module from i on; nil when there is none.
func module(r *site.Row, i int) *site.Frame {
	for _, f := range r.Stack[i:] {
		if f.Owner.Kind == gocode.Main || f.Owner.Kind == gocode.Dependency {
			return f
		}
	}
	return nil
}

// most is the frame with the largest sum; nil for none.
func most(sums map[*site.Frame]int64) *site.Frame {
	var best *site.Frame
	for f, n := range sums {
		if best == nil || n > sums[best] || n == sums[best] && (f.File < best.File || f.File == best.File && f.Line < best.Line) {
			best = f
		}
	}
	return best
}

// siteOf is the table's site of a frame, or one without costs.
func siteOf(p *rule.Pass, f *site.Frame) *site.Site {
	for _, s := range p.Table.Sites {
		if s.File == f.File && s.Line == f.Line && s.Function == f.Function {
			return s
		}
	}
	return &site.Site{Frame: *f}
}
