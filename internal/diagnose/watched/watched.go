package watched

import (
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// Cost is the cost of the rows that pass through a function.
type Cost struct {
	Nanoseconds, Bytes int64
	Recursive          bool        // it calls itself, directly or not, in at least a tenth of the rows by cost
	Rows               []*site.Row // of CPU
}

// Costs sums up the rows of a recording by the watched functions in their stacks, by name.
func Costs(p *rule.Pass) map[string]*Cost {
	watched := map[string]*Cost{}
	for _, f := range p.Inputs.Functions {
		watched[f.Name] = &Cost{}
	}
	type nested struct{ nanoseconds, bytes int64 }
	deep := map[*Cost]nested{}
	add := func(r *site.Row, to func(*Cost), again nested) {
		seen := map[*Cost]int{}
		for _, f := range r.Stack {
			c := watched[f.Function]
			if c == nil {
				continue
			}
			switch seen[c]++; seen[c] {
			case 1:
				to(c)
			case 2:
				sum := deep[c]
				deep[c] = nested{sum.nanoseconds + again.nanoseconds, sum.bytes + again.bytes}
			}
		}
	}
	p.EachRow(func(r *site.Row) {
		add(r, func(c *Cost) { c.Nanoseconds, c.Rows = c.Nanoseconds+r.Value, append(c.Rows, r) }, nested{nanoseconds: r.Value})
	})
	for _, s := range p.Table.Sites {
		for _, r := range s.Allocs {
			add(r, func(c *Cost) { c.Bytes += r.Value }, nested{bytes: r.Value})
		}
	}
	for c, n := range deep {
		c.Recursive = n.nanoseconds > 0 && 10*n.nanoseconds >= c.Nanoseconds || n.bytes > 0 && 10*n.bytes >= c.Bytes
	}
	return watched
}

// Calls estimates the number of calls of a function in the window of the CPU and allocation
// profiles, from those in the phase that counted inputs; 0 if that is unknown.
func Calls(p *rule.Pass, f *inputs.Function) float64 {
	units := p.Inputs.Units
	ph, ok := p.Manifest.Phase(recording.PhaseCPU)
	if !ok || units <= 0 {
		return 0
	}
	profiled := float64(max(ph.Requests, int64(ph.Runs)))
	if p.Manifest.Target.Bench != "" {
		profiled = 0
		for _, b := range ph.Benchmarks {
			for _, s := range b.Samples {
				profiled += float64(s.Iterations)
			}
		}
	}
	perUnit := float64(f.Calls) / units
	if f.Stopped { // later ones were not looked at
		e, ok := p.Counts.Line(f.Package, f.File, f.Line)
		if !ok {
			return 0
		}
		perUnit = e.PerUnit
	}
	return perUnit * profiled
}

// leastSamples is the minimum number of CPU samples for the cost of one call to be known.
const leastSamples = 8

// PerCall returns the mean CPU, in seconds, and the mean allocated bytes of a call, with all that
// it calls; false if that is unknown, and for functions that call themselves.
func PerCall(p *rule.Pass, c *Cost, f *inputs.Function) (seconds, bytes float64, ok bool) {
	calls := Calls(p, f)
	if c == nil || c.Recursive || calls <= 0 {
		return 0, 0, false
	}
	samples := int64(0)
	for _, r := range c.Rows {
		samples += r.Count
	}
	if samples < leastSamples {
		return 0, 0, false
	}
	return float64(c.Nanoseconds) / 1e9 / calls, float64(c.Bytes) / calls, true
}

// Reading estimates the CPU, in seconds, that a loop takes for looking at each byte of a text: a
// call, and a nanosecond for each byte.
func Reading(bytes float64) float64 { return 10e-9 + 1e-9*bytes }

// ByValue reports whether the parameters of a function were hashed by their values, except for
// functions that it gets, such as the one that loads what a cache does not have: the key decides
// what that returns. p is a place in the function.
func ByValue(p *gocode.Place, f *inputs.Function) bool {
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return f.ByValue()
	}
	i, known := 0, false
	for v := range sig.Params().Variables() {
		if v.Name() == "" || v.Name() == "_" {
			continue
		}
		if i == len(f.Params) {
			return false
		}
		_, function := v.Type().Underlying().(*types.Signature)
		if !function && f.Params[i] != inputs.ByValue {
			return false
		}
		i, known = i+1, known || !function
	}
	return known
}
