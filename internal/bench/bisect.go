package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/gittree"
)

// BisectSchema is the version of Bisection's JSON form.
const BisectSchema = "hone/bisect/v1"

// BisectSpec says which change to look for.
type BisectSpec struct {
	Spec             // Packages names one package; Bench, Against and Tree are set by Bisect
	Name      string // of the benchmark, with or without the prefix Benchmark and the suffix -procs
	Unit      string // the metric that changed; "": the first of CPU, time, bytes and allocations that changed
	Good, Bad string // git refs; Bad "" is HEAD
}

// Bisection is the commit in which a benchmark changed.
type Bisection struct {
	Schema     string  `json:"schema"`
	Name       string  `json:"name"`
	Unit       string  `json:"unit"`
	Good       string  `json:"good"` // commit hashes
	Bad        string  `json:"bad"`
	Commits    int     `json:"commits"` // after Good, up to and including Bad
	Ratio      float64 `json:"ratio"`   // of the metric, bad / good
	Steps      []Tried `json:"steps"`
	Culprits   []Found `json:"culprits"`          // one commit, or several if those between them do not build
	Comparison *Result `json:"compare,omitempty"` // of the culprit with the commit before it; only if there is one culprit
	Confirmed  bool    `json:"confirmed"`         // Comparison shows the change, too
}

// Tried is a commit that was compared with the good one.
type Tried struct {
	Found
	Ratio   *float64 `json:"ratio,omitempty"` // to the good commit; Low and High are its 95 % interval
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	Changed bool     `json:"changed"`
	Unsure  bool     `json:"unsure,omitempty"` // the interval allows both answers; the nearer one was assumed
	Why     string   `json:"why,omitempty"`    // why it was not measured
}

// Found is a commit.
type Found struct {
	Commit  string    `json:"commit"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject,omitempty"`
}

func found(c gittree.Commit) Found { return Found{c.Hash, c.Time, c.Subject} }

// Bisect finds the commit between two others in which a benchmark changed. Each step measures a
// commit in the middle of the remaining range, interleaved with the good commit, until the interval
// of their ratio lies on one side of half the change. The commit found is then compared with the
// one before it, which also names the functions whose cost grew.
func Bisect(ctx context.Context, s BisectSpec) (*Bisection, error) {
	if s.Bad == "" {
		s.Bad = "HEAD"
	}
	if s.Progress == nil {
		s.Progress = func(Progress) {}
	}
	commits, err := gittree.Between(ctx, s.Dir, s.Good, s.Bad)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return nil, fmt.Errorf("no commits between %s and %s", s.Good, s.Bad)
	}
	good, err := gittree.Describe(ctx, s.Dir, s.Good)
	if err != nil {
		return nil, err
	}
	s.Bench = exactly("Benchmark" + bareName(s.Name))
	b := &bisect{BisectSpec: s, out: Bisection{
		Schema: BisectSchema, Name: s.Name, Good: good.Hash, Bad: commits[len(commits)-1].Hash, Commits: len(commits),
		Steps: []Tried{}, Culprits: []Found{},
	}}
	if err := b.whole(ctx); err != nil {
		return nil, err
	}
	if err := b.search(ctx, commits); err != nil {
		return nil, err
	}
	return &b.out, nil
}

// bareName returns a benchmark's name without the prefix Benchmark and the suffix -procs.
func bareName(name string) string {
	return procs.ReplaceAllString(strings.TrimPrefix(name, "Benchmark"), "")
}

type bisect struct {
	BisectSpec
	effect float64 // logarithm of the ratio of bad to good
	out    Bisection
}

// rows compares a commit with the good one.
func (b *bisect) rows(ctx context.Context, commit string, budget time.Duration, width float64, once bool) (rows []Row, err error) {
	s := b.Spec
	s.Against, s.Tree, s.SamplesOnly, s.Budget, s.Width = b.out.Good, commit, once, budget, width
	s.Progress = func(p Progress) { // only of the runs: the caller reports the commit that is built
		if p.Done > 0 && !p.End {
			b.Progress(p)
		}
	}
	r, err := Run(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(r.Benchmarks) != 1 {
		return nil, fmt.Errorf("%s is not in both %.12s and %.12s", b.Name, b.out.Good, commit)
	}
	return r.Benchmarks[0].Rows, nil
}

// errUnchanged is returned for a range in which the benchmark did not change.
var errUnchanged = errors.New("no significant change within the budget")

// whole measures the change over the whole range.
func (b *bisect) whole(ctx context.Context) error {
	rows, err := b.rows(ctx, b.out.Bad, b.Budget, b.Width, false)
	if err != nil {
		return err
	}
	for _, unit := range []string{cpuUnit, "ns/op", "B/op", "allocs/op", ""} {
		for _, row := range rows {
			wanted := row.Unit == unit && (b.Unit == "" || b.Unit == unit) || unit == "" && row.Unit == b.Unit
			changed := row.Verdict == compare.Worse || row.Verdict == compare.Better
			if wanted && changed && row.Ratio != nil && *row.Ratio > 0 {
				b.out.Unit, b.out.Ratio, b.effect = row.Unit, *row.Ratio, math.Log(*row.Ratio)
				return nil
			}
		}
	}
	return fmt.Errorf("%s from %.12s to %.12s: %w; increase -budget or choose other commits", b.Name, b.out.Good, b.out.Bad, errUnchanged)
}

// search halves the range until one commit is left, or only commits that cannot be measured.
func (b *bisect) search(ctx context.Context, commits []gittree.Commit) error {
	low, high := -1, len(commits)-1 // low is good, -1 the good commit itself; high is bad
	skipped := map[int]bool{}
	for {
		at := middle(low, high, skipped)
		if at < 0 {
			break
		}
		b.Progress(Progress{Text: fmt.Sprintf("%d commits left, trying %.12s", high-low, commits[at].Hash), End: true})
		tried := b.try(ctx, commits[at])
		if err := ctx.Err(); err != nil {
			return err
		}
		b.out.Steps = append(b.out.Steps, tried)
		switch {
		case tried.Why != "":
			skipped[at] = true
		case tried.Changed:
			high = at
		default:
			low = at
		}
	}
	for i := low + 1; i <= high; i++ {
		b.out.Culprits = append(b.out.Culprits, found(commits[i]))
	}
	if high-low > 1 {
		return nil
	}
	before := b.out.Good
	if low >= 0 {
		before = commits[low].Hash
	}
	s := b.Spec
	s.Against, s.Tree = before, commits[high].Hash
	r, err := Run(ctx, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("compare the commit with the one before: %w", err)
	}
	b.out.Comparison = r
	for _, x := range r.Benchmarks {
		for _, row := range x.Rows {
			if row.Unit == b.out.Unit && (row.Verdict == compare.Worse || row.Verdict == compare.Better) && row.Ratio != nil {
				b.out.Confirmed = (*row.Ratio > 1) == (b.out.Ratio > 1)
			}
		}
	}
	return nil
}

// middle returns the index of the commit to try next: the one nearest to the middle that was not
// skipped, or -1.
func middle(low, high int, skipped map[int]bool) int {
	best := -1
	for i := low + 1; i < high; i++ {
		if !skipped[i] && (best < 0 || abs(2*i-low-high) < abs(2*best-low-high)) {
			best = i
		}
	}
	return best
}

func abs(x int) int { return max(x, -x) }

// try measures whether a commit has the change. If the interval allows both answers, it measures
// again with four times the budget.
func (b *bisect) try(ctx context.Context, c gittree.Commit) Tried {
	t := Tried{Found: found(c)}
	for _, more := range []time.Duration{1, 4} {
		rows, err := b.rows(ctx, c.Hash, more*b.Budget, math.Abs(b.effect)/4, true)
		if err != nil {
			t.Why = err.Error()
			return t
		}
		t.Why = "it does not report " + b.out.Unit
		for _, row := range rows {
			if row.Unit != b.out.Unit || row.Ratio == nil || *row.Ratio <= 0 {
				continue
			}
			t.Why = ""
			t.Ratio, t.Low, t.High = row.Ratio, row.Low, row.High
			// The distance from half the change, on a log scale; positive if the commit has the
			// change.
			of := func(x float64) float64 { return math.Log(x)/b.effect - 0.5 }
			t.Changed = of(*row.Ratio) > 0
			t.Unsure = row.Low != nil && row.High != nil && (*row.Low <= 0 || of(*row.Low) > 0 != (of(*row.High) > 0))
		}
		if t.Why != "" || !t.Unsure {
			return t
		}
	}
	return t
}
