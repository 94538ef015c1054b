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
	Time    time.Duration   // no trial starts that would end after it, going by the one before
	Runs    int             // of each side; 0: 6
	Seed    uint64
}

// TryEach tries the rewrites of a report's findings one at a time, those that promise most first, until the time is spent. What came of
// each is in the finding afterwards, and a note in the report says how many were tried. Nothing in the tree changes.
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
		note += fmt.Sprintf(" For %d hone has no rewrite that is safe by itself: hone prove measures yours.", without)
	}
	if late > 0 {
		note += fmt.Sprintf(" For %d the time was too short.", late)
	}
	r.Notes = append(r.Notes, note)
	return nil
}

// byPromise are the findings in code that name a line, those that promise most first.
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

// kept is what a finding keeps of a trial.
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

// headline is the row that says what a change is worth: CPU where it was measured, else the first with a ratio.
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
