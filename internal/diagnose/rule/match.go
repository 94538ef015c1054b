package rule

import (
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// Empty reports whether the match has no rows.
func (m *Match) Empty() bool {
	return len(m.CPU)+len(m.Allocs)+len(m.Mutex)+len(m.Block)+len(m.Live) == 0
}

// Keep drops the rows for which want does not hold.
func (m *Match) Keep(want func(*site.Row) bool) {
	for _, rows := range []*[]*site.Row{&m.CPU, &m.Allocs, &m.Mutex, &m.Block, &m.Live} {
		*rows = stacks.Select(*rows, want)
	}
}

// Interval returns the fraction as an interval.
func (f Fraction) Interval() stats.Interval {
	return stats.Interval{Value: f.Expect, Low: f.Low, High: f.High}
}

// Saving returns the fraction of some seconds of a total of latency.
func (f Fraction) Saving(seconds, total float64) *Saving {
	return &Saving{Seconds: f.Expect * seconds, Low: f.Low * seconds, High: f.High * seconds, Latency: total, Cost: seconds}
}

// Part returns the share of an interval that a fix is expected to save.
func (f Fraction) Part(of stats.Interval) *Saving {
	return &Saving{Seconds: f.Expect * of.Value, Low: f.Low * of.Low, High: f.High * of.High, Cost: of.Value}
}
