package site

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-go/hone/profile"
)

// kind is one of the profiles that are joined.
type kind uint8

const (
	cpu kind = iota
	allocs
	heap
	block
	mutex
	kinds // how many
)

// columns are the sample types that a kind of profile is read by.
var columns = [kinds]struct{ profile, count, value, unit string }{
	cpu:    {"cpu profile", "samples", "cpu", "nanoseconds"},
	allocs: {"allocs profile", "alloc_objects", "alloc_space", "bytes"},
	heap:   {"heap profile", "inuse_objects", "inuse_space", "bytes"},
	block:  {"block profile", "contentions", "delay", "nanoseconds"},
	mutex:  {"mutex profile", "contentions", "delay", "nanoseconds"},
}

// profile returns the profile of a kind, nil when there is none.
func (in *Input) profile(k kind) *profile.Profile {
	return [kinds]*profile.Profile{in.CPU, in.Allocs, in.Heap, in.Block, in.Mutex}[k]
}

// charge is a row with the stack that decides where it is charged.
type charge struct {
	row   *Row
	stack *stack
}

// read returns the rows of one profile. Samples with the same frames make one row. dropped counts
// rows below zero, which a difference of two snapshots may contain.
func (s *stacks) read(ctx context.Context, k kind, p *profile.Profile) (rows []charge, dropped int, err error) {
	counts, values, err := valueColumns(k, p)
	if err != nil {
		return nil, 0, err
	}
	e := newExpander(s, p)
	var slab []Row
	for i, value := range values {
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		count := counts(i)
		if count == 0 && value == 0 {
			continue
		}
		t := e.stack(i)
		if t.row == nil {
			if len(slab) == cap(slab) {
				slab = make([]Row, 0, min(1<<12, len(values)))
			}
			slab = append(slab, Row{Stack: t.frames, Owner: t.owner, Class: t.class})
			t.row = &slab[len(slab)-1]
			if k != cpu && t.class != Probe {
				t.row.Class = Work
			}
			rows = append(rows, charge{t.row, t})
		}
		t.row.Count += count
		t.row.Value += value
	}
	kept := rows[:0]
	for _, r := range rows {
		r.stack.row = nil
		if r.row.Count < 0 || r.row.Value < 0 {
			dropped++
			continue
		}
		if r.row.Count != 0 || r.row.Value != 0 {
			kept = append(kept, r)
		}
	}
	return kept, dropped, nil
}

// valueColumns finds the count and the value of a kind's samples. A CPU profile
// of another tool may lack the count: then it is the value over the period.
func valueColumns(k kind, p *profile.Profile) (counts func(int) int64, values []int64, err error) {
	c := columns[k]
	countAt, valueAt := -1, -1
	var have []string
	for i, t := range p.SampleTypes {
		have = append(have, t.Type+"/"+t.Unit)
		switch {
		case t.Type == c.count && countAt < 0:
			countAt = i
		case t.Type == c.value && t.Unit == c.unit && valueAt < 0:
			valueAt = i
		}
	}
	if valueAt < 0 {
		return nil, nil, fmt.Errorf("%s: no sample type %s/%s, only %s", c.profile, c.value, c.unit, strings.Join(have, ", "))
	}
	values = p.Values(valueAt)
	if countAt >= 0 {
		column := p.Values(countAt)
		return func(i int) int64 { return column[i] }, values, nil
	}
	if k != cpu {
		return nil, nil, fmt.Errorf("%s: no sample type %s, only %s", c.profile, c.count, strings.Join(have, ", "))
	}
	period := samplePeriod(p)
	return func(i int) int64 { return (values[i] + period/2) / period }, values, nil
}

// samplePeriod is the CPU time between two samples in nanoseconds; the runtime's
// default, 100 a second, when the profile does not say.
func samplePeriod(p *profile.Profile) int64 {
	if p != nil && p.Period > 0 && p.PeriodType.Unit == "nanoseconds" {
		return p.Period
	}
	return 10_000_000
}

// allocationRate is the mean number of bytes between two sampled allocations;
// the runtime's default when the profile does not say.
func allocationRate(p *profile.Profile) int64 {
	if p != nil && p.Period > 0 && p.PeriodType.Unit == "bytes" {
		return p.Period
	}
	return 512 << 10
}
