package main

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// pledge compares the predicted saving of a repair with the measured one.
type pledge struct {
	program, repair string
	verdict         verdict         // of the repair; for all repairs together, only whether one was not found
	promised        *stats.Interval // absent if nothing is predicted
	metric          string
	fact            stats.Interval
	median          *float64 // how much lower the median latency is, for a lock
}

// The possible outcomes of a pledge.
const (
	kept        = "yes"
	tooHigh     = "no, promised too much"
	tooLow      = "no, promised too little"
	notFound    = "not found"
	unpromised  = "nothing promised"
	factUnknown = "unknown: measured too widely"
)

// outcome judges a prediction. It is kept if its interval overlaps that of the measurement, and the
// measurement is narrow enough to show it; a measurement without width can only be missed.
func (p pledge) outcome() string {
	switch {
	case p.verdict.finding == nil:
		return notFound
	case p.promised == nil:
		return unpromised
	case p.promised.Low > p.fact.High:
		return tooHigh
	case p.promised.High < p.fact.Low:
		return tooLow
	case !p.fact.Known() || wide(p.fact):
		return factUnknown
	}
	return kept
}

// resources are the words that findings use for the metrics.
var resources = map[string]string{"cpu": "cpu", "wall": "latency"}

// pledgesOf compares the predictions of a diagnosis with the measurements: one row per repair, and
// one for all repairs if they were measured together.
func pledgesOf(f fixable, report *diagnose.Report, phases [][]recording.Phase) (singles []pledge, together *pledge, err error) {
	if len(phases) != len(f.variants()) {
		return nil, nil, fmt.Errorf("%s has %d variants, and %d were measured", f.name, len(f.variants()), len(phases))
	}
	p := f.program
	for _, x := range f.fixes {
		p.culprits = append(p.culprits, x.culprit)
	}
	verdicts := judge(p, report)
	for i, x := range f.fixes {
		row := pledge{program: f.name, repair: x.name, verdict: verdicts[i], metric: x.metric}
		row.promised = alone(verdicts[i], resources[x.metric])
		if err := row.measure(phases[0], phases[1+i]); err != nil {
			return nil, nil, err
		}
		singles = append(singles, row)
	}
	if len(phases) == 1+len(f.fixes) {
		return singles, nil, nil
	}
	row := pledge{program: f.name, repair: "all", metric: f.fixes[0].metric}
	row.promised, row.verdict = combined(verdicts, resources[row.metric])
	if err := row.measure(phases[0], phases[len(phases)-1]); err != nil {
		return nil, nil, err
	}
	return singles, &row, nil
}

// measure sets the measured saving.
func (p *pledge) measure(old, new []recording.Phase) (err error) {
	if p.fact, _, err = saved(p.metric, old, new); err != nil {
		return fmt.Errorf("%s, %s: %w", p.program, p.repair, err)
	}
	if p.metric != "wall" {
		return nil
	}
	var medians [2][]float64
	for side, phases := range [][]recording.Phase{old, new} {
		for _, phase := range phases {
			if phase.Service != nil {
				medians[side] = append(medians[side], phase.Service.P50)
			}
		}
	}
	if ratio := stats.PairedRatio(medians[0], medians[1]); ratio.Known() {
		less := 1 - ratio.Value
		p.median = &less
	}
	return nil
}

// alone returns the predicted saving of one repair for a resource, including the findings that the
// repair removes, too.
func alone(v verdict, resource string) *stats.Interval {
	f := v.finding
	if v.also != nil {
		f = v.also
	}
	if f == nil || f.Saving == nil || f.Saving.Resource != resource {
		return nil
	}
	saves := f.Whole()
	return &stats.Interval{Value: saves.Share, Low: saves.Low, High: saves.High}
}

// combined returns what the findings of all repairs predict together. The verdict is that of a
// finding; it has none if one was not found.
func combined(verdicts []verdict, resource string) (*stats.Interval, verdict) {
	hosts := map[*diagnose.Finding]bool{}
	var findings []*diagnose.Finding
	for _, v := range verdicts {
		if v.finding == nil {
			return nil, v
		}
		if v.also == nil {
			hosts[v.finding] = true
			findings = append(findings, v.finding)
		}
	}
	for _, v := range verdicts {
		if v.also != nil && !hosts[v.finding] { // Together adds what its host lists
			findings = append(findings, v.also)
		}
	}
	sum := diagnose.Together(resource, findings...)
	if sum == (stats.Interval{}) {
		return nil, verdicts[0]
	}
	return &sum, verdicts[0]
}
