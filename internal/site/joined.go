package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
)

// Joined reports where a recording's CPU samples and allocated bytes were charged.
type Joined struct {
	CPU   *Parts // of the samples, the collector's included; nil without any
	Bytes *Parts // of allocated bytes; nil without any
	// MainSamples counts the CPU samples with a frame of the main module, excluding those of the
	// collector, which are charged by bytes. EntrySamples counts those whose line of the main
	// module is known.
	MainSamples, EntrySamples int64
	Unjoined                  []Unjoined // most expensive first
}

// Parts are shares that add up to 1.
type Parts struct {
	Main         float64 // lines of the main module
	Dependencies float64 // lines of other modules
	Named        float64 // buckets that name what the runtime or the library does
	Unjoined     float64
}

// Unjoined is a cost that was charged nowhere, with the reason.
type Unjoined struct {
	What  string
	Why   string
	CPU   float64 // share of all samples
	Bytes float64 // share of all bytes
}

// Joined computes the shares. The probe's own costs are excluded.
func (t *Table) Joined() Joined {
	j := joining{parts: map[kind]*Parts{cpu: {}, allocs: {}}, total: map[kind]float64{}, unjoined: map[string]*Unjoined{}}
	for _, s := range t.Sites {
		for _, k := range []kind{cpu, allocs} {
			for _, r := range *s.rows(k) {
				j.site(k, s, r)
			}
		}
	}
	for i := range t.Buckets {
		b := &t.Buckets[i]
		for _, k := range []kind{cpu, allocs} {
			for _, r := range *b.rows(k) {
				j.bucket(k, b.Name, r)
			}
		}
	}
	return j.finish()
}

// joining sums up samples and bytes; finish turns the sums into shares.
type joining struct {
	parts    map[kind]*Parts
	total    map[kind]float64
	main     int64
	entries  int64
	unjoined map[string]*Unjoined
}

// amount is what a row counts: samples of CPU, bytes of memory.
func (k kind) amount(r *Row) float64 {
	if k == cpu {
		return float64(r.Count)
	}
	return float64(r.Value)
}

func (j *joining) site(k kind, s *Site, r *Row) {
	n := k.amount(r)
	j.total[k] += n
	p := j.parts[k]
	switch {
	case s.Owner.Package == "":
		j.miss(k, n, baseOf(s.File), "which package and module the file belongs to is not known")
	case s.Owner.Kind == gocode.Main:
		p.Main += n
	default:
		p.Dependencies += n
	}
	if k != cpu {
		return
	}
	if _, ok := EntryOf(r); ok {
		j.main += r.Count
		j.entries += r.Count
	} else if hasMain(r) {
		j.main += r.Count
	}
}

func (j *joining) bucket(k kind, name string, r *Row) {
	n := k.amount(r)
	j.total[k] += n
	switch name {
	case bucketNoSymbols:
		what := "code without symbols"
		if len(r.Stack) > 0 && strings.HasPrefix(r.Stack[0].Function, "[") {
			what = strings.Trim(r.Stack[0].Function, "[]")
		}
		j.miss(k, n, what, "it has no symbols: C code, a library of the system, or a stack that the profiler could not walk")
	case bucketRuntime:
		what := "a stack without frames"
		if len(r.Stack) > 0 {
			what = r.Stack[0].Function
		}
		j.miss(k, n, what, "a function of the runtime without a calling line, and of no activity that hone has a name for")
	default:
		j.parts[k].Named += n
		if k == cpu && !r.Class.collector() && hasMain(r) {
			j.main += r.Count
		}
	}
}

func (j *joining) miss(k kind, n float64, what, why string) {
	j.parts[k].Unjoined += n
	u := j.unjoined[what]
	if u == nil {
		u = &Unjoined{What: what, Why: why}
		j.unjoined[what] = u
	}
	if k == cpu {
		u.CPU += n
	} else {
		u.Bytes += n
	}
}

func (j *joining) finish() Joined {
	out := Joined{MainSamples: j.main, EntrySamples: j.entries}
	share := func(k kind) *Parts {
		p, all := j.parts[k], j.total[k]
		if all <= 0 {
			return nil
		}
		return &Parts{p.Main / all, p.Dependencies / all, p.Named / all, p.Unjoined / all}
	}
	out.CPU, out.Bytes = share(cpu), share(allocs)
	for _, u := range j.unjoined {
		if all := j.total[cpu]; all > 0 {
			u.CPU /= all
		}
		if all := j.total[allocs]; all > 0 {
			u.Bytes /= all
		}
		out.Unjoined = append(out.Unjoined, *u)
	}
	slices.SortFunc(out.Unjoined, func(a, b Unjoined) int {
		return cmp.Or(cmp.Compare(b.CPU+b.Bytes, a.CPU+a.Bytes), strings.Compare(a.What, b.What))
	})
	return out
}

// EntryOf returns the line of the main module that a row of a site goes back to: the charged line
// if the main module owns it, else the nearest line of the main module above it.
func EntryOf(r *Row) (*Frame, bool) {
	for i := max(r.Owner, 0); i < len(r.Stack); i++ {
		if f := r.Stack[i]; f.Owner.Kind == gocode.Main && f.Line > 0 && !generated(f.File) {
			return f, true
		}
	}
	return nil, false
}

func hasMain(r *Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *Frame) bool { return f.Owner.Kind == gocode.Main && !generated(f.File) })
}

// Share is the part that was charged somewhere.
func (p *Parts) Share() float64 { return p.Main + p.Dependencies + p.Named }

func (u Unjoined) String() string { return fmt.Sprintf("%s: %s", u.What, u.Why) }
