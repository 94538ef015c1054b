package bench

import "github.com/hone-go/hone/internal/history"

// History returns the samples of both sides for the history, in the order in which they ran.
func (r *Result) History() (new, old []history.Sample) {
	return historyOf(r.Benchmarks, func(b Benchmark) []Sample { return b.New }), historyOf(r.Benchmarks, func(b Benchmark) []Sample { return b.Old })
}

func historyOf(benchmarks []Benchmark, side func(Benchmark) []Sample) []history.Sample {
	var out []history.Sample
	for _, b := range benchmarks {
		for _, unit := range b.units() {
			if v := values(side(b), unit); len(v) > 0 {
				out = append(out, history.Sample{Series: history.Series{Package: b.Package, Name: b.Name, Unit: unit}, Values: v})
			}
		}
	}
	return out
}
