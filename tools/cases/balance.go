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

// balance sets the promises for the culprits of a program beside what a repair brought,
// both as shares of what the program spent per request or run.
type balance struct {
	promised stats.Interval // sum over the culprits that were found
	measured stats.Interval // of the whole program, by the scatter between recordings
	lines    stats.Interval // of the culprits' own lines; zero where the metric is not CPU
	metric   string
}

// widest is how wide, as a share, an interval may be and still say something.
const widest = 0.10

func wide(i stats.Interval) bool { return i.High-i.Low > widest }

// covers reports whether promise and fact have a value in common.
func covers(promised, measured stats.Interval) bool {
	return promised.Low <= measured.High && measured.Low <= promised.High
}

// weigh compares two programs: their diagnosed recordings, and the phases old and new
// of the processes that were only measured.
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

// promise is what the findings promise together, and those of them that are in code.
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

// saved is the share that the new phases spend less than the old, and the means of both.
// Processes are the samples: turns of one agree with each other more than with those of the
// next, whose memory lies elsewhere. The n-th of both sides ran at the same time or one after the
// other, so that much of what the machine does to one it does to both: what
// scatters is their ratio, taken as lognormal.
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

// spent is what a phase cost by request, or by run where there are no requests: seconds
// of CPU, or of wall time; 0 when that is not known.
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
