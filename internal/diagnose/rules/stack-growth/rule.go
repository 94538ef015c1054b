// Package stackgrowth finds goroutines whose stacks grow again and again.
package stackgrowth

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
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
		Finder: finder.Lines{
			Claim: rule.Claim{
				// Kept goroutines grow once; a collection may still shrink stacks that are mostly unused.
				Fraction: rule.Fraction{Expect: 0.8, Low: 0.4, High: 1},
			},
			Loop: find,
		},
	}
}

const doc = `A goroutine starts with a few KiB of stack. Each time that does not suffice, the
runtime takes a stack of twice the size, copies the old one and adjusts every
pointer into it. A goroutine that lives long pays once. One that is started for
each small piece of work pays each time, and the profile blames whichever
innocent function happened to need the space.

Keep the goroutines and hand them work over a channel, or do the work in place;
or make the large frame smaller: an array of some KiB as a local variable is
usually the one. (Since Go 1.19 goroutines start with the average stack that the
last collection saw, which helps when most of them are alike.)

It is fine when deep recursion needs the stack once, and where a server starts
the goroutine, one for each connection or request, as net/http does: nobody can
keep those. There the rule speaks only of large variables in your own functions,
and of grpc.NumStreamWorkers.

Seen in the field: grpc/grpc-go#3204 (workers that reuse their stacks),
golang/go#18138, cockroachdb/cockroach#100434.`

// growth is the CPU of growing the stacks of goroutines that one function starts in.
type growth struct {
	entry *site.Frame
	rows  []*site.Row
	at    []int // by row: where in its stack newstack stands
}

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	if p.Table.Totals.TotalSeconds <= 0 {
		return nil, nil
	}
	byEntry := map[string]*growth{}
	p.EachRow(func(r *site.Row) {
		at := grew(r)
		if at < 0 {
			return
		}
		entry := goroutine(r)
		g := byEntry[entry.Function]
		if g == nil {
			g = &growth{entry: entry}
			byEntry[entry.Function] = g
		}
		g.rows, g.at = append(g.rows, r), append(g.at, at)
	})
	locals := locals{p, map[string]local{}}
	var matches []rule.Match
	for _, g := range byEntry {
		var m rule.Match
		var ok bool
		if g.entry.Owner.Kind == gocode.Main {
			m, ok = g.started(p, locals)
		} else {
			m, ok = g.served(p, locals)
		}
		if !ok {
			continue
		}
		spent, samples := stacks.Sum(m.CPU)
		share := units.Percent(float64(spent) / 1e9 / p.Table.Totals.TotalSeconds)
		m.Callees = []string{"runtime.newstack"}
		m.Evidence = []rule.Evidence{{What: "CPU in growing stacks", Value: fmt.Sprintf("%s (%s)", share, units.Some(float64(samples), "sample")), Command: evidence.TopCommand(p, "cpu")}}
		if p.Place(m.Site) == nil {
			m.Confidence = rule.Hint
		}
		matches = append(matches, m)
	}
	slices.SortFunc(matches, func(a, b rule.Match) int { return cmp.Compare(a.Cause, b.Cause) })
	return matches, nil
}

// started is the match for goroutines that the program itself starts.
func (g *growth) started(p *rule.Pass, all locals) (rule.Match, bool) {
	where := map[*site.Frame]int64{} // where the stack was too small
	for i, r := range g.rows {
		if f := module(r, g.at[i]); f != nil {
			where[f] += r.Value
		}
	}
	share, enough := worth(p, g.rows)
	f := most(where)
	if !enough || f == nil {
		return rule.Match{}, false
	}
	smaller := "make large local arrays smaller"
	if v := all.of(f); v.name != "" {
		smaller = "make " + v.String() + " smaller"
	}
	return rule.Match{
		Site: siteOf(p, f), CPU: g.rows, Confidence: rule.Likely, // that the goroutines are short-lived follows from the cost
		Cause: fmt.Sprintf("Goroutines that start in %s outgrow their stacks again and again: copying stacks takes %s of CPU, most of it when line %d needs space.",
			g.entry.Function, share, f.Line),
		Fix: "Keep these goroutines and hand them work, so that a stack grows once; or do the work in place, or " + smaller + ".",
	}, true
}

// served is the match for goroutines that a library starts, one for each connection or request: the program cannot
// keep them, but its own functions on them may need less stack.
func (g *growth) served(p *rule.Pass, all locals) (rule.Match, bool) {
	where := map[*site.Frame]int64{}
	var rows []*site.Row
	for i, r := range g.rows {
		if f := all.large(r, g.at[i]); f != nil {
			where[f] += r.Value
			rows = append(rows, r)
		}
	}
	if share, enough := worth(p, rows); enough {
		f := most(where)
		v := all.of(f)
		return rule.Match{
			Site: siteOf(p, f), CPU: rows, Confidence: rule.Likely,
			Cause: fmt.Sprintf("%s starts goroutines whose stacks %s outgrows: copying stacks takes %s of CPU where %s is on them.",
				g.entry.Function, v, share, v.name),
			Fix: fmt.Sprintf("Make %s smaller, or take it from a sync.Pool: the goroutines are not the program's to keep.", v.name),
		}, true
	}
	if share, enough := worth(p, g.rows); enough && funcname.Match(g.entry.Function, "google.golang.org/grpc.(*Server).serveStreams.*") {
		return rule.Match{
			Site: siteOf(p, g.entry), CPU: g.rows, Confidence: rule.Hint,
			Cause: fmt.Sprintf("gRPC starts a goroutine for each call, and its stack grows each time: copying stacks takes %s of CPU.", share),
			Fix:   "Try the server option grpc.NumStreamWorkers, which keeps goroutines; it is experimental.",
		}, true
	}
	return rule.Match{}, false
}

// worth returns the share of CPU of some rows, as text, and reports whether it is worth a finding.
func worth(p *rule.Pass, rows []*site.Row) (string, bool) {
	spent, samples := stacks.Sum(rows)
	share := float64(spent) / 1e9 / p.Table.Totals.TotalSeconds
	return units.Percent(share), share >= leastShare && samples >= leastSamples
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

// goroutine is the frame in which a row's goroutine started: what helpers that only start functions were given.
func goroutine(r *site.Row) *site.Frame {
	for i := len(r.Stack) - 1; i >= 0; i-- {
		if !funcname.Match(r.Stack[i].Function, "runtime.goexit", "sync.(*WaitGroup).Go.func*", "golang.org/x/sync/errgroup.(*Group).Go.func*",
			"golang.org/x/sync/errgroup.(*Group).TryGo.func*", "time.goFunc", "context.(*afterFuncCtx).*") {
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
