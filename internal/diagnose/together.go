package diagnose

import (
	"math"
	"slices"

	"github.com/hone-go/hone/stats"
)

// Together is the saving of one resource that several findings of one report promise when all
// their fixes are made, with what they list under Also.
//
// Shares add up, because each sampled stack is charged to one finding. The part of their intervals
// that comes from sampling is independent between findings. The range of what a fix saves is one
// estimate for each rule: if it is wrong, it is wrong for all findings of the rule, so it adds up
// linearly within a rule and like a standard deviation between rules. Advice on the collector's
// work (OfCollector) saves part of what allocations cost; it can save only what the other fixes
// leave of that work.
//
// A finding counts with those that it includes, which then do not count separately, or with the
// part of them that it includes.
func Together(resource string, findings ...*Finding) stats.Interval {
	return Apart(resource, nested(findings)...)
}

// Apart is Together with each finding alone, without those that it includes: what they save at
// their own lines.
func Apart(resource string, findings ...*Finding) stats.Interval {
	var code []*Finding
	var settings []*Finding
	for _, f := range withAlso(findings) {
		switch {
		case f.Saving == nil || f.Saving.Resource != resource:
		case f.Saving.OfCollector > 0:
			settings = append(settings, f)
		default:
			code = append(code, f)
		}
	}
	var sum stats.Interval
	belief := map[string]*stats.Interval{}
	var sampled []stats.Interval
	for _, f := range code {
		s := f.Saving
		sum.Value += s.Share
		spread := f.sampling()
		sampled = append(sampled, spread)
		b := belief[f.Rule]
		if b == nil {
			b = &stats.Interval{}
			belief[f.Rule] = b
		}
		b.Low -= beyond(s.Share-s.Low, spread.Low)
		b.High += beyond(s.High-s.Share, spread.High)
	}
	for _, f := range settings {
		of := math.Min(1, f.Saving.OfCollector/f.Saving.Share)
		left := 1 - of + of*math.Max(0, 1-collected(code, f))
		sum.Value += f.Saving.Share * left
		sampled = append(sampled, stats.Interval{Low: (f.Saving.Low - f.Saving.Share) * left, High: (f.Saving.High - f.Saving.Share) * left})
	}
	for _, b := range belief {
		sampled = append(sampled, *b)
	}
	around := stats.Add(sampled...)
	return clamp(stats.Interval{Value: sum.Value, Low: sum.Value + around.Low, High: sum.Value + around.High})
}

// nested gives each finding the cost and saving with those that it includes, and drops those; of
// those that it includes in part, the rest remains.
func nested(findings []*Finding) []*Finding {
	left := map[int]float64{} // of a finding by its rank, if less than all
	for i, f := range findings {
		if f == nil || slices.Contains(findings[:i], f) {
			continue
		}
		for _, rank := range f.Includes {
			left[rank] = 0
		}
		for _, part := range f.IncludesPart {
			if before, ok := left[part.Rank]; ok {
				left[part.Rank] = before * (1 - part.Share)
			} else {
				left[part.Rank] = 1 - part.Share
			}
		}
	}
	var out []*Finding
	seen := map[*Finding]bool{}
	for _, f := range findings {
		if f == nil || seen[f] {
			continue
		}
		seen[f] = true
		rest, some := left[f.Rank]
		some = some && !f.Setting && f.Rank > 0
		if some && rest == 0 {
			continue
		}
		if f.SavingWith != nil && f.CostWith != nil {
			with := *f
			with.Saving, with.Cost = f.SavingWith, *f.CostWith
			f = &with
		}
		if some {
			f = f.scaled(rest)
		}
		out = append(out, f)
	}
	return out
}

// scaled returns a finding of which a part is left.
func (f *Finding) scaled(part float64) *Finding {
	out := *f
	if s := f.Saving; s != nil {
		less := *s
		less.Share, less.Low, less.High, less.OfCollector = s.Share*part, s.Low*part, s.High*part, s.OfCollector*part
		out.Saving = &less
	}
	if c := f.Cost.WithGC; c != nil {
		out.Cost.WithGC = &Range{Share: c.Share * part, Low: c.Low * part, High: c.High * part}
	}
	if gc := f.Cost.GCShare; gc != nil {
		out.Cost.GCShare = ptr(*gc * part)
	}
	return &out
}

// withAlso returns the findings and those listed under Also, each once.
func withAlso(findings []*Finding) []*Finding {
	var all []*Finding
	seen := map[*Finding]bool{}
	for _, f := range findings {
		if f == nil || seen[f] {
			continue
		}
		seen[f] = true
		all = append(all, f)
		for i := range f.Also {
			all = append(all, &f.Also[i])
		}
	}
	return all
}

// sampling returns how far, below and above, sampling alone moves a finding's saving.
func (f *Finding) sampling() stats.Interval {
	c := f.Cost.WithGC
	if c == nil || c.Share <= 0 || f.Saving.Resource != limitCPU {
		return stats.Interval{}
	}
	fraction := f.Saving.Share / c.Share
	return stats.Interval{
		Low:  math.Max(f.Saving.Low-f.Saving.Share, fraction*(c.Low-c.Share)),
		High: math.Min(f.Saving.High-f.Saving.Share, fraction*(c.High-c.Share)),
	}
}

// beyond returns what is left of a distance without an independent part of it.
func beyond(all, part float64) float64 {
	return math.Sqrt(math.Max(0, all*all-part*part))
}

// collected returns the part of the collector's work that fixes in code take away from a setting.
func collected(code []*Finding, setting *Finding) float64 {
	all := setting.Cost.GCShare
	if all == nil || *all <= 0 {
		return 0
	}
	var part float64
	for _, f := range code {
		if c := f.Cost.WithGC; f.Cost.GCShare != nil && c != nil && c.Share > 0 {
			part += *f.Cost.GCShare * f.Saving.Share / c.Share
		}
	}
	return part / *all
}
