package labelled

import (
	"cmp"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastBytes of live memory that the series of a line must have: twice what a sample of the
	// heap represents.
	leastBytes = 1 << 20
	// leastGrowth is the memory that they must gain if nothing shows which label has many values,
	// and perRequest the objects that each request must leave behind then, of leastRequests.
	leastGrowth   = 2 << 20
	perRequest    = 0.5
	leastRequests = 500
)

// Series is a line of the program that looks a metric up, and what the metric keeps for its labels.
type Series struct {
	Site   *site.Site
	Call   *ast.CallExpr
	Labels []flow.Argument
	Many   []Unbounded // the labels with values without limit; none if nothing shows which they are
	Live   []*site.Row
	Bytes  int64 // of Live
	Grown  int64 // what Live gained in the window of the heap profiles

	objects int64 // gained
}

// SeriesOf returns the lines whose metrics keep a series for each of many labels: one of the labels
// visibly has values without limit, or each request leaves a series behind.
func SeriesOf(p *rule.Pass) []Series {
	if p.Syntax == nil || p.Table == nil {
		return nil
	}
	ph, _ := p.Phase(recording.PhaseCPU)
	var found []Series
	for _, s := range grouped(p) {
		if s.Bytes < leastBytes || !s.look(p) {
			continue
		}
		leaves := s.Grown >= leastGrowth && ph.Requests >= leastRequests && float64(s.objects) >= perRequest*float64(ph.Requests)
		if len(s.Many) > 0 || leaves {
			found = append(found, *s)
		}
	}
	slices.SortStableFunc(found, func(a, b Series) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return found
}

// grouped returns the live memory below calls that look metrics up, by line of the program.
func grouped(p *rule.Pass) (all []*Series) {
	type line struct {
		function, file string
		number         int
	}
	by := map[line]*Series{}
	for _, at := range p.Table.Sites {
		if len(at.Live) == 0 {
			continue
		}
		live, _ := stacks.Sum(at.Live)
		bytes, objects := grown(p, at)
		for _, r := range at.Live {
			f := caller(r)
			if f == nil || live <= 0 {
				continue
			}
			l := line{f.Function, f.File, f.Line}
			g := by[l]
			if g == nil {
				g = &Series{Site: p.Site(f)}
				by[l] = g
				all = append(all, g)
			}
			share := float64(r.Value) / float64(live)
			g.Live, g.Bytes = append(g.Live, r), g.Bytes+r.Value
			g.Grown += int64(share * bytes)
			g.objects += int64(share * objects)
		}
	}
	return all
}

// grown returns what a line gained in live memory.
func grown(p *rule.Pass, at *site.Site) (bytes, objects float64) {
	for i := range p.Growth {
		if g := &p.Growth[i]; g.Line == at.Line && g.File == at.File && g.Function == at.Function {
			return float64(g.Bytes), float64(g.Objects)
		}
	}
	return 0, 0
}

// caller returns the frame of the program that looks a metric up for a row; nil for none. It is one
// of a module if no frame of the program does.
func caller(r *site.Row) (found *site.Frame) {
	for i := 1; i < len(r.Stack); i++ {
		f, callee := r.Stack[i], r.Stack[i-1]
		if callee.Owner.Package == f.Owner.Package && f.Owner.Kind != gocode.Main || !keeps(callee.Function) {
			continue
		}
		if f.Owner.Kind == gocode.Main {
			return f
		}
		if f.Owner.Kind == gocode.Dependency {
			found = f
		}
	}
	return found
}

// keeps reports whether a function, by its name in profiles, looks up a series or creates it.
func keeps(function string) bool {
	if strings.HasPrefix(function, otel+"sdk/metric.(*") {
		return strings.HasSuffix(function, "Inst).Add") || strings.HasSuffix(function, "Inst).Record")
	}
	return Resolves(function) || funcname.Match(function, "expvar.(*Map).Add*", "expvar.(*Map).Set")
}

// look finds the call and its labels in the source, and reports whether it is one.
func (s *Series) look(p *rule.Pass) bool {
	place := p.Place(s.Site)
	if place == nil {
		return false
	}
	for _, call := range syntax.Calls(place) {
		labels, ok := Labels(p.Syntax, place, call)
		if !ok {
			continue
		}
		many := Unlimited(p.Syntax, labels)
		if s.Call == nil || len(many) > len(s.Many) {
			s.Call, s.Labels, s.Many = call, labels, many
		}
	}
	return s.Call != nil
}

// Explains reports whether most of some live rows belong to series.
func Explains(series []Series, live []*site.Row) bool {
	all, _ := stacks.Sum(live)
	var part int64
	for _, r := range live {
		if slices.ContainsFunc(series, func(s Series) bool { return slices.Contains(s.Live, r) }) {
			part += r.Value
		}
	}
	return all > 0 && 2*part >= all
}
