package rule

import (
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

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

// Through gathers the CPU rows in which a line of the main module or a dependency calls one of the
// named functions, whoever is blamed for them: below a library that calls back
// (database/sql and its drivers, sort and its comparisons) that is somebody else's line. Each
// match has one line, nearest the leaf; a line without costs of its own gets a site that holds nothing.
func (p *Pass) Through(functions ...string) []Match {
	type key struct {
		file string
		line int
	}
	index := map[key]int{}
	var matches []Match
	p.EachRow(func(r *site.Row) {
		f := caller(r, functions)
		if f == nil {
			return
		}
		k := key{f.File, f.Line}
		i, ok := index[k]
		if !ok {
			i = len(matches)
			index[k] = i
			matches = append(matches, Match{Site: p.siteAt(f), Callees: functions})
		}
		matches[i].CPU = append(matches[i].CPU, r)
	})
	return matches
}

// caller returns the module's frame, nearest the leaf, that calls one of the functions.
func caller(r *site.Row, functions []string) *site.Frame {
	for i := 0; i+1 < len(r.Stack); i++ {
		f := r.Stack[i+1]
		if kind := f.Owner.Kind; (kind == gocode.Main || kind == gocode.Dependency) && Named(r.Stack[i].Function, functions...) {
			return f
		}
	}
	return nil
}

// siteAt returns the table's site of a line, or one without costs.
func (p *Pass) siteAt(f *site.Frame) *site.Site {
	for _, s := range p.Table.Sites {
		if s.File == f.File && s.Line == f.Line {
			return s
		}
	}
	return &site.Site{Frame: *f}
}
