package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Join builds the table. It fails when a profile is not of the kind it is given
// as, or when ctx ends.
func Join(ctx context.Context, in Input) (*Table, error) {
	if in.Code == nil {
		return nil, errors.New("join profiles: no code index")
	}
	return join(ctx, &in, in.Code)
}

func join(ctx context.Context, in *Input, code owners) (*Table, error) {
	j := &joiner{all: newStacks(code), buckets: map[string]*Bucket{}}
	for k := range kinds {
		p := in.profile(k)
		if p == nil {
			continue
		}
		rows, dropped, err := j.all.read(ctx, k, p)
		if err != nil {
			return nil, fmt.Errorf("join profiles: %w", err)
		}
		j.dropped[k] = dropped
		if k == cpu {
			sweepYields(rows)
		}
		for _, r := range rows {
			j.add(k, r)
			if k == allocs {
				j.bytes.add(r.row, allocationRate(p))
			}
		}
	}
	t := &Table{Totals: j.totals, pricing: newPricing(in, j)}
	t.Totals.ContentionSeconds = in.ContentionSeconds
	t.Totals.AllObjects = max(t.Totals.AllocObjects, in.CountedObjects)
	j.finish(t)
	t.Notes = j.notes(in, t)
	return t, nil
}

// joiner charges rows one by one.
type joiner struct {
	all     *stacks
	drafts  []*draft
	buckets map[string]*Bucket
	totals  Totals
	bytes   tally // of all rows, the probe's too: they drive the collector alike
	dropped [kinds]int
	coarse  int64 // samples of mark workers that may be idle marking
}

// draft is a site under construction: the lines that call it compete for its entry.
type draft struct {
	Site
	entries []entry
}

// entry is a line of the main module, with the cost that passed through it.
type entry struct {
	at      *node
	seconds float64 // CPU
	wait    float64 // block and mutex, seconds
	bytes   int64   // allocated
	live    int64   // bytes
}

func (j *joiner) add(k kind, c charge) {
	r := c.row
	switch {
	case c.stack.class == Probe:
		switch k {
		case cpu:
			j.totals.ProbeSeconds += seconds(r)
		case allocs:
			j.totals.ProbeBytes += r.Value
		}
		return
	case c.stack.bucket != "":
		b := j.buckets[c.stack.bucket]
		if b == nil {
			b = &Bucket{Name: c.stack.bucket}
			j.buckets[b.Name] = b
		}
		rows := b.rows(k)
		*rows = append(*rows, r)
		b.Cost.add(k, r)
		if k == cpu {
			b.Seconds += seconds(r)
			b.Samples += r.Count
			if c.stack.coarse {
				j.coarse += r.Count
			}
			if c.stack.yields {
				j.totals.Yields += seconds(r)
			}
		}
	default:
		d := j.draft(c.stack)
		rows := d.rows(k)
		*rows = append(*rows, r)
		d.Cost.add(k, r)
		d.led(c.stack.entry, k, r)
	}
	j.totals.add(k, r)
}

// draft returns the site of the line that a stack is charged to.
func (j *joiner) draft(s *stack) *draft {
	at := s.blamed.place
	if at.draft == nil {
		at.draft = &draft{Site: Site{Frame: s.blamed.Frame}}
		j.drafts = append(j.drafts, at.draft)
	}
	return at.draft
}

// led records through which line of the main module a row was reached.
func (d *draft) led(at *node, k kind, r *Row) {
	if at == nil {
		return
	}
	i := slices.IndexFunc(d.entries, func(e entry) bool { return e.at.place == at.place })
	if i < 0 {
		i = len(d.entries)
		d.entries = append(d.entries, entry{at: at})
	}
	e := &d.entries[i]
	switch k {
	case cpu:
		e.seconds += seconds(r)
	case allocs:
		e.bytes += r.Value
	case heap:
		e.live += r.Value
	case block, mutex:
		e.wait += seconds(r)
	}
}

// mostExpensive picks the entry with the highest cost: CPU including the collector's share, then
// waiting, then live memory.
func (d *draft) mostExpensive(secondsPerByte float64) *Frame {
	if len(d.entries) == 0 {
		return nil
	}
	most := slices.MaxFunc(d.entries, func(a, b entry) int {
		return cmp.Or(
			cmp.Compare(a.seconds+float64(a.bytes)*secondsPerByte, b.seconds+float64(b.bytes)*secondsPerByte),
			cmp.Compare(a.wait, b.wait),
			cmp.Compare(a.live, b.live),
		)
	})
	return &most.at.Frame
}

// finish prices and sorts what was charged.
func (j *joiner) finish(t *Table) {
	perByte := t.pricing.secondsPerByte()
	for _, d := range j.drafts {
		d.Cost.GCSeconds = float64(d.Cost.AllocBytes) * perByte
		d.Entry = d.mostExpensive(perByte)
		for k := range kinds {
			sortRows(*d.rows(k))
		}
		t.Sites = append(t.Sites, &d.Site)
	}
	for _, b := range j.buckets {
		b.Cost.GCSeconds = float64(b.Cost.AllocBytes) * perByte
		for k := range kinds {
			sortRows(*b.rows(k))
		}
		t.Buckets = append(t.Buckets, *b)
	}
	t.Totals.GCSeconds = float64(t.Totals.AllocBytes) * perByte
	slices.SortFunc(t.Sites, func(a, b *Site) int {
		return cmp.Or(
			cmp.Compare(b.Cost.seconds(), a.Cost.seconds()),
			cmp.Compare(b.Cost.wait(), a.Cost.wait()),
			cmp.Compare(b.Cost.LiveBytes, a.Cost.LiveBytes),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		)
	})
	slices.SortFunc(t.Buckets, func(a, b Bucket) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(b.Cost.wait(), a.Cost.wait()), cmp.Compare(a.Name, b.Name))
	})
}

// sortRows puts the most expensive first; equal ones stay in the profile's order.
func sortRows(rows []*Row) {
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(b.Value, a.Value) })
}

func (s *Site) rows(k kind) *[]*Row {
	return [kinds]*[]*Row{&s.CPU, &s.Allocs, &s.Live, &s.Block, &s.Mutex}[k]
}

func (b *Bucket) rows(k kind) *[]*Row {
	return [kinds]*[]*Row{&b.Rows, &b.Allocs, &b.Live, &b.Block, &b.Mutex}[k]
}
