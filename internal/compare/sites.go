package compare

import (
	"strings"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// Proof sets what a diagnosis promised beside what a second recording shows.
type Proof struct {
	// Functions are those with findings in the old recording, dearest promise first.
	Functions []FunctionProof `json:"functions"`
	// Predicted is the sum of all promises, as a share of the old CPU per request; each
	// sampled stack is charged to one finding, so that the sum counts nothing twice.
	Predicted stats.Interval `json:"predicted"`
	// Rest is what the program saved outside these functions: the whole saving less
	// theirs. Repairs relieve the collector, the kernel and the scheduler too, and the new
	// program may hold changes that no finding asked for.
	Rest float64 `json:"rest"`
}

// FunctionProof is one function: the CPU and GC work that its own lines cost per
// request, before and after, as shares of the old program's CPU per request.
type FunctionProof struct {
	Function  string         `json:"function"`
	Rules     []string       `json:"rules"`
	Predicted stats.Interval `json:"predicted"`
	Measured  stats.Interval `json:"measured"`
}

// Prove compares the findings of old with the sites of new. oldPer and newPer are the CPU
// seconds per request (or run) of the clean phases: they bring the two profiles'
// shares to one scale.
func Prove(report *diagnose.Report, old, new *site.Table, oldPer, newPer float64) Proof {
	var p Proof
	byFunction := map[string]*FunctionProof{}
	var order []string
	for _, f := range report.Findings {
		if f.Saving == nil || f.Saving.Resource != "cpu" || f.Kind == "config" || f.Kind == "gc" {
			continue
		}
		fp := byFunction[f.Function]
		if fp == nil {
			fp = &FunctionProof{Function: f.Function}
			byFunction[f.Function] = fp
			order = append(order, f.Function)
		}
		fp.Rules = append(fp.Rules, f.Rule)
		add(&fp.Predicted, f.Saving)
		add(&p.Predicted, f.Saving)
	}
	for _, name := range order {
		fp := byFunction[name]
		fp.Measured = measured(name, old, new, oldPer, newPer)
		p.Functions = append(p.Functions, *fp)
		p.Rest -= fp.Measured.Value
	}
	if oldPer > 0 {
		p.Rest += 1 - newPer/oldPer
	}
	return p
}

func add(sum *stats.Interval, s *diagnose.Saving) {
	sum.Value += s.Share
	sum.Low += s.Low
	sum.High += s.High
}

// measured is what the function's own lines cost before minus after, per request.
func measured(function string, old, new *site.Table, oldPer, newPer float64) stats.Interval {
	before := functionShare(old, function)
	after := functionShare(new, function)
	scale := 0.0
	if oldPer > 0 {
		scale = newPer / oldPer
	}
	return stats.Interval{
		Value: before.Value - after.Value*scale,
		Low:   before.Low - after.High*scale,
		High:  before.High - after.Low*scale,
	}
}

// functionShare is the CPU and GC work charged to a function's lines, as a share of
// the profile. Closures inside it ("f.func1") count as its own.
func functionShare(t *site.Table, function string) stats.Interval {
	var cpu, allocs []*site.Row
	for _, s := range t.Sites {
		if s.Function == function || strings.HasPrefix(s.Function, function+".func") {
			cpu = append(cpu, s.CPU...)
			allocs = append(allocs, s.Allocs...)
		}
	}
	if t.Totals.TotalSeconds <= 0 {
		return stats.Interval{}
	}
	_, seconds := t.Price(cpu, allocs)
	n := t.Totals.TotalSeconds
	return stats.Interval{Value: seconds.Value / n, Low: seconds.Low / n, High: seconds.High / n}
}
