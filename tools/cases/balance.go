package main

import (
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/stats"
)

// balance compares the predicted saving of a program's culprits with the measured saving of a
// repair, both as shares of the program's cost per request or run.
type balance struct {
	promised stats.Interval // sum over the culprits that were found
	measured stats.Interval // of the whole program, from the scatter between recordings
	lines    stats.Interval // of the culprits' own lines; zero if the metric is not CPU
	metric   string
}

// widest is the largest width, as a share, of an interval that decides anything.
const widest = 0.10

func wide(i stats.Interval) bool { return i.High-i.Low > widest }

// covers reports whether the intervals of prediction and measurement overlap.
func covers(promised, measured stats.Interval) bool {
	return promised.Low <= measured.High && measured.Low <= promised.High
}

// weigh compares two programs: their diagnosed recordings, and the phases old and new of the
// processes that were measured without profiles.
func weigh(metric string, verdicts []verdict, before, after *session.Result, old, new []recording.Phase) (balance, error) {
	resource := "cpu"
	if metric == "wall" {
		resource = "latency"
	}
	promised, code := promise(resource, verdicts)
	b := balance{metric: metric, promised: promised}
	var err error
	if b.measured, _, err = saved(metric, old, new); err != nil || metric != "cpu" {
		return b, err
	}
	_, per, err := saved("cpu", old, new)
	if err != nil {
		return b, err
	}
	var lines []stats.Interval
	for _, f := range compare.Prove(code, before.Table, after.Table, per[0], per[1]).Functions {
		lines = append(lines, f.Measured)
	}
	b.lines = stats.Add(lines...)
	return b, nil
}

// promise returns what the findings predict together, and the findings in code among them.
func promise(resource string, verdicts []verdict) (stats.Interval, *diagnose.Report) {
	var findings []*diagnose.Finding
	var code diagnose.Report
	for _, v := range verdicts {
		if v.finding == nil || v.finding.Saving == nil || slices.Contains(findings, v.finding) {
			continue
		}
		findings = append(findings, v.finding)
		if !v.culprit.setting {
			code.Findings = append(code.Findings, *v.finding)
		}
	}
	return diagnose.Together(resource, findings...), &code
}

// saved returns the share of the old cost that the new phases save, and the means of both sides.
// Processes are the samples: turns of one process agree with each other more than with those of
// another, whose memory is at other addresses. The n-th processes of both sides ran interleaved, so
// most disturbances of the machine affected both. So it is their ratio that scatters, which is
// assumed to be lognormal.
func saved(metric string, old, new []recording.Phase) (share stats.Interval, per [2]float64, err error) {
	if len(old) == 0 || len(old) != len(new) {
		return share, per, fmt.Errorf("a repair has %d measurements before and %d after", len(old), len(new))
	}
	var figures [2][]float64
	for i := range old {
		for side, p := range [2]recording.Phase{old[i], new[i]} {
			x := spent(metric, p)
			if x <= 0 {
				return share, per, fmt.Errorf("a measurement of the repair has no figure for %s", metric)
			}
			figures[side] = append(figures[side], x)
			per[side] += x / float64(len(old))
		}
	}
	ratio := stats.PairedRatio(figures[0], figures[1])
	if len(old) == 1 {
		x := per[1] / per[0]
		ratio = stats.Interval{Value: x, Low: x, High: x}
	}
	return stats.Minus(stats.Interval{Value: 1, Low: 1, High: 1}, ratio), per, nil
}

// spent returns the cost of a phase per request, or per run if there are no requests: seconds of
// CPU or of wall time; 0 if unknown.
func spent(metric string, p recording.Phase) float64 {
	n := float64(p.Requests)
	if n == 0 {
		n = float64(max(p.Runs, 1))
	}
	if metric == "wall" {
		return p.Seconds / n
	}
	return p.CPUSeconds / n
}
