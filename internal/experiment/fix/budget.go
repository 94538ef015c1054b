package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/session"
)

// Budget says how long findings may be tried.
type Budget struct {
	Options capture.Options // of one run
	Time    time.Duration   // no trial starts that would end after it, if it takes as long as the one before
	Runs    int             // of each side; 0: 6
	Seed    uint64
}

// TryEach tries the rewrites of a report's findings one at a time, largest predicted saving first,
// until the time is spent. It stores each result in the finding, and adds a note to the report that
// says how many were tried. The tree is not changed.
func TryEach(ctx context.Context, cfg session.Config, root string, r *diagnose.Report, b Budget) error {
	began := time.Now()
	var longest time.Duration
	var without, late, tried, gains int
	for _, f := range byPromise(r.Findings) {
		p, err := Make(ctx, root, []*diagnose.Finding{f}, []int{f.Rank}, b.Options.BuildFlags)
		if err != nil {
			return err
		}
		if len(p.files) == 0 {
			without++
			continue
		}
		if left := b.Time - time.Since(began); left <= 0 || left < longest {
			late++
			continue
		}
		start := time.Now()
		out, err := Run(ctx, cfg, p, Spec{Options: b.Options, Try: true, Runs: b.Runs, Seed: b.Seed})
		if err != nil {
			return err
		}
		longest = max(longest, time.Since(start))
		f.Tried = kept(out)
		tried++
		if f.Tried.Gain {
			gains++
			f.Confidence = rule.Proved
		}
	}
	note := fmt.Sprintf("-prove: %d of %d findings in code were tried, with their fix alone, and %d of them gain.", tried, tried+without+late, gains)
	if without > 0 {
		note += fmt.Sprintf(" For %d hone has no safe rewrite: hone prove measures your own change.", without)
	}
	if late > 0 {
		note += fmt.Sprintf(" For %d the time was too short.", late)
	}
	r.Notes = append(r.Notes, note)
	return nil
}

// byPromise returns the findings in code that name a line, largest predicted saving first.
func byPromise(all []diagnose.Finding) []*diagnose.Finding {
	var list []*diagnose.Finding
	for i := range all {
		if f := &all[i]; !f.Generic && f.Line > 0 {
			list = append(list, f)
		}
	}
	share := func(f *diagnose.Finding) float64 {
		if s := f.Whole(); s != nil {
			return s.Share
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b *diagnose.Finding) int { return cmp.Compare(share(b), share(a)) })
	return list
}

// kept returns the part of a trial's result that a finding keeps.
func kept(out *Result) *diagnose.Tried {
	t := &diagnose.Tried{Gain: out.Gain, Why: out.Refused}
	if out.Trial == nil || len(out.Trial.Outcomes) == 0 {
		return t
	}
	t.Runs = out.Trial.Runs
	if row := headline(out.Trial.Outcomes[0]); row != nil {
		t.Metric, t.Share = row.Metric, 1-*row.Ratio
		if row.Low != nil && row.High != nil {
			t.Low, t.High = 1-*row.High, 1-*row.Low
		}
	}
	return t
}

// headline returns the row that shows the value of a change: CPU if it was measured, else the first
// with a ratio.
func headline(o experiment.Outcome) *compare.Row {
	if o.Comparison == nil {
		return nil
	}
	var first *compare.Row
	for i := range o.Comparison.Rows {
		row := &o.Comparison.Rows[i]
		if row.Ratio == nil {
			continue
		}
		if row.Metric == "cpu" {
			return row
		}
		if first == nil {
			first = row
		}
	}
	return first
}
