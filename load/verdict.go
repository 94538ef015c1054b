package load

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// Verdict says whether a result describes the service or the generator.
type Verdict string

// The verdicts.
const (
	VerdictOK      Verdict = "ok"
	VerdictLimited Verdict = "generator-limited" // Result.VerdictWhy says why
)

// Thresholds of the verdict.
const (
	lagShare  = 0.10             // the largest lag p99, as a share of the latency's p99,
	lagFloor  = time.Millisecond // or this, whichever is larger
	sentShare = 0.95             // the least share of due requests that must have been sent
	cpuShare  = 0.90             // the largest share of GOMAXPROCS that may be in use
)

// judge sets the verdict of r.
func (r *Result) judge() {
	var why []string
	if s := r.lagging(); s != "" {
		why = append(why, s)
	}
	if r.due > 0 && float64(r.sent) < sentShare*float64(r.due) {
		s := fmt.Sprintf("only %.0f %% of the requests that fell due were sent", 100*float64(r.sent)/float64(r.due))
		if r.capped > 0 {
			s += fmt.Sprintf(", every one of the %d connections allowed was in use", r.OpenConns)
		}
		why = append(why, s)
	}
	if cores := float64(runtime.GOMAXPROCS(0)); r.Elapsed > 100*time.Millisecond && r.CPUSeconds > cpuShare*cores*r.Elapsed.Seconds() {
		why = append(why, fmt.Sprintf("the generator's process used %.1f of %.0f processors: it cannot send faster", r.CPUSeconds/r.Elapsed.Seconds(), cores))
	}
	r.Verdict, r.VerdictWhy = VerdictOK, strings.Join(why, "; ")
	if len(why) > 0 {
		r.Verdict = VerdictLimited
	}
}

// lagging returns the reason why the lag is too large for the measured latency, or "".
func (r *Result) lagging() string {
	if r.Lag == nil || r.Lag.Count() == 0 {
		return ""
	}
	lag := time.Duration(r.Lag.Quantile(0.99))
	scale := time.Duration(lagShare * float64(r.Latency.Quantile(0.99)))
	if lag <= max(lagFloor, scale) {
		return ""
	}
	s := fmt.Sprintf("lag p99 %v: requests went out that late; do not trust latencies below %[1]v", round(lag))
	if r.capped > 0 {
		s += fmt.Sprintf(" (%d requests waited because every connection allowed was in use)", r.capped)
	}
	return s
}

// round rounds a duration to two or three digits.
func round(d time.Duration) time.Duration {
	for unit := time.Duration(10); ; unit *= 10 {
		if d < 100*unit {
			return d.Round(unit / 10)
		}
	}
}
