package diagnose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/parallelism"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

func diagnose(t *testing.T, p *rule.Pass, rules ...rule.Rule) *Report {
	t.Helper()
	report, err := run(t.Context(), p, price, rules, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// order lists the findings as "rule function:line".
func order(r *Report) string {
	var out []string
	for i, f := range r.Findings {
		if f.Rank != i+1 {
			return "wrong ranks"
		}
		out = append(out, f.Rule+"@"+f.Function)
	}
	return strings.Join(out, " ")
}

func TestEmptyReport(t *testing.T) {
	r := diagnose(t, pass())
	if r.Findings == nil || r.Notes == nil || len(r.Findings) != 0 || r.Hidden.BelowFloor != 0 {
		t.Errorf("%+v", r)
	}
}

func TestNothingRecorded(t *testing.T) {
	p := &rule.Pass{Table: &site.Table{}, Manifest: &recording.Manifest{}}
	r, err := Run(t.Context(), p, Choice{})
	if err != nil || len(r.Findings) != 0 || r.Resources.Limiting != limitNone {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRulePanics: a rule that panics becomes a note, and costs its own findings only.
func TestRulePanics(t *testing.T) {
	bad := finds("bad")
	bad.Finder = finder.Groups{Rows: func(context.Context, *rule.Pass) ([]rule.Match, error) {
		var none []int
		return nil, fmt.Errorf("%d", none[len(none)])
	}}
	r, err := run(t.Context(), pass(), price, []rule.Rule{bad, finds("x")}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, n := range r.Notes {
		found = found || strings.Contains(n, "rule bad failed") && strings.Contains(n, "index out of range") && strings.Contains(n, "run_test.go:")
	}
	if !found {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestRuleFails(t *testing.T) {
	bad := finds("bad")
	bad.Finder = finder.Groups{Rows: func(context.Context, *rule.Pass) ([]rule.Match, error) { return nil, errors.New("no luck") }}
	if _, err := run(t.Context(), pass(), price, []rule.Rule{bad}, Choice{}); err == nil || err.Error() != "rule bad: no luck" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, pass(), price, []rule.Rule{finds("x")}, Choice{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestGrouping: the lines that one rule finds in one function are one finding, the most expensive
// line first.
func TestGrouping(t *testing.T) {
	a, b := at("main.f", "f.go", 10), at("main.f", "f.go", 20)
	other := at("main.g", "f.go", 30)
	entry := at("main.handler", "handlers.go", 41).Frame
	b.Entry = &entry
	r := diagnose(t, pass(), finds("x",
		rule.Match{Site: a, CPU: []*site.Row{cpu(50, "fmt.Sprintf", "main.f")}, Cause: "Line 10."},
		rule.Match{Site: b, CPU: []*site.Row{cpu(100, "fmt.Sprintf", "main.f")}, Cause: "Line 20.", Fix: "Fix 20."},
		rule.Match{Site: other, CPU: []*site.Row{cpu(60, "fmt.Sprintf", "main.g")}},
	))
	if got := order(r); got != "x@main.f x@main.g" {
		t.Fatal(got)
	}
	f := r.Findings[0]
	if f.Line != 20 || len(f.Sites) != 2 || f.Sites[0].Line != 20 || f.Sites[1].Line != 10 || f.File != "f.go" {
		t.Errorf("%+v", f)
	}
	if f.Entry == nil || *f.Entry != (Place{"main.handler", "handlers.go", 41}) {
		t.Errorf("entry %+v", f.Entry)
	}
	if !strings.HasPrefix(f.Cause, "Line 20. The same on line 10. It takes 15 % of CPU") || f.Fix != "Fix 20." {
		t.Errorf("cause %q, fix %q", f.Cause, f.Fix)
	}
	if got := *f.Cost.CPUShare; math.Abs(got-0.15) > 1e-9 {
		t.Errorf("CPU share %g", got)
	}
	if s := f.Saving; s.Resource != "cpu" || math.Abs(s.Share-crowded(0.8*0.15)) > 1e-6 || s.Low >= s.Share || s.High <= s.Share {
		t.Errorf("saving %+v", s)
	}
	if f.Cost.WaitShare != nil || f.Cost.LiveBytes != nil {
		t.Error("what was not recorded must be absent")
	}
}

// TestOverlap: the inner finding keeps its rows, the outer one has the rest, and is dropped if
// nothing remains.
func TestOverlap(t *testing.T) {
	s := at("main.f", "f.go", 10)
	inner := cpu(100, "strconv.Itoa", "metrics.With", "main.f")
	rest := cpu(100, "metrics.With", "main.f")
	r := diagnose(t, pass(),
		finds("outer", rule.Match{Site: s, CPU: []*site.Row{inner, rest}, Callees: []string{"metrics.With"}}),
		finds("inner", rule.Match{Site: s, CPU: []*site.Row{inner}, Callees: []string{"strconv.Itoa"}}),
		finds("void", rule.Match{Site: s, CPU: []*site.Row{inner}}),
	)
	if got := order(r); got != "inner@main.f outer@main.f" {
		t.Fatal(got)
	}
	for _, f := range r.Findings {
		if math.Abs(*f.Cost.CPUShare-0.1) > 1e-9 {
			t.Errorf("%s costs %g", f.Rule, *f.Cost.CPUShare)
		}
	}
	if r.Hidden.BelowFloor != 0 {
		t.Error("a finding without cost is not hidden, it is none")
	}
}

func TestFloor(t *testing.T) {
	s, u, v := at("main.f", "f.go", 1), at("main.g", "f.go", 2), at("main.h", "f.go", 3)
	match := func(s *site.Site, samples int64) rule.Match {
		return rule.Match{Site: s, CPU: []*site.Row{cpu(samples, "x", s.Function)}}
	}
	r := diagnose(t, pass(), finds("x", match(s, 20), match(u, 9), match(v, 1)))
	if got := order(r); got != "x@main.f" || r.Hidden.BelowFloor != 2 || r.Hidden.Floor != 0.01 {
		t.Errorf("%s, %+v", got, r.Hidden)
	}
	// Of 1.2 % of CPU the fix is expected to save 0.96 %.
	r = diagnose(t, pass(), finds("x", match(s, 20), match(u, 12)))
	if got := order(r); got != "x@main.f" || r.Hidden.BelowFloor != 1 {
		t.Errorf("%s, %+v", got, r.Hidden)
	}
	// In a profile of a hundred samples, five samples are 5 %, and may be chance.
	p := pass()
	p.Table.Totals.TotalSeconds, p.Table.Totals.CPUSamples = 1, 100
	r = diagnose(t, p, finds("x", match(s, 20), match(u, 5)))
	if got := order(r); got != "x@main.f" || r.Hidden.BelowFloor != 1 || r.Hidden.Floor != 0.06 {
		t.Errorf("%s, %+v", got, r.Hidden)
	}
	if floor(0) != leastShare || floor(1) != 1 || floor(1_000_000) != leastShare {
		t.Error("the floor is between 1 % and everything")
	}
}

// TestRank: by saving; hints last; findings about the limiting resource first.
func TestRank(t *testing.T) {
	match := func(function string, samples int64, c rule.Confidence) rule.Match {
		return rule.Match{Site: at(function, "f.go", 1), CPU: []*site.Row{cpu(samples, "x", function)}, Confidence: c}
	}
	waits := func(function string, ms int64) rule.Match {
		return rule.Match{Site: at(function, "f.go", 1), Mutex: []*site.Row{row(1000, ms*1e6, "sync.(*Mutex).Unlock", function)}}
	}
	rules := []rule.Rule{
		finds("work", match("main.small", 50, ""), match("main.large", 200, "")),
		finds("guess", match("main.guess", 400, rule.Hint)),
		finds("lock", waits("main.locked", 12_000)), // of 40 s of requests
		finds("setting", rule.Match{Saving: &rule.Saving{Seconds: 1.2, Low: 1, High: 1.4}}),
	}
	saturated := diagnose(t, pass(), rules...)
	if got := order(saturated); got != "work@main.large setting@ work@main.small lock@main.locked guess@main.guess" {
		t.Error("CPU limits:", got)
	}
	p := pass()
	busy(p, 0.2)
	idle := diagnose(t, p, rules...)
	if got := order(idle); got != "lock@main.locked work@main.large setting@ work@main.small guess@main.guess" {
		t.Error("latency limits:", got)
	}
	lock := idle.Findings[0]
	if s := lock.Saving; s.Resource != "latency" || math.Abs(s.Share-0.8*12/40) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if lock.Cost.WaitShare == nil || *lock.Cost.WaitShare != 0.75 {
		t.Errorf("%+v", lock.Cost)
	}
}

func TestTies(t *testing.T) {
	match := func(function string, samples int64) rule.Match {
		return rule.Match{Site: at(function, "f.go", 1), CPU: []*site.Row{cpu(samples, "x", function)}}
	}
	exact := finds("x", match("main.a", 400), match("main.b", 60), match("main.c", 45), match("main.d", 12))
	exact = claiming(exact, func(c *rule.Claim) { c.Fraction = rule.Fraction{Expect: 1, Low: 1, High: 1} })
	r := diagnose(t, pass(), exact)
	var ties [][]int
	for _, f := range r.Findings {
		ties = append(ties, f.TiedWith)
	}
	if want := [][]int{nil, {3}, {2}, nil}; !slices.EqualFunc(ties, want, slices.Equal[[]int]) {
		t.Errorf("ties %v, want %v", ties, want)
	}
	// 6 % and 4.5 % of 10 s: 7.7 and 6.7 samples of half an interval in 15 apart.
	if !slices.ContainsFunc(r.Notes, func(n string) bool {
		return strings.HasSuffix(n, "CPU-seconds would separate 2 from 3 (this profile has 10)")
	}) {
		t.Errorf("notes %q", r.Notes)
	}
	// If the savings of fixes overlap, a longer run does not separate them.
	wide := finds("x", match("main.b", 60), match("main.c", 55))
	r = diagnose(t, pass(), wide)
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "the order of 1 to 2 is not significant") }) {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestSeparated: after the promised time the expected intervals are disjoint, and before it they
// are not.
func TestSeparated(t *testing.T) {
	draftOf := func(samples int64) *draft {
		share := stats.Poisson(samples).Scale(0.001)
		return &draft{fraction: stats.Interval{Value: 1, Low: 1, High: 1}, saving: &saving{resource: limitCPU, share: share, sampled: share}}
	}
	a, b := draftOf(60), draftOf(40)
	if !overlap(a.saving.share, b.saving.share) {
		t.Fatal("not tied to begin with")
	}
	got := separated(a, b, 10)
	if got == 0 || overlap(a.after(got/10), b.after(got/10)) {
		t.Errorf("%g s do not separate", got)
	}
	for _, less := range moreTime {
		if less < got && less > 10 && !overlap(a.after(less/10), b.after(less/10)) {
			t.Errorf("%g s would do, not %g", less, got)
		}
	}
	if separated(a, a, 10) != 0 {
		t.Error("equal findings are never separated")
	}
}

// TestDependency: a finding in a dependency names it and its version.
func TestDependency(t *testing.T) {
	s := at("chi.compress", "middleware/compress.go", 7)
	s.Owner = gocode.Owner{Kind: gocode.Dependency, Module: "example.com/chi", Version: "v3.3.4", File: "middleware/compress.go"}
	r := diagnose(t, pass(), finds("x", rule.Match{Site: s, CPU: []*site.Row{cpu(100, "x", "chi.compress")}, Fix: "Reuse it."}))
	f := r.Findings[0]
	if f.Module != "example.com/chi" || f.Version != "v3.3.4" || !strings.Contains(f.Fix, "example.com/chi v3.3.4") {
		t.Errorf("%+v", f)
	}
	// If the fix is in the program's lines that call it, nothing is proposed to the dependency.
	r = diagnose(t, pass(), finds("x", rule.Match{Site: s, CPU: []*site.Row{cpu(100, "x", "chi.compress")}, Fix: "Do not compress.", Callers: true}))
	if got := r.Findings[0].Fix; got != "Do not compress." {
		t.Error(got)
	}
}

// TestSmallSavingsInDependencies: what saves little is a hint where readers can only propose it.
func TestSmallSavingsInDependencies(t *testing.T) {
	for _, test := range []struct {
		owner   gocode.Kind
		samples int64
		callers bool
		want    rule.Confidence
	}{
		{gocode.Dependency, 15, false, rule.Hint},
		{gocode.Dependency, 100, false, rule.Measured},
		{gocode.Dependency, 15, true, rule.Measured},
		{gocode.Main, 15, false, rule.Measured},
	} {
		s := at("chi.compress", "middleware/compress.go", 7)
		s.Owner = gocode.Owner{Kind: test.owner, Module: "example.com/chi", Version: "v3.3.4"}
		r := diagnose(t, pass(), finds("x", rule.Match{Site: s, CPU: []*site.Row{cpu(test.samples, "x", "chi.compress")}, Confidence: rule.Measured, Callers: test.callers}))
		if got := r.Findings[0].Confidence; got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// TestNoCPUProfile: without a CPU profile savings are unknown, but the lines that allocate most are
// still reported, the most expensive first.
func TestNoCPUProfile(t *testing.T) {
	p := pass()
	p.Table.Totals.TotalSeconds, p.Table.Totals.CPUSamples = 0, 0
	match := func(function string, mib int64) rule.Match {
		return rule.Match{Site: at(function, "f.go", 1), Allocs: []*site.Row{row(1000, mib<<20, function)}}
	}
	r, err := run(t.Context(), p, blind{}, []rule.Rule{finds("x", match("main.less", 10), match("main.more", 40), match("main.tiny", 0))}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if got := order(r); got != "x@main.more x@main.less" {
		t.Fatal(got)
	}
	f := r.Findings[0]
	if f.Saving != nil || f.Cost.CPUShare != nil || *f.Cost.AllocBytesShare != 0.4 || f.Sites[0].Share != 0.4 {
		t.Errorf("%+v", f)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// mallocs prices a part of the CPU as allocating.
type mallocs struct{ prices }

func (m mallocs) Price(cpu, allocs []*site.Row) (site.Cost, stats.Interval) {
	c, spread := m.prices.Price(cpu, allocs)
	c.MallocSeconds = c.CPUSeconds / 2
	return c, spread
}

// TestSavingBesides: code that allocates slows down other code, so a fix saves more than its lines
// cost.
func TestSavingBesides(t *testing.T) {
	boxes := finds("boxes", rule.Match{Site: at("main.f", "f.go", 1), CPU: []*site.Row{cpu(200, "main.f")}})
	save := func(pr pricer) *Saving {
		r, err := run(t.Context(), pass(), pr, []rule.Rule{boxes}, Choice{})
		if err != nil || len(r.Findings) != 1 {
			t.Fatal(r, err)
		}
		return r.Findings[0].Saving
	}
	plain, more := save(prices{}), save(mallocs{})
	if want := crowded(0.8*(0.2+spill.Value*0.1)) - crowded(0.8*0.2); math.Abs(more.Share-plain.Share-want) > 1e-6 { // fraction × spill × 1 s of 10
		t.Errorf("saves %.4f, without allocations %.4f; want %.4f more", more.Share, plain.Share, want)
	}
	if more.Low < plain.Low || more.High < plain.High+0.02 {
		t.Errorf("%+v, without allocations %+v", more, plain)
	}
}

// TestSavingIsOfOthers: a line of nearly all CPU leaves little to others, so its garbage costs them
// little, however slow the program is while the collector marks. The 87 % never become 100 %.
func TestSavingIsOfOthers(t *testing.T) {
	p := pass()
	p.Table.Totals.D, p.Table.Totals.A, p.Table.Totals.W = 0.5, 0, 0
	p.Trace = &analysis.Results{Parallelism: &parallelism.Result{Marking: parallelism.Marking{
		LostCPU: stats.Interval{Value: 0.3, Low: 0.2, High: 0.4}, SlowerByCPU: stats.Interval{Value: 3, Low: 2, High: 4},
	}}}
	line := finds("line", rule.Match{
		Site: at("main.f", "f.go", 1), CPU: []*site.Row{cpu(820, "main.f")}, Allocs: []*site.Row{row(10, 100<<20, "main.f")},
	})
	line = claiming(line, func(c *rule.Claim) { c.Fraction = rule.Fraction{Expect: 1, Low: 1, High: 1} })
	r, err := run(t.Context(), p, mallocs{prices{secondsPerByte: 0.5 / (100 << 20)}}, []rule.Rule{line}, Choice{})
	if err != nil || len(r.Findings) != 1 {
		t.Fatal(r, err)
	}
	f := r.Findings[0]
	if cost, others := f.Cost.WithGC.Share, 0.13; f.Saving.Share < cost || f.Saving.Share > cost+others/2 {
		t.Errorf("saves %+v, the line and its collection cost %.3f, others %.2f", *f.Saving, cost, others)
	}
}

// TestUrgentComesFirst: what grows until the program fails comes before what costs time, without a
// saving.
func TestUrgentComesFirst(t *testing.T) {
	urgent := finds("urgent", rule.Match{Site: at("main.leak", "l.go", 1)})
	urgent.Urgent = true
	slow := finds("slow", rule.Match{Site: at("main.f", "f.go", 1), CPU: []*site.Row{cpu(500, "main.f")}})
	r := diagnose(t, pass(), slow, urgent)
	if got := order(r); got != "urgent@main.leak slow@main.f" {
		t.Fatal(got)
	}
	if f := r.Findings[0]; f.Saving != nil || f.TiedWith != nil {
		t.Errorf("%+v", f)
	}
}
