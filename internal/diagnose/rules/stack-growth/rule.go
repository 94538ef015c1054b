// Package stackgrowth finds goroutines that outgrow their stacks each time one is started.
package stackgrowth

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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
	// leastShare of CPU that growing the stacks of the goroutines of one function must take.
	leastShare = 0.02
	// leastForeign is leastShare of goroutines that a dependency starts: readers can only propose
	// a change there, and calling it less often may save as much.
	leastForeign = 0.05
	// leastSamples is the minimum number of samples of it.
	leastSamples = 8
)

// Rule is stack-growth.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "stack-growth",
		Kind:  rule.Goroutine,
		Title: "Goroutines that grow their stacks again and again",
		Doc:   doc,
		Finder: finder.Groups{
			Claim: rule.Claim{
				// Goroutines that are kept grow their stacks once. A collection may still shrink
				// stacks that are mostly unused.
				Fraction: rule.Fraction{Expect: 0.8, Low: 0.4, High: 1},
			},
			Rows: outgrown,
		},
	}
}

const doc = `A goroutine starts with a few KiB of stack. Each time that does not suffice, the
runtime allocates a stack of twice the size, copies the old one and adjusts every
pointer into it. A long-lived goroutine pays once. One that is started for each
small piece of work pays each time, and the profile charges whichever function
happened to need the space.

Keep the goroutines and send them work over a channel, or do the work in place.
Or make the large stack frame smaller: usually it holds an array of some KiB.
(Since Go 1.19 goroutines start with the average stack size that the last
collection saw, which helps when most of them are alike.)

It is fine when deep recursion needs the stack once, and where a server such as
net/http starts a goroutine for each connection or request: a program cannot keep
those. There (where goroutines of the standard library or of a module run your
code) the rule reports only large variables in your own functions, and
grpc.NumStreamWorkers.

Seen in the field: grpc/grpc-go#3204 (workers that reuse their stacks),
golang/go#18138, cockroachdb/cockroach#100434.`

// growth is the CPU of growing the stacks of goroutines that start in one function.
type growth struct {
	entry *site.Frame
	rows  []*site.Row
	at    []int // for each row, the index of runtime.newstack in its stack
}

// outgrown returns a match for each function whose goroutines outgrow their stacks.
func outgrown(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	if p.Table.Totals.TotalSeconds <= 0 {
		return nil, nil
	}
	byEntry := map[string]*growth{}
	serves := map[string]bool{} // functions of dependencies whose goroutines run the program's code
	p.EachRow(func(r *site.Row) {
		if len(r.Stack) == 0 {
			return // a sample without frames
		}
		entry := goroutine(r)
		if entry.Owner.Kind == gocode.Dependency && slices.ContainsFunc(r.Stack, ofMain) {
			serves[entry.Function] = true
		}
		at := grew(r)
		if at < 0 {
			return
		}
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
		kind := g.entry.Owner.Kind
		if kind == gocode.Main || kind == gocode.Dependency && !serves[g.entry.Function] {
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
		if p.Place(m.Site) == nil {
			m.Confidence = rule.Hint
		}
		m.Evidence = []rule.Evidence{{What: "CPU in growing stacks", Value: fmt.Sprintf("%s (%s)", share, units.Some(float64(samples), "sample")), Command: evidence.TopCommand(p, "cpu")}}
		matches = append(matches, m)
	}
	slices.SortFunc(matches, func(a, b rule.Match) int { return cmp.Compare(a.Cause, b.Cause) })
	return matches, nil
}

// ofMain reports whether a frame is in the main module.
func ofMain(f *site.Frame) bool { return f.Owner.Kind == gocode.Main }

// started returns the match for goroutines that the program itself starts, or a dependency for its
// own work.
func (g *growth) started(p *rule.Pass, all locals) (rule.Match, bool) {
	where := map[*site.Frame]int64{} // the lines whose stack was too small
	for i, r := range g.rows {
		if f := module(r, g.at[i]); f != nil {
			where[f] += r.Value
		}
	}
	least := leastShare
	if g.entry.Owner.Kind == gocode.Dependency {
		least = leastForeign
	}
	share, enough := worth(p, g.rows, least)
	f := most(where)
	if !enough || f == nil {
		return rule.Match{}, false
	}
	smaller := "make large local arrays smaller"
	if v := all.of(f); v.name != "" {
		smaller = "make " + v.String() + " smaller"
	}
	return rule.Match{
		Site: p.Site(f), CPU: g.rows, Confidence: rule.Likely, // only the cost shows that the goroutines are short-lived
		Cause: fmt.Sprintf("Goroutines that start in %s outgrow their stacks again and again: copying stacks takes %s of CPU, most of it when line %d needs space.",
			g.entry.Function, share, f.Line),
		Fix: "Keep these goroutines and send them work, so that a stack grows once; or do the work in place, or " + smaller + ".",
	}, true
}

// served returns the match for goroutines that a library starts, one for each connection or
// request: the program cannot keep them, but its functions that run on them may need less stack.
func (g *growth) served(p *rule.Pass, all locals) (rule.Match, bool) {
	where := map[*site.Frame]int64{}
	var rows []*site.Row
	for i, r := range g.rows {
		if f := all.large(r, g.at[i]); f != nil {
			where[f] += r.Value
			rows = append(rows, r)
		}
	}
	if share, enough := worth(p, rows, leastShare); enough {
		f := most(where)
		v := all.of(f)
		return rule.Match{
			Site: p.Site(f), CPU: rows, Confidence: rule.Likely,
			Cause: fmt.Sprintf("%s starts goroutines that outgrow their stacks because of %s: copying stacks takes %s of CPU where %s is on the stack.",
				g.entry.Function, v, share, v.name),
			Fix: fmt.Sprintf("Make %s smaller, or take it from a sync.Pool: the program cannot keep these goroutines.", v.name),
		}, true
	}
	if share, enough := worth(p, g.rows, leastShare); enough && funcname.Match(g.entry.Function, "google.golang.org/grpc.(*Server).serveStreams.*") {
		return rule.Match{
			Site: p.Site(g.entry), CPU: g.rows, Confidence: rule.Hint,
			Cause: fmt.Sprintf("gRPC starts a goroutine for each call, and its stack grows each time: copying stacks takes %s of CPU.", share),
			Fix:   "Try the server option grpc.NumStreamWorkers, which keeps goroutines; it is experimental.",
		}, true
	}
	return rule.Match{}, false
}

// worth returns the share of CPU of rows, as text, and reports whether it is worth a finding.
func worth(p *rule.Pass, rows []*site.Row, least float64) (string, bool) {
	spent, samples := stacks.Sum(rows)
	share := float64(spent) / 1e9 / p.Table.Totals.TotalSeconds
	return units.Percent(share), share >= least && samples >= leastSamples
}

// grew returns the index of runtime.newstack in a row that grows a stack; -1 when it does not.
func grew(r *site.Row) int {
	copies := false
	for i, f := range r.Stack {
		switch f.Function {
		case "runtime.copystack", "runtime.stackalloc", "runtime.stackfree", "runtime.funcMaxSPDelta": // the last finds how much is needed
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

// goroutine returns the frame of the function that a row's goroutine runs. Helpers that only start
// functions are skipped.
func goroutine(r *site.Row) *site.Frame {
	for i := len(r.Stack) - 1; i >= 0; i-- {
		if !funcname.Match(r.Stack[i].Function, "runtime.goexit", "sync.(*WaitGroup).Go.func*", "golang.org/x/sync/errgroup.(*Group).Go.func*",
			"golang.org/x/sync/errgroup.(*Group).TryGo.func*", "time.goFunc", "context.(*afterFuncCtx).*") {
			return r.Stack[i]
		}
	}
	return r.Stack[len(r.Stack)-1]
}

// module returns the first frame from i on in the source of the main module or of a dependency; nil
// for none.
func module(r *site.Row, i int) *site.Frame {
	for _, f := range r.Stack[i:] {
		if strings.HasSuffix(f.File, "<autogenerated>") {
			continue
		}
		if f.Owner.Kind == gocode.Main || f.Owner.Kind == gocode.Dependency {
			return f
		}
	}
	return nil
}

// most returns the frame with the largest sum; nil for none.
func most(sums map[*site.Frame]int64) *site.Frame {
	var best *site.Frame
	for f, n := range sums {
		if best == nil || n > sums[best] || n == sums[best] && (f.File < best.File || f.File == best.File && f.Line < best.Line) {
			best = f
		}
	}
	return best
}
