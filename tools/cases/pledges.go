package main

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// pledge sets the promise for a repair beside what it saved.
type pledge struct {
	program, repair string
	verdict         verdict         // of the repair; of all repairs together only what was not found
	promised        *stats.Interval // absent where nothing is promised
	metric          string
	fact            stats.Interval
	median          *float64 // by how much less the median latency is, of a lock
}

// What a pledge may turn out to be.
const (
	kept        = "yes"
	tooHigh     = "no, promised too much"
	tooLow      = "no, promised too little"
	notFound    = "not found"
	unpromised  = "nothing promised"
	factUnknown = "unknown: measured too widely"
)

// outcome judges a promise. It is kept when it has a value in common with the fact, and the fact is
// known well enough to say so; a fact of no width can only be missed.
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

// resources are the words of findings for what is measured.
var resources = map[string]string{"cpu": "cpu", "wall": "latency"}

// pledgesOf sets what a diagnosis of a program promises beside the facts: a row for each repair,
// and one for all of them where they are measured together.
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

// measure fills in the fact.
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

// alone is what the finding of one repair promises of a resource, with the findings that the repair removes, too.
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

// combined is what the findings of all repairs promise together. The verdict is one of those found;
// it has no finding when one was not found.
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
		if v.also != nil && !hosts[v.finding] { // Together adds what its host lists by itself
			findings = append(findings, v.also)
		}
	}
	sum := diagnose.Together(resource, findings...)
	if sum == (stats.Interval{}) {
		return nil, verdicts[0]
	}
	return &sum, verdicts[0]
}
