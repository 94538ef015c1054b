package tunegc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/gogc"
	"github.com/hone-go/hone/internal/session"
)

// measure runs the chosen setting and its neighbours interleaved with the unchanged target.
func (r *Result) measure(ctx context.Context, cfg session.Config, s Spec, o *gogc.Observed) error {
	rows := r.measured(s.Others, s.Also)
	spec := experiment.Spec{Options: s.Options, Runs: s.Runs, Budget: s.Budget, Seed: s.Seed, Progress: s.Progress}
	for _, i := range rows {
		env := envOf(r.Rows[i].Setting)
		if r.Choice != nil && i == r.Choice.Row {
			env = r.Choice.Env
		}
		spec.Variants = append(spec.Variants, experiment.Variant{Name: strings.Join(env, " "), Env: env})
	}
	if len(rows) == 0 {
		return nil
	}
	tried, err := experiment.Run(ctx, cfg, spec)
	if err != nil {
		return err
	}
	for j, out := range tried.Outcomes {
		x := &r.Rows[rows[j]]
		x.Measured = &Measured{Failed: out.Failed, Resident: float64(out.RSSBytes)}
		if out.Comparison == nil {
			continue
		}
		for _, row := range out.Comparison.Rows {
			if row.Metric != "cpu" {
				continue
			}
			x.Measured.CPUSeconds = row.New
			x.Measured.Ratio, x.Measured.Low, x.Measured.High, x.Measured.Verdict = row.Ratio, row.Low, row.High, row.Verdict
			for i := range r.Rows {
				if own := &r.Rows[i]; own.Own && own.Measured == nil {
					own.Measured = &Measured{CPUSeconds: row.Old, Resident: float64(tried.RSSBytes)}
				}
			}
		}
	}
	return nil
}

// measured returns the rows to measure: the chosen one, those with the given values of GOGC, and
// the nearest ones that fit on both sides of the chosen one. The target's own setting is not one.
func (r *Result) measured(others int, also []int) []int {
	center := 0
	var rows []int
	if r.Choice != nil {
		center = r.Choice.Row
		rows = append(rows, center)
	} else {
		for i, x := range r.Rows {
			if x.Own {
				center = i
			}
		}
	}
	for i, x := range r.Rows {
		if x.Limit == 0 && !x.Own && slices.Contains(also, x.GOGC) && !slices.Contains(rows, i) {
			rows = append(rows, i)
		}
	}
	for d := 1; d < len(r.Rows) && others > 0; d++ {
		for _, i := range []int{center - d, center + d} {
			if i >= 0 && i < len(r.Rows) && others > 0 && !r.Rows[i].Own && r.Rows[i].Fits && !slices.Contains(rows, i) {
				rows = append(rows, i)
				others--
			}
		}
	}
	return rows
}

// envOf returns the environment variables of a setting.
func envOf(s gogc.Setting) []string {
	var env []string
	if s.GOGC > 0 {
		env = append(env, fmt.Sprintf("GOGC=%d", s.GOGC))
	} else {
		env = append(env, "GOGC=off")
	}
	if s.Limit > 0 {
		env = append(env, fmt.Sprintf("GOMEMLIMIT=%dMiB", int64(s.Limit)>>20))
	}
	return env
}
