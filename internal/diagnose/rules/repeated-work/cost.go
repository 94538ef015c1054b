package repeatedwork

import (
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// cost is what passes through a function.
type cost struct {
	nanoseconds, bytes int64
	recursive          bool
}

// costs sums up rows by the watched functions in their stacks.
func costs(p *rule.Pass) map[string]*cost {
	watched := map[string]*cost{}
	for _, f := range p.Inputs.Functions {
		watched[f.Name] = &cost{}
	}
	add := func(r *site.Row, to func(*cost)) {
		seen := map[*cost]bool{}
		for _, f := range r.Stack {
			c := watched[f.Function]
			if c == nil {
				continue
			}
			if seen[c] {
				c.recursive = true
				continue
			}
			seen[c] = true
			to(c)
		}
	}
	p.EachRow(func(r *site.Row) { add(r, func(c *cost) { c.nanoseconds += r.Value }) })
	for _, s := range p.Table.Sites {
		for _, r := range s.Allocs {
			add(r, func(c *cost) { c.bytes += r.Value })
		}
	}
	return watched
}

// worth reports whether a call costs more than a look-up of its result would.
func (c *cost) worth(p *rule.Pass, f *inputs.Function) bool {
	units := p.Inputs.Units
	ph, ok := p.Manifest.Phase(recording.PhaseCPU)
	if !ok || units <= 0 {
		return false
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
	calls := float64(f.Calls) / units * profiled // in the window of the profiles
	return calls > 0 && (float64(c.nanoseconds)*1e-9 >= leastCost*calls || float64(c.bytes) >= leastBytes*calls)
}

// pure returns how sure it is that a function's result follows from its input and that it does nothing else; "" when it is not.
func (s *search) pure(f *inputs.Function) rule.Confidence {
	if rule.Named(f.Name, rule.Repeatable()...) {
		return sure(f.ByValue())
	}
	line := f.Line
	if strings.Contains(f.Name, ".func") {
		line++ // of the line of the word func the function around owns a part
	}
	place, ok := s.pass.Syntax.At(f.File, line)
	if !ok {
		return ""
	}
	signature := rule.SignatureOf(place)
	if signature == nil || !answers(signature) || !rule.WritesNothing(place) {
		return ""
	}
	return sure(f.ByValue() && signature.Recv() == nil)
}

func sure(is bool) rule.Confidence {
	if is {
		return rule.Measured
	}
	return rule.Likely
}

// answers reports whether a function returns something that is worth keeping: not only an error or a number of bytes.
func answers(s *types.Signature) bool {
	for v := range s.Results().Variables() {
		if !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
			return s.Results().Len() == 1 || !types.Identical(v.Type(), types.Typ[types.Int])
		}
	}
	return false
}
