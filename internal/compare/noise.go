package compare

import (
	"math"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// spreadOf is how much runs of one program differ. That is more than the windows within a run do,
// because of the addresses of memory, the core that it runs on, and other guests of the machine.
// One recording does not show it, so hone assumes the measured values: the standard deviation of
// the figure's logarithm between recordings of 6 seconds of five programs, made by `go run
// ./tools/peers compare` on a virtual machine with two cores, and rounded up.
//
// quiet is the spread when nothing else runs. disturbed is what other processes add, per share of
// the machine's cores that they keep busy.
type spreadOf struct{ quiet, disturbed float64 }

func betweenRuns(k kind) spreadOf {
	switch k {
	case wallTime:
		return spreadOf{quiet: 0.08, disturbed: 0.18}
	case tail, lockWait:
		return spreadOf{quiet: 0.25, disturbed: 0.8}
	case allocated:
		return spreadOf{quiet: 0.002}
	case memory:
		return spreadOf{quiet: 0.05}
	}
	return spreadOf{quiet: 0.08, disturbed: 0.18}
}

// scheduledSpread is the additional spread of CPU time per request if requests arrive on a
// schedule: how often the program falls asleep between them varies.
const scheduledSpread = 0.10

// betweenDegrees are the degrees of freedom assumed for these standard deviations: programs differ.
const betweenDegrees = 16

// sessionShare is the share of the variance between recordings that recordings of one session have
// in common. It counts if the other side was recorded in another session and not alternating.
const sessionShare = 0.25

// sharing describes how other processes shared the machine in the clean phase of a recording.
type sharing struct {
	known     bool
	cores     float64
	others    float64 // cores that neither the program nor the load generator kept busy, including stolen ones
	stolen    float64 // of those, taken by the hypervisor
	busy      float64 // cores, by all processes
	held      float64 // share of the time for which a CPU quota stopped the program
	scheduled bool    // requests arrive on a schedule
}

func sharingOf(m recording.Manifest, p recording.Phase) sharing {
	s := sharing{cores: float64(m.Machine.Cores), scheduled: m.Load != nil && m.Load.Rate > 0}
	if p.Seconds <= 0 {
		return s
	}
	s.held = clamp(p.Throttled/p.Seconds, 0, mostShared)
	if s.cores <= 0 || p.MachineCPUSeconds <= 0 {
		return s
	}
	s.known = true
	s.busy = p.MachineCPUSeconds / p.Seconds
	s.stolen = p.StolenCPUSeconds / p.Seconds
	s.others = math.Max(0, s.busy-(p.CPUSeconds+p.ChildCPUSeconds+p.GeneratorCPUSeconds)/p.Seconds)
	return s
}

const (
	// mostShared limits the share of other processes: the program had some CPU, or there would be
	// no recording.
	mostShared = 0.9
	// unknownShared is assumed if the CPU of other processes is unknown.
	unknownShared = 0.1
	// If fewer than freeCores of all cores are busy, no thread waits for a core; from fullCores on,
	// all do.
	freeCores = 0.4
	fullCores = 0.8
)

// taken returns the share of the machine that other processes kept busy.
func (s sharing) taken() float64 {
	if !s.known {
		return unknownShared
	}
	return clamp(s.others/s.cores, 0, mostShared)
}

// variance returns the variance of the logarithm of a figure between recordings that shared the
// machine like this.
func (s sharing) variance(f figure) float64 {
	k, n := f.kind, betweenRuns(f.kind)
	v := sq(n.quiet) + sq((n.disturbed+f.background)*s.taken())
	switch {
	case k == cpuTime && s.scheduled:
		v += sq(scheduledSpread)
	case k == wallTime || k == tail:
		// If cores are scarce, the program had only what other processes left.
		short := s.taken()
		if s.known {
			short *= clamp((s.busy/s.cores-freeCores)/(fullCores-freeCores), 0, 1)
		}
		v += sq(math.Log(1-short)) + sq(math.Log(1-s.held))
	}
	return v
}

func clamp(x, low, high float64) float64 { return math.Min(high, math.Max(low, x)) }

func sq(x float64) float64 { return x * x }

// within returns the relative variance of a figure of one recording, from the spread of its
// windows. Neighbouring windows resemble each other, so they count as half as many. If the two
// halves of the phase differ by more, which shows slow changes, that difference is used instead.
func (f figure) within() float64 {
	var v float64
	if n := len(f.values); n >= 2 {
		mean, variance := moments(f.values)
		v = 2 * variance / float64(n)
		first, _ := moments(f.values[:n/2])
		second, _ := moments(f.values[n/2:])
		v = math.Max(v, sq(first-second)/4) / sq(mean)
	}
	if f.background > 0 {
		v = math.Max(v, sq(f.background)/float64(max(1, len(f.values))))
	}
	return v
}

// moments returns the mean and the variance of a sample.
func moments(xs []float64) (mean, variance float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	if len(xs) < 2 {
		return mean, 0
	}
	for _, x := range xs {
		variance += sq(x-mean) / float64(len(xs)-1)
	}
	return mean, variance
}

// pair is one figure in all recordings.
type pair struct {
	figures [2][]figure
	shared  [2][]sharing
}

// pairOf collects a figure; it returns false if a recording does not have it.
func pairOf(sides [2]side, like figure) (pair, bool) {
	var p pair
	for i, s := range sides {
		for _, r := range s.runs {
			at := slices.IndexFunc(r.figures, func(f figure) bool { return f.name == like.name && f.metric == like.metric && f.unit == like.unit })
			if at < 0 {
				return p, false
			}
			p.figures[i] = append(p.figures[i], r.figures[at])
			p.shared[i] = append(p.shared[i], r.shared)
		}
	}
	return p, true
}

// row compares the two sides.
func (p pair) row(like figure, interleaved bool) Row {
	r := Row{
		Name: like.name, Metric: like.metric, Unit: like.unit, higherBetter: like.higherBetter, kind: like.kind, least: like.floor,
		N: [2]int{len(p.figures[0]), len(p.figures[1])}, Verdict: Unknown,
	}
	r.Old, r.New = meanValue(p.figures[0]), meanValue(p.figures[1])
	if r.Old > 0 {
		ratio := r.New / r.Old
		r.Ratio = &ratio
	}
	if p.exact() {
		r.exact()
		return r
	}
	if p.hasZero() {
		return r // a zero has no logarithm
	}
	value, variance, df := p.logRatio(interleaved)
	ratio := math.Exp(value) // of the geometric means, if there are several
	r.Ratio = &ratio
	interval, chance := stats.PartlyKnownDifference(value, 0, variance, df)
	low, high := math.Exp(interval.Low), math.Exp(interval.High)
	floor := math.Max(math.Max(least(like.kind), r.least/r.Old), math.Expm1(decidable(variance, df)))
	if math.IsInf(high, 1) || math.IsInf(floor, 1) {
		return r // two recordings that differ by orders of magnitude do not determine their ratio
	}
	r.Low, r.High, r.P, r.Floor = &low, &high, &chance, floor
	return r
}

// hasZero reports whether a recording's figure is not positive, such as the lock wait of a run in
// which nothing waited.
func (p pair) hasZero() bool {
	for _, side := range p.figures {
		if slices.ContainsFunc(side, func(f figure) bool { return f.value <= 0 }) {
			return true
		}
	}
	return false
}

// byRanks judges a row by the scatter of the recordings alone, with the Hodges-Lehmann ratio and
// the Mann-Whitney test. For interleaved runs of one program on a busy machine, such a test was
// significant at 5 % in 2 % of cases; see package trial.
func (p pair) byRanks(r *Row) {
	if r.Exact {
		return
	}
	var values [2][]float64
	for i, side := range p.figures {
		for _, f := range side {
			values[i] = append(values[i], math.Max(0, f.value)) // "retained-B/op" may be slightly below zero
		}
	}
	if slices.Min(values[0]) <= 0 {
		return // the ratio is undefined
	}
	ratio, chance := stats.MedianRatio(values[0], values[1])
	if !ratio.Known() {
		return
	}
	r.Ratio, r.Low, r.High, r.P, r.Floor = &ratio.Value, &ratio.Low, &ratio.High, &chance, math.Max(least(r.kind), r.least/r.Old)
}

func meanValue(figures []figure) (mean float64) {
	for _, f := range figures {
		mean += f.value / float64(len(figures))
	}
	return mean
}

// least returns the smallest relative change that is reported even if the figure does not vary.
func least(k kind) float64 {
	if k == allocated {
		return exactBytes
	}
	return Tolerance
}

// exactBytes is a relative change in allocated bytes that needs no cause in the code: what a
// benchmark allocates before its loop is divided by its number of iterations, and rounded.
const exactBytes = 0.005

// exact reports whether a figure is deterministic: allocations that are the same in at least two
// processes of each side.
func (p pair) exact() bool {
	for _, side := range p.figures {
		n := 0
		for _, f := range side {
			n += len(f.values)
			if f.kind != allocated || !f.processes || slices.ContainsFunc(f.values, func(x float64) bool { return x != side[0].values[0] }) {
				return false
			}
		}
		if n < 2 {
			return false
		}
	}
	return true
}

// exact compares figures that do not vary.
func (r *Row) exact() {
	p := 1.0
	if r.Old != r.New {
		p = 0
	}
	r.P, r.Exact = &p, true
	if r.Ratio != nil {
		low, high := *r.Ratio, *r.Ratio
		r.Low, r.High = &low, &high
	}
	if r.Metric == "allocated" {
		r.Floor = exactBytes
	}
}

// logRatio returns the logarithm of new over old, its variance, and the degrees of freedom of the
// variance.
//
// The variance of a recording combines that of its windows with the assumed difference between
// recordings. If both sides have several recordings, their own scatter counts: if it is larger than
// assumed, it is used alone; otherwise the assumption is weighted as if it came from
// [betweenDegrees] recordings.
func (p pair) logRatio(interleaved bool) (value, variance, df float64) {
	var logs [2][]float64
	var expected, between, scatter, seen float64
	var count, harmonic float64
	for i, side := range p.figures {
		for k, f := range side {
			logs[i] = append(logs[i], math.Log(f.value))
			b := p.shared[i][k].variance(f)
			between += b
			expected += b + f.within()
		}
		mean, v := moments(logs[i])
		n := float64(len(side))
		value += mean * float64(2*i-1)
		scatter += v * (n - 1)
		seen += n - 1
		count += n
		harmonic += 1 / n
	}
	expected, between = expected/count, between/count
	variance, df = expected, betweenDegrees
	if seen > 0 {
		if own := scatter / seen; own > expected && len(logs[0]) > 1 && len(logs[1]) > 1 {
			variance, df = own, seen
		} else {
			variance, df = (betweenDegrees*expected+scatter)/(betweenDegrees+seen), betweenDegrees+seen
		}
	}
	variance *= harmonic
	if seen > 0 && !interleaved {
		variance += 2 * sessionShare * between
	}
	return value, variance, df
}

// decidable returns the smallest difference that is not taken for chance at [DiffLevel].
func decidable(variance, df float64) float64 {
	low, high := 0.0, 20*math.Sqrt(variance)+1e-12
	for range 50 {
		mid := (low + high) / 2
		if _, p := stats.PartlyKnownDifference(mid, 0, variance, df); p > DiffLevel {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// interleaved reports whether the recordings of the two sides were made alternately, or at least
// not all of one side before the other.
func interleaved(sides [2]side) bool {
	var first, last [2]time.Time
	for i, s := range sides {
		for k, r := range s.runs {
			at := r.Manifest.Created
			if k == 0 || at.Before(first[i]) {
				first[i] = at
			}
			if k == 0 || at.After(last[i]) {
				last[i] = at
			}
		}
	}
	return !last[0].Before(first[1]) && !last[1].Before(first[0])
}
