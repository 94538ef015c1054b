package compare

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// Schema is the version of Comparison's JSON form.
const Schema = "hone/compare/v1"

// Verdict is the answer for one metric.
type Verdict string

// Better and Worse: the interval excludes "no change" and the change is larger than the
// floor. Same: the whole interval lies within the floor. Unknown: neither can be said.
const (
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Same    Verdict = "same"
	Unknown Verdict = "unknown"
)

// Floor is the smallest relative change that is called a change. Two runs of one
// program on one machine differ by this much without any cause in the code.
const Floor = 0.02

// Row is one metric of the comparison.
type Row struct {
	Name    string   `json:"name"`
	Metric  string   `json:"metric"`
	Unit    string   `json:"unit"`
	Old     float64  `json:"old"`
	New     float64  `json:"new"`
	Ratio   float64  `json:"ratio"`          // new / old
	Low     *float64 `json:"low,omitempty"`  // 95 % bounds of the ratio; absent without a spread
	High    *float64 `json:"high,omitempty"` //
	P       *float64 `json:"p,omitempty"`    // of "no difference"
	N       [2]int   `json:"n"`              // samples a side
	Floor   float64  `json:"floor"`
	Verdict Verdict  `json:"verdict"`
}

// Comparison is a whole comparison.
type Comparison struct {
	Schema string   `json:"schema"`
	Old    string   `json:"old"`
	New    string   `json:"new"`
	Rows   []Row    `json:"rows"`
	Notes  []string `json:"notes,omitempty"`
}

// metric says how to read one figure off the windows of a phase, and off the whole phase.
type metric struct {
	name, unit   string
	higherBetter bool
	window       func(recording.Window) (float64, bool)
	phase        func(recording.Phase) (float64, bool)
}

// metrics of a recording, per request or operation where those were counted, else per run.
func metrics(unit string, counted bool) []metric {
	per, count := "run", func(recording.Window) float64 { return 1 }
	phaseCount := func(p recording.Phase) float64 { return float64(max(p.Runs, 1)) }
	if counted {
		per, count = unit, func(w recording.Window) float64 { return float64(w.Requests) }
		phaseCount = func(p recording.Phase) float64 { return float64(p.Requests) }
	}
	// over builds the two readings of a quantity divided by the count.
	over := func(name, unit string, w func(recording.Window) float64, p func(recording.Phase) float64) metric {
		return metric{
			name: name, unit: unit + "/" + per,
			window: func(x recording.Window) (float64, bool) { return div(w(x), count(x)) },
			phase:  func(x recording.Phase) (float64, bool) { return div(p(x), phaseCount(x)) },
		}
	}
	ms := []metric{
		over("cpu", "s",
			func(w recording.Window) float64 { return w.CPUSeconds },
			func(p recording.Phase) float64 { return p.CPUSeconds }),
		over("allocated", "B",
			func(w recording.Window) float64 { return float64(w.AllocBytes) },
			func(p recording.Phase) float64 { return float64(p.AllocBytes) }),
		over("allocations", "objects",
			func(w recording.Window) float64 { return float64(w.AllocObjects) },
			func(p recording.Phase) float64 { return float64(p.AllocObjects) }),
	}
	if !counted {
		return append(ms, over("wall", "s",
			func(w recording.Window) float64 { return w.Seconds },
			func(p recording.Phase) float64 { return p.Seconds }))
	}
	ms = append(ms, metric{
		name: "throughput", unit: unit + "s/s", higherBetter: true,
		window: func(w recording.Window) (float64, bool) { return div(float64(w.Requests), w.Seconds) },
		phase:  func(p recording.Phase) (float64, bool) { return div(float64(p.Requests), p.Seconds) },
	})
	for _, q := range []struct {
		name string
		of   func(recording.Quantiles) float64
	}{
		{"p50", func(q recording.Quantiles) float64 { return q.P50 }},
		{"p99", func(q recording.Quantiles) float64 { return q.P99 }},
	} {
		ms = append(ms, metric{
			name: "latency " + q.name, unit: "s",
			window: func(w recording.Window) (float64, bool) {
				if w.Quantiles == nil {
					return 0, false
				}
				return q.of(*w.Quantiles), true
			},
			phase: func(p recording.Phase) (float64, bool) {
				switch {
				case p.Latency != nil:
					return q.of(*p.Latency), true
				case p.Service != nil:
					return q.of(*p.Service), true
				}
				return 0, false
			},
		})
	}
	return ms
}

func div(a, b float64) (float64, bool) {
	if a <= 0 || b <= 0 {
		return 0, false
	}
	return a / b, true
}

// Recordings compares the clean phases of two recordings, per request or per run.
func Recordings(oldName string, old recording.Manifest, newName string, new recording.Manifest) (*Comparison, error) {
	a, ok := phase(old, recording.PhaseClean)
	if !ok {
		return nil, fmt.Errorf("%s has no clean phase to compare", oldName)
	}
	b, ok := phase(new, recording.PhaseClean)
	if !ok {
		return nil, fmt.Errorf("%s has no clean phase to compare", newName)
	}
	if (a.Requests > 0) != (b.Requests > 0) {
		return nil, fmt.Errorf("one of %s and %s was under load and the other was not: they measure different things", oldName, newName)
	}
	c := &Comparison{Schema: Schema, Old: oldName, New: newName, Notes: caveats(old, new, a, b)}
	limited := a.Verdict == "generator-limited" || b.Verdict == "generator-limited"
	for _, m := range metrics(old.Unit(), a.Requests > 0) {
		row, ok := compareMetric(m, a, b)
		if !ok {
			continue
		}
		if limited && (m.name == "throughput" || m.unit == "s") {
			row.Verdict = Unknown
		}
		c.Rows = append(c.Rows, row)
	}
	if len(c.Rows) == 0 {
		return nil, fmt.Errorf("%s and %s have no figure in common", oldName, newName)
	}
	return c, nil
}

func compareMetric(m metric, a, b recording.Phase) (Row, bool) {
	x, okA := m.phase(a)
	y, okB := m.phase(b)
	if !okA || !okB {
		return Row{}, false
	}
	row := Row{Name: "clean phase", Metric: m.name, Unit: m.unit, Old: x, New: y, Ratio: y / x, Floor: Floor, Verdict: Unknown}
	xs, ys := samples(a.Windows, m.window), samples(b.Windows, m.window)
	row.N = [2]int{len(xs), len(ys)}
	if len(xs) < 2 || len(ys) < 2 {
		return row, true
	}
	ratio, p := stats.MeanRatio(xs, ys)
	if math.IsInf(ratio.High, 0) || math.IsNaN(ratio.Low) || math.IsNaN(p) {
		return row, true // too few or too wild to bound: no interval is more honest than an infinite one
	}
	row.Low, row.High, row.P = &ratio.Low, &ratio.High, &p
	row.Verdict = judge(ratio, m.higherBetter)
	return row, true
}

func samples(ws []recording.Window, read func(recording.Window) (float64, bool)) []float64 {
	var xs []float64
	for _, w := range ws {
		if x, ok := read(w); ok {
			xs = append(xs, x)
		}
	}
	return xs
}

// judge turns the interval of a ratio into a verdict.
func judge(r stats.Interval, higherBetter bool) Verdict {
	switch {
	case r.Low > 1-Floor && r.High < 1+Floor:
		return Same
	case r.Low > 1 && r.Value > 1+Floor:
		if higherBetter {
			return Better
		}
		return Worse
	case r.High < 1 && r.Value < 1-Floor:
		if higherBetter {
			return Worse
		}
		return Better
	}
	return Unknown
}

func phase(m recording.Manifest, name string) (recording.Phase, bool) {
	for _, p := range m.Phases {
		if p.Name == name {
			return p, true
		}
	}
	return recording.Phase{}, false
}

// caveats are what the intervals do not cover.
func caveats(old, new recording.Manifest, a, b recording.Phase) []string {
	notes := []string{"one run a side: the intervals hold the spread of one-second windows, not that between runs"}
	if a.Runs > 1 || b.Runs > 1 {
		notes = []string{"the intervals hold the spread between runs of one sitting"}
	}
	if old.Machine.CPU != new.Machine.CPU || old.Machine.Cores != new.Machine.Cores {
		notes = append(notes, "the two ran on different machines")
	}
	if a.Verdict == "generator-limited" || b.Verdict == "generator-limited" {
		notes = append(notes, "the load generator was the limit on at least one side: throughput and latency cannot be compared")
	}
	if old.Load != nil && new.Load != nil && (old.Load.Rate != new.Load.Rate || old.Load.Connections != new.Load.Connections) {
		notes = append(notes, "the two were under different loads")
	}
	return notes
}
