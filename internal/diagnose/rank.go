package diagnose

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// leastShare is the share of a resource below which nothing is shown: less is not worth an
// engineer's hour.
const leastShare = 0.01

// significant reports whether a quantity is larger than two standard deviations of its estimate.
// Smaller ones may be chance.
func significant(i stats.Interval) bool {
	const sigmas = 2 * 1.959963984540054 // between the bounds of a 95 % interval
	sigma := (i.High - i.Low) / sigmas
	return i.Value > 0 && i.Value >= 2*sigma
}

// floor returns the share of CPU below which a line that only has CPU samples is not shown: max(1
// %, 2σ) of a count of samples.
func floor(samples int64) float64 {
	if samples <= 0 {
		return leastShare
	}
	n := int64(1)
	for !significant(stats.Poisson(n)) {
		n++
	}
	return math.Max(leastShare, math.Min(1, float64(n)/float64(samples)))
}

// above reports whether a draft is above the floor of its resource.
func (e *engine) above(d *draft) bool {
	if d.rule.Urgent {
		return true
	}
	if s := directSaving(d.claims); s != nil {
		if s.Latency > 0 && s.Cost > 0 { // bounds of a model, not of sampling
			return min(s.Cost, s.Seconds) >= leastShare*s.Latency
		}
		return d.saving != nil && d.saving.share.Value >= leastShare && significant(d.saving.share)
	}
	if d.saving != nil {
		return d.whole().matters()
	}
	if e.totals.TotalSeconds <= 0 && e.bytesShare(d.cost) >= leastShare {
		return true // no CPU profile: only bytes are known
	}
	// Without a load, waiting is compared with the length of the window.
	return e.contentionSeconds > 0 && wait(d.cost) >= leastShare*e.contentionSeconds
}

// accompany adds drafts below the floor to the first finding of the same function, if they are
// certain to be there: by their CPU, or by their part of the allocated objects, of which there are
// many more than CPU samples. It returns how many it added. Hints are neither added nor added to.
func (e *engine) accompany(shown, small []*draft) (n int) {
	e.rank(small)
	for _, d := range small {
		sure := d.saving != nil && significant(d.saving.sampled) || e.objectsShare(d.cost) >= leastShare
		if !sure || tier(d) > 0 || d.rule.Setting || d.function() == "" || d.saving == nil {
			continue
		}
		for _, host := range shown {
			if tier(host) == 0 && host.saving != nil && host.saving.resource == d.saving.resource && d.sameFunction(host) {
				host.also = append(host.also, d)
				n++
				break
			}
		}
	}
	return n
}

func (d *draft) sameFunction(o *draft) bool {
	a, b := d.claims[0].match.Site, o.claims[0].match.Site
	return a != nil && b != nil && a.Function == b.Function && a.File == b.File
}

// rank orders drafts: urgent ones first; hints after all others, and costs without a known mistake
// after those; then those with a known saving before those without; then by what the saving is
// worth. Equal ones are ordered by rule, function and line, so that reports are
// reproducible.
func (e *engine) rank(drafts []*draft) {
	slices.SortStableFunc(drafts, func(a, b *draft) int {
		return cmp.Or(
			cmp.Compare(tier(a), tier(b)),
			-cmp.Compare(e.worth(a), e.worth(b)),
			cmp.Compare(e.bytesShare(b.cost), e.bytesShare(a.cost)),
			strings.Compare(a.rule.ID, b.rule.ID),
			strings.Compare(a.function(), b.function()),
		)
	})
}

// tier is -1 for urgent drafts, 1 for hints and 2 for the findings of generic rules.
func tier(d *draft) int {
	switch {
	case d.rule.Urgent && d.confidence != rule.Hint:
		return -1
	case d.rule.Generic:
		return 2
	case d.confidence == rule.Hint:
		return 1
	}
	return 0
}

// worthOfOther is what a share of another resource is worth beside the same share of the limiting
// one: half of the CPU or a leak matters more than a hundredth of the latency.
const worthOfOther = 0.1

// worth returns the expected saving, weighed by its resource; -1 if it is unknown.
func (e *engine) worth(d *draft) float64 {
	switch {
	case d.saving == nil:
		return -1
	case e.limits(d):
		return expected(d)
	}
	return worthOfOther * expected(d)
}

// limits reports whether a saving is of the limiting resource.
func (e *engine) limits(d *draft) bool {
	limiting := e.limiting
	if limiting == limitNone {
		limiting = limitCPU
	}
	return d.saving.modelled && limiting == limitCPU || // of latency, as far as there is CPU for it
		d.saving.resource == limiting
}

func expected(d *draft) float64 {
	if d.saving == nil {
		return 0
	}
	return d.whole().share.Value
}

// bytesShare returns a cost's part of all allocated bytes.
func (e *engine) bytesShare(c site.Cost) float64 {
	if e.totals.AllocBytes <= 0 {
		return 0
	}
	return float64(c.AllocBytes) / float64(e.totals.AllocBytes)
}

func (e *engine) objectsShare(c site.Cost) float64 {
	if e.totals.AllObjects <= 0 {
		return 0
	}
	return float64(c.AllocObjects) / float64(e.totals.AllObjects)
}

func (d *draft) function() string {
	if s := d.claims[0].match.Site; s != nil {
		return s.Function
	}
	return ""
}

// tied reports whether the order of two neighbours in the ranking is open: they are compared by
// saving and the intervals of the savings overlap.
func (e *engine) tied(a, b *draft) bool {
	return tier(a) == tier(b) && !a.rule.Generic &&
		a.saving != nil && b.saving != nil && a.saving.resource == b.saving.resource && e.limits(a) == e.limits(b) &&
		overlap(a.whole().share, b.whole().share)
}

func overlap(a, b stats.Interval) bool { return a.Low <= b.High && b.Low <= a.High }

// moreTime is the largest number of CPU-seconds that a note may ask for.
var moreTime = [...]float64{10, 15, 20, 30, 45, 60, 90, 120, 180, 300}

// separated returns the CPU-seconds of profile after which two tied drafts are expected to be in
// order: sampling intervals shrink with the square root of time, the range of what a fix saves does
// not. 0 when time does not help.
func separated(a, b *draft, have float64) float64 {
	if have <= 0 {
		return 0
	}
	for _, t := range moreTime {
		if t <= have {
			continue
		}
		if !overlap(a.after(t/have), b.after(t/have)) {
			return t
		}
	}
	return 0
}

// after returns the saving's interval that is expected after so many times the samples.
func (d *draft) after(times float64) stats.Interval {
	s := d.whole()
	if s.modelled || s.sampled == (stats.Interval{}) {
		return s.share
	}
	shrink := 1 / math.Sqrt(times)
	cost := stats.Interval{
		Value: s.sampled.Value,
		Low:   s.sampled.Value - (s.sampled.Value-s.sampled.Low)*shrink,
		High:  s.sampled.Value + (s.sampled.High-s.sampled.Value)*shrink,
	}
	return stats.Mul(d.fraction, cost)
}
