package rule

import (
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// has reports whether a recording has what a rule needs. Rules check themselves whether metrics,
// traces and settings have the values that they look at.
func (p *Pass) has(n Need) bool {
	switch n {
	case NeedCounts:
		return p.Counts != nil && p.Manifest != nil
	case NeedInputs:
		return p.Inputs != nil
	case NeedUpgrade:
		return p.Manifest != nil && p.Manifest.Upgrade != nil
	}
	return true
}

// Phase returns a phase of the recording.
func (p *Pass) Phase(name string) (recording.Phase, bool) {
	if p.Manifest != nil {
		for _, ph := range p.Manifest.Phases {
			if ph.Name == name {
				return ph, true
			}
		}
	}
	return recording.Phase{}, false
}

// Place returns the syntax around a site; nil when its source is not loaded.
func (p *Pass) Place(s *site.Site) *gocode.Place {
	if p.Syntax == nil {
		return nil
	}
	place, ok := p.Syntax.At(s.File, s.Line)
	if !ok {
		return nil
	}
	return place
}

// Site returns the table's site of a frame, or a new one without rows.
func (p *Pass) Site(f *site.Frame) *site.Site {
	if p.Table != nil {
		for _, s := range p.Table.Sites {
			if s.Line == f.Line && s.Function == f.Function && s.File == f.File {
				return s
			}
		}
	}
	return &site.Site{Frame: *f}
}

// Benchmark reports whether the recording is of a package's benchmarks.
func (p *Pass) Benchmark() bool { return p.Manifest != nil && p.Manifest.Target.Kind == "bench" }

// EachRow calls visit for every CPU row of the table, of sites and of buckets.
func (p *Pass) EachRow(visit func(*site.Row)) {
	for _, s := range p.Table.Sites {
		for _, r := range s.CPU {
			visit(r)
		}
	}
	for _, b := range p.Table.Buckets {
		for _, r := range b.Rows {
			visit(r)
		}
	}
}

// EachStack calls visit for the stacks of the CPU, allocation and block profiles, leaf first.
func (p *Pass) EachStack(visit func([]*site.Frame)) {
	rows := func(lists ...[]*site.Row) {
		for _, list := range lists {
			for _, r := range list {
				visit(r.Stack)
			}
		}
	}
	for _, s := range p.Table.Sites {
		rows(s.CPU, s.Allocs, s.Block)
	}
	for i := range p.Table.Buckets {
		b := &p.Table.Buckets[i]
		rows(b.Rows, b.Allocs, b.Block)
	}
}
