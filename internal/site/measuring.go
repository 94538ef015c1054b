package site

import "github.com/hone-go/hone/profile"

// WithoutMeasurement returns a profile of a recording without the stacks of the measurement itself:
// hone's probe, the handlers of net/http/pprof, the goroutines that collect profiles and traces. It
// returns the profile unchanged when there are none. shares holds what each column lost, by sample
// type, from 0 to 1.
func WithoutMeasurement(p *profile.Profile, code owners) (program *profile.Profile, shares []float64) {
	e := newExpander(newStacks(code), p)
	rows := p.RowsWhere(func(row int) bool { return e.stack(row).class != Probe })
	program = p.Keep(rows)
	if program.NumSamples() == p.NumSamples() {
		program = p
	}
	for i := range p.SampleTypes {
		share := 0.0
		if all := p.Total(i); all > 0 {
			share = 1 - float64(program.Total(i))/float64(all)
		}
		shares = append(shares, share)
	}
	return program, shares
}
