package diagnose

import (
	"context"
	"math"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// period is the length of a CPU sample.
const period = 10_000_000

// prices prices like site.Table, with a given cost per byte.
type prices struct{ secondsPerByte float64 }

func (p prices) Price(cpu, allocs []*site.Row) (site.Cost, stats.Interval) {
	var c site.Cost
	for _, r := range cpu {
		c.Samples += r.Count
		c.CPUSeconds += float64(r.Value) / 1e9
	}
	for _, r := range allocs {
		c.AllocBytes += r.Value
		c.AllocObjects += r.Count
	}
	c.GCSeconds = float64(c.AllocBytes) * p.secondsPerByte
	gc := stats.Interval{Value: c.GCSeconds, Low: c.GCSeconds * 0.9, High: c.GCSeconds * 1.1}
	return c, stats.Add(stats.Poisson(c.Samples).Scale(period/1e9), gc)
}

// Share is relative to the ten CPU-seconds of pass.
func (p prices) Share(cpu, allocs []*site.Row) stats.Interval {
	_, spread := p.Price(cpu, allocs)
	return spread.Scale(1.0 / 10)
}

// row returns a row with that many samples (or objects), blamed at its last frame.
func row(count, value int64, functions ...string) *site.Row {
	r := &site.Row{Count: count, Value: value, Owner: len(functions) - 1}
	for _, f := range functions {
		r.Stack = append(r.Stack, &site.Frame{Function: f})
	}
	return r
}

func cpu(samples int64, functions ...string) *site.Row {
	return row(samples, samples*period, functions...)
}

// at returns a site of the main module.
func at(function, file string, line int) *site.Site {
	s := &site.Site{}
	s.Function, s.File, s.Line = function, "/src/app/"+file, line
	s.Owner = gocode.Owner{Kind: gocode.Main, Module: "example.com/app", Package: "example.com/app", File: file}
	return s
}

// finds returns a rule with given matches.
func finds(id string, matches ...rule.Match) rule.Rule {
	for i := range matches {
		if matches[i].Confidence == "" {
			matches[i].Confidence = rule.Likely
		}
	}
	return rule.Rule{
		ID: id, Kind: rule.Alloc, Title: "Title of " + id,
		Finder: finder.Groups{
			Claim: rule.Claim{Fraction: rule.Fraction{Expect: 0.8, Low: 0.6, High: 0.9}},
			Rows:  func(context.Context, *rule.Pass) ([]rule.Match, error) { return matches, nil },
		},
	}
}

// claiming returns a rule with another claim.
func claiming(r rule.Rule, change func(*rule.Claim)) rule.Rule {
	groups, _ := r.Finder.(finder.Groups)
	change(&groups.Claim)
	r.Finder = groups
	return r
}

// pass is of a service of 10 CPU-seconds, saturated by a closed loop.
func pass() *rule.Pass {
	t := &site.Table{}
	t.Totals.TotalSeconds, t.Totals.CPUSamples = 10, 1000
	t.Totals.D, t.Totals.A, t.Totals.W, t.Totals.M = 1, 0.5, 0.1, 1.2
	t.Totals.AllocBytes, t.Totals.AllocObjects, t.Totals.AllObjects = 100<<20, 1_000_000, 1_000_000
	t.Totals.MutexSeconds, t.Totals.BlockSeconds = 16, 40
	t.Totals.LiveBytes = 10 << 20
	return &rule.Pass{
		Table: t,
		Manifest: &recording.Manifest{
			ID:      "20261120-1",
			Target:  recording.Target{Kind: "service", Arg: "./cmd/app"},
			Runtime: recording.Runtime{Go: "go1.26.8", Module: "example.com/app", GOMAXPROCS: 2, GOGC: 100},
			Machine: recording.Machine{Cores: 2, MemoryBytes: 8 << 30},
			Load:    &recording.Load{Targets: []string{"GET http://127.0.0.1:8080/"}, Connections: 8},
			Phases: []recording.Phase{
				{Name: recording.PhaseClean, Seconds: 5, Requests: 50_000, CPUSeconds: 9, AllocBytes: 200 << 20, AllocObjects: 2_000_000},
				{Name: recording.PhaseCPU, Seconds: 6, Requests: 50_000, CPUSeconds: 10},
				{Name: recording.PhaseContention, Seconds: 5, Requests: 50_000, CPUSeconds: 9},
			},
		},
		RecordingPath: "rec.hone",
	}
}

var price = prices{secondsPerByte: 1.6 / (100 << 20)}

// blind prices like a table without a CPU profile.
type blind struct{}

func (blind) Price(cpu, allocs []*site.Row) (site.Cost, stats.Interval) {
	c, _ := prices{}.Price(nil, allocs)
	return c, stats.Unknown()
}

func (blind) Share(cpu, allocs []*site.Row) stats.Interval {
	return stats.Interval{Value: math.NaN(), Low: 0, High: 1}
}
