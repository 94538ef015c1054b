package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
	"github.com/hone-go/hone/stats"
)

// draft is a finding before it is described in words: the claims of one rule in one function with
// their cost and saving.
type draft struct {
	rule       rule.Rule
	claims     []*claim // most expensive first
	lines      []lineCost
	cost       site.Cost
	share      stats.Interval // the cost's part of all CPU, with the collector's work for it
	peer       stats.Interval // CPU at the other end of the connection on which the lines send
	uncertain  stats.Interval // CPU of code around the lines that the fix may save too
	fraction   stats.Interval // the share of the cost that the fix saves
	saving     *saving
	confidence rule.Confidence
	also       []*draft // in the same function, each below the floor
	rows       rows     // charged to its claims
	includes   []inside // that the fix removes too (see nest)
	with       *draft   // this one with what it includes; nil when it includes nothing
	muted      muting   // why it is silenced; zero when it is not
}

// setting reports whether a draft is about how the program is built or run, and not about its code.
func (d *draft) setting() bool { return d.rule.Setting && !d.claims[0].match.InCode }

// saving is a share of one resource's total.
type saving struct {
	resource string
	share    stats.Interval
	sampled  stats.Interval // the cost's share, whose width more samples would shrink; zero when it would not
	// collector is the part of a stated share that is the collector's work.
	collector float64
	modelled  bool // the saving comes from a model of the queue, and is not a fraction of the cost
}

// lineCost is one line of a draft.
type lineCost struct {
	site  *site.Site
	share float64
	match rule.Match
}

// draftKey groups claims into findings: one rule in one function. The file is part of it because an
// inlined closure keeps the name of its caller. A silenced finding is separate.
type draftKey struct {
	rule, function, file string
	muted                muting
}

// group makes drafts of the claims that have rows left, or need none.
func (e *engine) group(claims []*claim) []*draft {
	var drafts []*draft
	byKey := map[draftKey]*draft{}
	for _, c := range claims {
		if c.void() {
			continue
		}
		key := draftKey{rule: c.rule.ID}
		if s := c.match.Site; s != nil {
			key.function, key.file = symbol.Bare(s.Function), s.File // instances of a generic function have one source
		}
		if e.silencer != nil {
			key.muted = e.silencer.muted(c)
		}
		d := byKey[key]
		if d == nil {
			d = &draft{rule: c.rule, muted: key.muted}
			byKey[key] = d
			drafts = append(drafts, d)
		}
		d.claims = append(d.claims, c)
	}
	for _, d := range drafts {
		e.price(d)
	}
	return drafts
}

// price fills in a draft's cost, its lines and its saving.
func (e *engine) price(d *draft) {
	var all rows
	weights := make(map[*claim]float64, len(d.claims))
	for _, c := range d.claims {
		all.add(c.charged)
		weights[c] = e.weight(e.cost(c.charged))
	}
	d.rows = all
	d.cost, d.share = e.cost(all), e.table.Share(all.cpu, all.allocs)
	slices.SortStableFunc(d.claims, func(a, b *claim) int { return cmp.Compare(weights[b], weights[a]) })
	d.confidence = d.claims[0].match.Confidence
	d.fraction = meanFraction(d.claims, weights)
	if d.rule.Generic {
		d.fraction = stats.Interval{Value: 1, Low: 1, High: 1} // no saving is promised: it is ranked by what it costs
	}
	d.peer, d.uncertain = e.peerOf(d), e.uncertainOf(d)
	d.saving = e.save(d)
	d.lines = e.lines(d)
	if d.foreign() && d.saving != nil && d.saving.share.Value < leastForeign {
		d.confidence = rule.Hint
	}
}

// leastForeign is the share that a finding must save to be more than a hint where readers cannot
// change the line, but only propose a change to the module that it belongs to.
const leastForeign = 0.02

// first is the match that describes the finding: that of the most expensive line, not of the most
// expensive claim.
func (d *draft) first() *rule.Match {
	if len(d.lines) > 0 {
		return &d.lines[0].match
	}
	return &d.claims[0].match
}

// foreign reports whether what the finding advises to change belongs to a dependency.
func (d *draft) foreign() bool {
	s := d.first().Site
	if s == nil || s.Owner.Kind != gocode.Dependency || d.rule.Generic {
		return false
	}
	return !slices.ContainsFunc(d.claims, func(c *claim) bool { return c.match.Callers }) // it is they that change
}

// cost prices rows of all kinds: CPU and allocations by the table, the others
// by adding up.
func (e *engine) cost(r rows) site.Cost {
	cost, _ := e.table.Price(r.cpu, r.allocs)
	mutex, _ := stacks.Sum(r.mutex)
	block, _ := stacks.Sum(r.block)
	cost.MutexSeconds = float64(mutex) / 1e9
	cost.BlockSeconds = float64(block) / 1e9
	cost.LiveBytes, _ = stacks.Sum(r.live)
	return cost
}

// weight orders the parts of one finding by their cost: by CPU or, without CPU, by waiting or
// memory.
func (e *engine) weight(c site.Cost) float64 {
	if s := c.CPUSeconds + c.GCSeconds; s > 0 {
		return s
	}
	return (c.MutexSeconds+c.BlockSeconds)*1e-6 + float64(c.LiveBytes)*1e-18
}

// meanFraction averages the claims' fractions by cost.
func meanFraction(claims []*claim, weights map[*claim]float64) stats.Interval {
	var sum, expect, low, high float64
	for _, c := range claims {
		f := c.rule.Claims().Fraction
		if c.match.Fraction != nil {
			f = *c.match.Fraction
		}
		w := weights[c]
		sum += w
		expect += w * f.Expect
		low += w * f.Low
		high += w * f.High
	}
	if sum == 0 {
		return stats.Interval{}
	}
	return stats.Interval{Value: expect / sum, Low: low / sum, High: high / sum}
}

// lines sums the claims by source line, most expensive first.
func (e *engine) lines(d *draft) []lineCost {
	type key struct {
		file string
		line int
	}
	index := map[key]int{}
	var lines []lineCost
	var sums []rows
	var stated []float64 // shares that the rules state
	for _, c := range d.claims {
		s := c.match.Site
		if s == nil {
			continue
		}
		k := key{s.File, s.Line}
		i, seen := index[k]
		if !seen {
			i = len(lines)
			index[k] = i
			lines = append(lines, lineCost{site: s, match: c.match})
			sums, stated = append(sums, rows{}), append(stated, 0)
		}
		sums[i].add(c.charged)
		if m := c.match.Saving; m != nil && m.Cost > 0 {
			stated[i] += m.Cost / cmp.Or(m.Latency, e.totals.TotalSeconds, m.Cost)
		}
	}
	for i := range lines {
		lines[i].share = cmp.Or(stated[i], e.lineShare(d.saving, e.cost(sums[i])))
	}
	slices.SortStableFunc(lines, func(a, b lineCost) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.site.Line, b.site.Line))
	})
	return lines
}

// lineShare returns a cost as a share of the resource that the finding is ranked by; without one,
// of allocated bytes.
func (e *engine) lineShare(s *saving, c site.Cost) float64 {
	switch {
	case s == nil:
		return e.bytesShare(c)
	case s.resource == limitLatency && e.requestSeconds > 0:
		return wait(c) / e.requestSeconds
	case s.resource == limitMemory:
		return float64(c.LiveBytes) / float64(e.totals.LiveBytes)
	}
	return (c.CPUSeconds + c.GCSeconds) / e.totals.TotalSeconds
}

// wait returns the time spent waiting. The mutex profile counts a wait at the holder and the block
// profile counts it again at the waiter: never add them up.
func wait(c site.Cost) float64 { return math.Max(c.MutexSeconds, c.BlockSeconds) }

// save computes the expected saving; nil when it is unknown.
func (e *engine) save(d *draft) *saving {
	if s := directSaving(d.claims); s != nil {
		resource, total := limitCPU, e.totals.TotalSeconds
		if s.Latency > 0 {
			resource, total = limitLatency, s.Latency
		}
		if total <= 0 {
			return nil
		}
		share := clamp(stats.Interval{Value: s.Seconds, Low: s.Low, High: s.High}.Scale(1 / total))
		return &saving{resource: resource, share: share, collector: math.Min(share.Value, s.Collector/total), modelled: s.Modelled}
	}
	var cpu, latency, memory *saving
	if d.share.Value > 0 && e.totals.TotalSeconds > 0 {
		cpu = e.saved(d, limitCPU, d.share)
		sure := stats.Add(cpu.share, e.besides(d))
		sure = e.withBackground(sure)
		cpu.share = clamp(withPossible(withPossible(sure, d.peer, d.fraction), d.uncertain, d.fraction))
		if d.rule.Claims().Beside.High == 0 && e.manifest.Target.Bench == "" {
			least := withCrowding(clamp(sure)).Low // what only may be saved crowds nobody for sure
			cpu.share = withCrowding(cpu.share)
			cpu.share.Low = least
		}
	}
	if wait(d.cost) > 0 && e.requestSeconds > 0 {
		latency = e.saved(d, limitLatency, e.waitSpread(d).Scale(1/e.requestSeconds))
		e.queue(d, latency)
	}
	if live := float64(d.cost.LiveBytes); live > 0 && e.totals.LiveBytes > 0 && d.rule.OfMemory() {
		share := live / float64(e.totals.LiveBytes)
		memory = e.saved(d, limitMemory, stats.Interval{Value: share, Low: share, High: share})
		memory.share = clamp(withPossible(memory.share, e.keptBy(d), d.fraction))
	}
	// The limiting resource, if the finding matters there; else the first where it does.
	order := []*saving{cpu, latency, memory}
	switch e.limiting {
	case limitLatency:
		order = []*saving{latency, cpu, memory}
	case limitMemory:
		order = []*saving{memory, cpu, latency}
	}
	if latency != nil && latency.modelled && latency.matters() {
		order = []*saving{latency} // the model knows how much CPU there is for requests that no longer wait
	}
	for _, s := range order {
		if s != nil && s.matters() {
			return s
		}
	}
	return cmp.Or(order...)
}

// queue replaces the saving of a draft about a lock by what a model of the queue predicts. If the
// trace has the lock, it knows better how long requests wait: a mutex profile also counts
// goroutines that no request waits for, and misses the waits of a queue that was never empty.
func (e *engine) queue(d *draft, s *saving) {
	if d.rule.Kind != rule.Lock {
		return
	}
	waited := s.sampled
	if lock := traced.HeldAt(e.pass, d.claims[0].match.Site); lock != nil {
		if traced, ok := traced.LockWait(e.pass, lock); ok {
			waited = stats.Interval{Value: traced, Low: math.Min(traced, waited.Value), High: math.Max(traced, waited.Value)}
		}
	}
	if saved, ok := traced.Unlocked(e.pass, waited, d.fraction); ok {
		s.share, s.modelled = clamp(saved), true
	}
}

// matters reports whether a saving and the cost that it is part of are above the floor.
func (s *saving) matters() bool {
	return min(s.share.Value, s.sampled.Value) >= leastShare && significant(s.sampled)
}

// saved combines the range of the fraction and the sampling interval of the cost's share, which are
// independent.
func (e *engine) saved(d *draft, resource string, share stats.Interval) *saving {
	share = clamp(share)
	return &saving{resource: resource, share: clamp(stats.Mul(d.fraction, share)), sampled: share}
}

// waitSpread returns the waiting time with the interval of the number of waits.
func (e *engine) waitSpread(d *draft) stats.Interval {
	var mutex, block int64
	for _, c := range d.claims {
		_, n := stacks.Sum(c.charged.mutex)
		mutex += n
		_, n = stacks.Sum(c.charged.block)
		block += n
	}
	n, seconds := mutex, d.cost.MutexSeconds
	if d.cost.BlockSeconds > seconds {
		n, seconds = block, d.cost.BlockSeconds
	}
	if n == 0 {
		return stats.Interval{Value: seconds, High: math.Inf(1)}
	}
	return stats.Poisson(n).Scale(seconds / float64(n))
}

// directSaving returns the saving that the claims themselves state.
func directSaving(claims []*claim) *rule.Saving {
	var sum *rule.Saving
	for _, c := range claims {
		if s := c.match.Saving; s != nil {
			if sum == nil {
				sum = &rule.Saving{}
			}
			sum.Seconds += s.Seconds
			sum.Low += s.Low
			sum.High += s.High
			sum.Collector += s.Collector
			sum.Cost += s.Cost
			sum.Latency = max(sum.Latency, s.Latency)
			sum.Modelled = sum.Modelled || s.Modelled
		}
	}
	return sum
}

// clamp limits a share to 0 to 1.
func clamp(i stats.Interval) stats.Interval {
	in := func(x float64) float64 { return math.Max(0, math.Min(1, x)) }
	return stats.Interval{Value: in(i.Value), Low: in(i.Low), High: in(i.High)}
}
