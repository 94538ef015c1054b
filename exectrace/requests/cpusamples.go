package requests

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile"
)

// maxSamples is how many CPU samples wait for the end of their request, to be
// counted under its route.
const maxSamples = 1024

// CPUSchema is the name and version of CPU's JSON.
const CPUSchema = "hone/trace/cpu/v1"

type sampleKey struct {
	protocol Protocol
	name     uint16
	stack    exectrace.StackID
}

// samples counts CPU samples by route and stack.
type samples struct {
	total int64
	n     map[sampleKey]int64
}

func (s *samples) init()           { s.n = map[sampleKey]int64{} }
func (s *samples) add(k sampleKey) { s.n[k]++ }

// take counts the samples of a request that is over.
func (s *samples) take(l *live) {
	for _, stack := range l.samples {
		s.add(sampleKey{l.protocol, l.name, stack})
	}
}

// CPU is CPU samples by request route. A sample belongs to a request when the request's
// goroutine ran, or one that it started and that did not outlive it.
type CPU struct {
	Schema  string     `json:"schema"`
	Samples int64      `json:"samples"` // in the trace; 0: no CPU profile ran while it was taken
	Routes  []CPURoute `json:"routes"`  // most samples first
	Outside int64      `json:"outside"` // of no request
}

// CPURoute is the samples of a route.
type CPURoute struct {
	Name     string   `json:"name"`
	Protocol Protocol `json:"protocol"`
	Samples  int64    `json:"samples"`
	Share    float64  `json:"share"` // of all samples
	// PerRequest is samples by request; multiply by the sampling period (10 ms unless the
	// program changed it) for CPU time.
	PerRequest float64 `json:"samples_per_request"`
}

// CPU returns the samples by route, after the trace's end.
func (f *Fold) CPU() *CPU {
	out := &CPU{Schema: CPUSchema, Samples: f.cpu.total, Routes: []CPURoute{}}
	by := map[routeKey]int64{}
	count := map[routeKey]int64{}
	for k, n := range f.cpu.n {
		if k.protocol == 0 {
			out.Outside += n
			continue
		}
		by[f.innermost(routeKey{k.protocol, k.name})] += n
	}
	for _, r := range f.routes.list {
		count[f.innermost(routeKey{r.protocol, r.name})] += r.latency.Count()
	}
	for k, n := range by {
		r := CPURoute{Name: f.names[k.name], Protocol: k.protocol, Samples: n, Share: float64(n) / float64(f.cpu.total)}
		if c := count[k]; c > 0 {
			r.PerRequest = float64(n) / float64(c)
		}
		out.Routes = append(out.Routes, r)
	}
	out.Outside += out.Samples - out.Outside - sum(by) // of requests that were cut
	slices.SortFunc(out.Routes, func(a, b CPURoute) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Protocol, b.Protocol))
	})
	return out
}

func sum(by map[routeKey]int64) (n int64) {
	for _, v := range by {
		n += v
	}
	return n
}

// CPUProfile returns the samples by stack, with the label "route" on those of requests.
func (f *Fold) CPUProfile() (*profile.Profile, error) {
	var rows []exectrace.Row
	for k, n := range f.cpu.n {
		row := exectrace.Row{Stack: k.stack, Values: []int64{n}}
		if k.protocol != 0 {
			row.Labels = f.labels(f.innermost(routeKey{k.protocol, k.name}))
		}
		rows = append(rows, row)
	}
	sortRows(rows)
	return f.trace.Profile([]profile.ValueType{{Type: "samples", Unit: "count"}}, rows)
}
