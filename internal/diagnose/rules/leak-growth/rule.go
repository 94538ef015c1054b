// Package leakgrowth finds lines of a service whose live memory only grows.
package leakgrowth

import (
	"cmp"
	"context"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/labelled"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastBytes that a line must have gained in the window: four times what one sample of the heap
	// represents.
	leastBytes = 2 << 20
	// leastShare of live memory that the line must have gained in the window.
	leastShare = 0.02
	// stays is the minimum part of what the line allocated in the window that must be live at its
	// end, if the source does not show what retains it. A growing map or slice leaves more than the
	// rest behind as garbage.
	stays = 0.5
	// leastRequests in the window, each of which leaves perRequest objects behind on average.
	leastRequests = 500
	perRequest    = 0.5
	// seldom is how often entries are removed for each time that one is added, below which that
	// does not help.
	seldom = 0.01
	// most is how often entries may be removed for each time that one is added, where the memory of
	// the entries is known to grow.
	most = 0.5
)

// Rule is leak-growth.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "leak-growth",
		Kind:  rule.Leak,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Memory that grows and is never released",
		Doc:   doc,
		Finder: finder.Groups{
			Claim: rule.Claim{
				// How much of it is needed is not known: a cache with a limit keeps some. In nine
				// pairs of tools/field the fix left less than a tenth.
				Fraction: rule.Fraction{Expect: 0.8, Low: 0.3, High: 1},
				Keeps:    true,
			},
			Rows: find,
		},
	}
}

const doc = `The recording takes heap profiles, each after a collection. If most of what a
line allocated between two of them is still live, something retains it: a map
that is only written, a list that is only appended to. In a service that means
growth for as long as it runs, until the memory limit. Memory of requests under
way does not count: at the end less of it is live than all requests so far would
have left behind.

Bound it: a cache needs a size limit and eviction (LRU, by age), a registry must
remove entries when their objects end. Close what has to be closed, on all
paths.

It is fine while a cache with a limited number of keys fills up: a recording that
starts when the service has been under load for a while shows the difference. It
is fine where a goroutine removes what is too old from time to time; the rule
leaves such containers alone. Findings are hints, except for maps and slices of
the package or of a struct from which nothing in the package ever removes
anything, or nothing did while executions were counted; and for lines of which
every request leaves an object behind. For benchmarks the rule examines what is
left after the last one.
Where the container that grows is in another module, the finding names it, and
blames the module unless it has a function that removes entries. If a value has a
method that ends it (Close, Stop) and leaves it in the container, it names both.
Lines whose memory one container keeps are one finding.
Without a container, a chain may keep all: each value refers to the one before. Of
values that a loop opens, it names the return that drops them when a later one
fails.

Seen in the field: cortexproject/cortex#4739 (labels kept for each tenant),
golang/go#20135 (maps do not shrink, even when entries are deleted),
cockroachdb/cockroach#149658 (contexts whose cancel function nobody calls).`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	w, ok := windowOf(p)
	if !ok || w.phase.Seconds <= 0 || p.Manifest.Target.Kind == "program" && w.requests < leastRequests {
		return nil, nil // what a program that exits builds up is its result; what benchmarks leave after they finish is not
	}
	lines, calls := grownCalls(p)
	said := map[*growth]rule.Confidence{}
	var matches joined
	if len(flow.Holders(p)) > 0 { // which rows-not-closed reports: whoever opens the next connection is innocent
		connects := func(g *growth) bool { return connecting(g.live) }
		calls = slices.DeleteFunc(calls, connects)
		lines = slices.DeleteFunc(lines, func(l growth) bool { return connects(&l) })
	}
	if series := labelled.SeriesOf(p); len(series) > 0 { // which unbounded-labels reports
		calls = slices.DeleteFunc(calls, func(g *growth) bool { return labelled.Explains(series, g.live) })
		lines = slices.DeleteFunc(lines, func(l growth) bool { return labelled.Explains(series, l.live) })
	}
	for _, c := range calls {
		m, ok := w.judge(*c)
		// If a call is only a hint, a line that it explains may show what holds the memory.
		if ok && (m.Confidence != rule.Hint || !slices.ContainsFunc(lines, func(l growth) bool { return l.through == c })) {
			matches.add(m, held{growth: *c, container: w.container})
			said[c] = m.Confidence
		}
	}
	for _, l := range lines {
		if l.through != nil && said[l.through] == rule.Likely {
			continue
		}
		if m, ok := w.judge(l); ok {
			matches.add(m, held{growth: l, container: w.container})
		}
	}
	return matches.matches(p), nil
}

// growth is a line and the live memory that it gained.
type growth struct {
	*site.Site
	bytes, objects, made int64
	live                 []*site.Row
	callee               string  // the callee whose lines allocated it; "" for the line itself
	through              *growth // the call of the program that explains nearly all of a line; nil for none
}

// window is the time between the two heap profiles.
type window struct {
	pass     *rule.Pass
	phase    *recording.Phase
	requests int64

	container *types.Var // that keeps the memory of the line judged last; nil if that is not known
}

// windowOf returns the time between the heap profiles of a recording; false for none.
func windowOf(p *rule.Pass) (w window, ok bool) {
	ph, ok := p.Phase(recording.PhaseCPU)
	w = window{pass: p, phase: &ph, requests: ph.Requests}
	if ok && p.Manifest.Target.Kind == "program" && p.Inputs != nil && p.Inputs.Units > 0 && ph.Runs > 0 {
		w.requests = int64(float64(p.Inputs.Requests) / p.Inputs.Units * float64(ph.Runs)) // a service that loads itself
	}
	return w, ok
}

// units returns the number of units of work in the window.
func (w *window) units() float64 {
	if w.pass.Manifest.Unit() == "run" {
		return float64(max(1, w.phase.Runs))
	}
	return float64(w.requests)
}

// judge returns the match of a line; false if it is not a leak, as far as is known.
func (w *window) judge(g growth) (rule.Match, bool) {
	p := w.pass
	w.container = nil
	if g.bytes < leastBytes || float64(g.bytes) < leastShare*float64(p.Table.Totals.LiveBytes) {
		return rule.Match{}, false
	}
	m := rule.Match{Site: g.Site, Live: g.live, Confidence: rule.Hint}
	who := "this line"
	if g.callee != "" {
		who = symbol.Short(funcname.Typed(g.callee))
		m.Callees = []string{g.callee}
	}
	m.Cause = fmt.Sprintf("Of %s that %s made in %s, %s stay in memory: %s.",
		units.Bytes(float64(g.made)), who, units.Seconds(w.phase.Seconds), units.Percent(min(1, float64(g.bytes)/float64(g.made))), rate(p, w.phase, g.bytes))
	m.Fix = "Find what retains it, and bound that: a cache needs a size limit and eviction, a registry must remove entries that have ended."
	if g.callee != "" {
		m.Fix = fmt.Sprintf("Find out how %s releases what it keeps for each call (a Remove, Close, Stop, Unregister, Delete), and call that when the entry is no longer needed.", who)
		if funcname.Match(funcname.Typed(g.callee), returns...) {
			m.Fix = fmt.Sprintf("Find what retains what %s returned, and bound that: a cache needs a size limit and eviction, a registry must remove entries that have ended.", who)
		}
	}
	if w.requests >= leastRequests && float64(g.objects) >= perRequest*float64(w.requests) && !w.underWay(g) && w.accumulated(g) {
		m.Confidence = rule.Likely // a cache has fewer keys than there are requests
		m.Cause += " Each request leaves some behind."
	} else if p.Manifest.Target.Kind == "program" {
		return rule.Match{}, false // its own data
	}
	m.Evidence = []rule.Evidence{
		{What: "live memory gained between two collections", Value: fmt.Sprintf("%s in %d objects", units.Bytes(float64(g.bytes)), g.objects), Command: evidence.ListCommand(p, "inuse_space", g.Function)},
	}
	if at, kept := abandoned(p, g.live); kept != nil {
		who = evidence.Near(p, at, exectrace.Line{Function: g.Function, File: g.File, Line: g.Line})
		m.Cause = strings.Replace(m.Cause, "this line", who, 1)
		m.Site, m.Callees = at, nil
		kept.explain(&m)
	} else if waiting := w.waiting(g); waiting != nil {
		waiting.explain(&m)
	} else if at, kept := inside(p, g.live); kept != nil {
		if kept.swept {
			return rule.Match{}, false
		}
		if kept.release {
			m.Cause += fmt.Sprintf(" The line that keeps it is %s.", evidence.Near(p, g.Site, exectrace.Line{Function: at.Function, File: at.File, Line: at.Line}))
			if from := into(p, at); g.Owner.Kind == gocode.Dependency && from != nil {
				m.Site, m.Callees = from, nil // there the program can remove it, or limit what it creates
			}
			kept.fix += created(p, m.Site)
		} else { // the module has to change
			m.Site, m.Callees = at, nil
		}
		kept.explain(&m)
	} else if at, kept := contexts(p, g); kept != nil && m.Confidence == rule.Likely {
		if place := p.Place(at); at == g.Site && place != nil {
			kept = cmp.Or(uncancelled(p, at, place), kept)
		}
		if at != g.Site {
			who = evidence.Near(p, at, exectrace.Line{Function: g.Function, File: g.File, Line: g.Line})
			m.Cause = strings.Replace(m.Cause, "this line", who, 1)
		}
		m.Site, m.Callees = at, nil
		kept.explain(&m)
	} else if place := p.Place(g.Site); place != nil && !w.explained(&m, g, place) {
		return rule.Match{}, false
	}
	return m, m.Confidence == rule.Likely || float64(g.bytes) >= stays*float64(g.made)
}

// returns are functions that keep nothing: only who has their results can retain them.
var returns = []string{
	"fmt.*", "strings.*", "(*strings.*", "strconv.*", "errors.*", "bytes.*", "(*bytes.*", "slices.*", "maps.*", "io.ReadAll", "os.ReadFile",
	"encoding/*", "(*encoding/*", "net/url.*", "(*net/url.*", "time.NewTicker", "time.NewTimer", "time.After", "sync.(*Pool).*", "unique.Make*",
}

// leastWaiting goroutines that came during the recording are not those of a pool.
const leastWaiting = 1000

// waiting returns the goroutines that keep the memory of a line, because it is in the function that
// starts them, calls that one, or is called from the one that they run, and that wait at the end of
// the recording in great number; nil for none.
func (w *window) waiting(g growth) *keep {
	p := w.pass
	for i := range p.Parked {
		at := &p.Parked[i]
		came := p.Goroutines.Last - p.Goroutines.First
		if at.Count < leastWaiting || float64(at.Count) > 2*came || at.Created.Function != g.Function && at.Created.Function != g.callee && !below(g.live, at.Start.Function) {
			continue
		}
		where := evidence.Near(p, g.Site, exectrace.Line{Function: at.Function, File: at.File, Line: at.Line})
		return &keep{
			words: fmt.Sprintf("It belongs to goroutines that do not end: %d wait on %s at the end of the recording.", at.Count, where),
			fix:   fmt.Sprintf("End the goroutines that wait on %s: what they refer to is then released.", where),
		}
	}
	return nil
}

// below reports whether most of some live memory was allocated in calls of a function.
func below(live []*site.Row, function string) bool {
	all, _ := stacks.Sum(live)
	part, _ := stacks.Sum(stacks.Select(live, func(r *site.Row) bool {
		return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return f.Function == function })
	}))
	return all > 0 && float64(part) >= mostThrough*float64(all)
}

// explained adds what retains the memory, as far as the source shows that. It returns false for
// memory that is released from time to time.
func (w *window) explained(m *rule.Match, g growth, place *gocode.Place) bool {
	kept := cmp.Or(keeper(w.pass, m.Site, place), uncancelled(w.pass, m.Site, place), deferred(w.pass, m.Live), unclosed(place), timed(w, place), chained(place))
	if kept != nil {
		w.container = kept.container
		kept.explain(m)
		return !kept.swept
	}
	if m.Confidence == rule.Likely {
		at, kept := w.adopter(g)
		if kept != nil && !kept.swept {
			w.container = kept.container
			w.adopted(m, at, kept)
		}
		return kept == nil || !kept.swept
	}
	return true
}

// unclosed returns what a call on the line makes and nobody closes; nil for nothing.
func unclosed(p *gocode.Place) *keep {
	if cause, fix := flow.Unclosed(p); cause != "" {
		return &keep{words: cause, fix: fix}
	}
	return nil
}

// connecting reports whether most of some live memory was allocated when a database pool opened
// connections.
func connecting(live []*site.Row) bool {
	all, _ := stacks.Sum(live)
	part, _ := stacks.Sum(stacks.Select(live, flow.Opens))
	return all > 0 && float64(part) >= mostThrough*float64(all)
}

// rate describes how fast a line's live memory grows.
func rate(p *rule.Pass, ph *recording.Phase, bytes int64) string {
	if p.Benchmark() {
		return units.Bytes(float64(bytes)) + " are left when the benchmarks are over"
	}
	text := units.Bytes(float64(bytes)/ph.Seconds*60) + " a minute"
	if p.Manifest.Load != nil && ph.Requests > 0 {
		text = fmt.Sprintf("%s per request, %s", units.Bytes(float64(bytes)/float64(ph.Requests)), text)
	}
	return text
}
