package main

import (
	"fmt"

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

// covers tells whether promise and fact have a value in common.
func covers(promised, measured stats.Interval) bool {
	return promised.Low <= measured.High && measured.Low <= promised.High
}

// weigh compares two programs: their diagnosed recordings, and the phases old and new
// of the recordings that only measure.
func weigh(metric string, verdicts []verdict, before, after *session.Result, old, new []recording.Phase) (balance, error) {
	promised, code := promise(verdicts)
	b := balance{metric: metric, promised: promised}
	var err error
	if b.measured, _, err = saved(metric, old, new); err != nil || metric != "cpu" {
		return b, err
	}
	_, per, err := saved("cpu", old, new)
	if err != nil {
		return b, err
	}
	for _, f := range compare.Prove(code, before.Table, after.Table, per[0], per[1]).Functions {
		b.lines = add(b.lines, f.Measured)
	}
	return b, nil
}

// promise adds up what the findings promise, each once, and returns those in code.
func promise(verdicts []verdict) (stats.Interval, *diagnose.Report) {
	var sum stats.Interval
	var code diagnose.Report
	seen := map[*diagnose.Finding]bool{}
	for _, v := range verdicts {
		if v.finding == nil || v.finding.Saving == nil || seen[v.finding] {
			continue
		}
		seen[v.finding] = true
		s := v.finding.Saving
		sum = add(sum, stats.Interval{Value: s.Share, Low: s.Low, High: s.High})
		if !v.culprit.setting {
			code.Findings = append(code.Findings, *v.finding)
		}
	}
	return sum, &code
}

func add(a, b stats.Interval) stats.Interval {
	return stats.Interval{Value: a.Value + b.Value, Low: a.Low + b.Low, High: a.High + b.High}
}

// saved is the share that the new recordings spend less than the old, and the means of both.
// Recordings are the samples: windows of one recording agree with each other more
// than with those of the next, whose neighbours on the machine are others.
func saved(metric string, old, new []recording.Phase) (share stats.Interval, per [2]float64, err error) {
	var samples [2][]float64
	for side, phases := range [][]recording.Phase{old, new} {
		for _, p := range phases {
			x := spent(metric, p)
			if x <= 0 {
				return share, per, fmt.Errorf("a recording of the repair has no figure for %s", metric)
			}
			samples[side] = append(samples[side], x)
			per[side] += x / float64(len(phases))
		}
	}
	if per[0] == 0 || per[1] == 0 {
		return share, per, fmt.Errorf("a side of the repair has no recording")
	}
	value := 1 - per[1]/per[0]
	share = stats.Interval{Value: value, Low: value, High: value}
	if len(samples[0]) > 1 && len(samples[1]) > 1 {
		ratio, _ := stats.MeanRatio(samples[0], samples[1])
		share.Low, share.High = 1-ratio.High, 1-ratio.Low
	}
	return share, per, nil
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
