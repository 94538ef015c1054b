package requests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/histogram"
)

// Schema is the name and version of Result's JSON.
const Schema = "hone/trace/requests/v1"

// Result is what a trace says about its requests. Durations are in nanoseconds, times count from
// the trace's first event.
type Result struct {
	Schema string `json:"schema"`
	Length int64  `json:"length_ns"`
	// Count is of the requests that began and ended in the trace. All figures are of these.
	Count int64 `json:"count"`
	// Cut is how many began before the trace did, or were lost in a gap.
	Cut       int64           `json:"cut"`
	Protocols []ProtocolCount `json:"protocols"`
	// All is all requests together; nil when there were none.
	All *Route `json:"all,omitempty"`
	// Routes are by time spent in them, most first.
	Routes []Route `json:"routes"`
	// Slowest are the slowest requests of all routes, slowest first.
	Slowest []Request `json:"slowest"`
	// Open had not ended when the trace did, longest first. Their latency is up to then.
	Open  []Request `json:"open,omitempty"`
	Notes []string  `json:"notes,omitempty"`
}

// ProtocolCount is how many requests came by a protocol.
type ProtocolCount struct {
	Protocol Protocol `json:"protocol"`
	Count    int64    `json:"count"`
}

// Route is the requests of one handler.
type Route struct {
	// Name is the handler's function, the method of gRPC ("pkg.Service/Method"), or a task's type;
	// empty when nothing happened in the handlers that would have shown it, or for all routes.
	Name     string   `json:"name"`
	Protocol Protocol `json:"protocol,omitempty"`
	// Other says that these are all routes beyond those that have figures of their own.
	Other bool  `json:"other,omitempty"`
	Count int64 `json:"count"`
	// Inferred of Count showed no event in this handler, only in one that wraps it, or in none.
	// They are counted here because every request that was seen to go further went here.
	Inferred int64 `json:"inferred,omitempty"`
	// Latency is from the arrival of requests to the last write of their responses; Served is
	// without the time until they were read, which the program cannot see; Handler is that in the
	// handler. In seconds.
	Latency *histogram.Summary `json:"latency"`
	Served  *histogram.Summary `json:"served"`
	Handler *histogram.Summary `json:"handler"`
	// Time is the latency of all requests together, and Parts what it is made of.
	Time  int64      `json:"ns"`
	Parts []PartTime `json:"parts"`
	// Places are the same by line, most time first.
	Places  []PlaceTime `json:"places,omitempty"`
	Samples int64       `json:"cpu_samples"`
	Regions []RegionSum `json:"regions,omitempty"`
	Why     *Why        `json:"why,omitempty"` // p99 against the median
}

// RegionSum is a user region over the requests of a route.
type RegionSum struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Time  int64  `json:"ns"`
}

// RegionTime is a user region in a request.
type RegionTime struct {
	Name string `json:"name"`
	Time int64  `json:"ns"`
}

// Request is one request.
type Request struct {
	ID        int64    `json:"id"` // counts requests from 1, in the order in which they were known to be one
	Protocol  Protocol `json:"protocol"`
	Route     string   `json:"route"`
	Task      string   `json:"task,omitempty"` // type of the first user task in it
	Goroutine uint64   `json:"goroutine"`
	Begin     int64    `json:"begin_ns"`
	Latency   int64    `json:"latency_ns"`
	// Latency is Queued, until the request was read, or its goroutine ran; Head, until the handler
	// was called; Handler; and After, writing the rest of the response.
	Queued  int64        `json:"queued_ns"`
	Head    int64        `json:"head_ns"`
	Handler int64        `json:"handler_ns"`
	After   int64        `json:"after_ns"`
	Parts   []PartTime   `json:"parts"` // sum to Latency
	Waits   []Wait       `json:"waits"` // the parts off the processor, by place; longest first
	Samples int          `json:"cpu_samples,omitempty"`
	Regions []RegionTime `json:"regions,omitempty"`
	Path    *Path        `json:"path,omitempty"` // with Options.Paths

	key   routeKey
	waits []wait
}

// Wait is a place at which a goroutine was off its processor.
type Wait struct {
	Part   Part            `json:"part"`
	NoIdle bool            `json:"no_idle_processor,omitempty"` // ready: while all processors were busy
	Object string          `json:"object,omitempty"`            // what it waited for: "sync.Mutex"
	Waiter *exectrace.Line `json:"waiter,omitempty"`
	Caller *exectrace.Line `json:"caller,omitempty"` // as in [Place]
	Waker  *exectrace.Line `json:"waker,omitempty"`  // where the goroutine was that ended the wait
	Count  int             `json:"count"`
	Time   int64           `json:"ns"`
}

// WithoutPaths returns the result without the critical paths of its requests, which another view
// shows.
func (r *Result) WithoutPaths() *Result {
	out := *r
	for _, list := range []*[]Request{&out.Slowest, &out.Open} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Path = nil
		}
	}
	return &out
}

func sortWaits(ws []Wait) {
	slices.SortStableFunc(ws, func(a, b Wait) int { return cmp.Compare(b.Time, a.Time) })
}

func sortRequests(rs []Request) {
	slices.SortFunc(rs, func(a, b Request) int {
		return cmp.Or(cmp.Compare(b.Latency, a.Latency), cmp.Compare(a.ID, b.ID))
	})
}

// group is the routes that are reported as one: the first, and those of requests of which less is
// known.
type group struct {
	key      routeKey
	routes   []*route
	inferred int64
}

// groups returns the routes as they are reported.
func (f *Fold) groups() []group {
	var out []group
	at := map[routeKey]int{}
	for _, r := range f.routes.list {
		k := f.settled(routeKey{r.protocol, r.name})
		to := f.innermost(k)
		if r.other {
			to = k
		}
		i, ok := at[to]
		if !ok {
			i = len(out)
			at[to] = i
			out = append(out, group{key: to})
		}
		out[i].routes = append(out[i].routes, r)
		if to != k {
			out[i].inferred += r.latency.Count()
		}
	}
	return out
}

// Result returns the figures, after the trace's end.
func (f *Fold) Result() *Result {
	res := &Result{Schema: Schema, Length: f.length, Cut: f.cut, Slowest: f.slow.list, Open: f.open, Routes: []Route{}}
	for p, n := range f.count {
		if n > 0 {
			res.Protocols = append(res.Protocols, ProtocolCount{Protocol(p), n})
			res.Count += n
		}
	}
	if res.Count > 0 {
		all := f.route(group{routes: f.routes.list})
		all.Other = false
		res.All = &all
	}
	for _, g := range f.groups() {
		res.Routes = append(res.Routes, f.route(g))
	}
	slices.SortStableFunc(res.Routes, func(a, b Route) int { return cmp.Compare(b.Time, a.Time) })
	for i := range res.Slowest {
		f.complete(&res.Slowest[i])
	}
	for i := range res.Open {
		f.complete(&res.Open[i])
	}
	res.Notes = f.notes(res)
	return res
}

// complete says in words what is known of a request at the trace's end: under which route it is
// counted, and where it waited.
func (f *Fold) complete(q *Request) {
	q.Route = f.names[f.innermost(q.key).name]
	q.Waits = f.describe(q.waits)
}

func (f *Fold) route(g group) Route {
	out := Route{Name: f.names[g.key.name], Protocol: g.key.protocol, Other: g.routes[0].other, Inferred: g.inferred}
	latency, served, handler := histogram.New(), histogram.New(), histogram.New()
	var parts breakdown
	regions := map[string]*RegionSum{}
	for _, r := range g.routes {
		latency.Merge(r.latency)
		served.Merge(r.served)
		handler.Merge(r.handler)
		parts.add(&r.parts)
		out.Samples += r.samples
		for name, s := range r.regions {
			if regions[name] == nil {
				regions[name] = &RegionSum{Name: name}
			}
			regions[name].Count += s.n
			regions[name].Time += s.time
		}
	}
	out.Count, out.Latency, out.Served, out.Handler = latency.Count(), latency.Summary(), served.Summary(), handler.Summary()
	out.Time, out.Parts, out.Places = parts.total(), parts.list(), f.spentAt(g, &parts)
	for _, s := range regions {
		out.Regions = append(out.Regions, *s)
	}
	slices.SortFunc(out.Regions, func(a, b RegionSum) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name))
	})
	out.Why = f.why(g, latency)
	return out
}

// notes says what the reader of a result must know.
func (f *Fold) notes(res *Result) []string {
	var out []string
	if f.count[HTTP1] > 0 {
		out = append(out, "Pipelined HTTP/1 requests, which arrive in one read of their connection, count from the answer to the previous one; their wait for it is not seen.")
	}
	if res.Cut > 0 {
		out = append(out, fmt.Sprintf("Not in the figures: requests that began before the trace or were lost in a gap (%d).", res.Cut))
	}
	if n := len(res.Open); n > 0 {
		out = append(out, fmt.Sprintf("Not in the figures: requests that had not ended when the trace did (%d).", n))
	}
	var guessed []string
	for _, r := range res.Routes {
		switch {
		case r.Inferred > 0:
			out = append(out, fmt.Sprintf("%d of %d requests did nothing in %s that the tracer records; they are counted there because all requests that were seen to go further went there.", r.Inferred, r.Count, r.Name))
		case f.isGuessed(routeKey{r.Protocol, f.nameIDs[r.Name]}):
			guessed = append(guessed, r.Name)
		case r.Name == "" && !r.Other:
			out = append(out, unnamedNote(res.Routes, r))
		}
	}
	if len(guessed) > 0 {
		out = append(out, fmt.Sprintf("These may not be routes: %s. When a function without a stack frame is preempted, the tracer loses its caller, and they were seen only there; they may be functions that handlers call. A trace with CPU samples would show it.", strings.Join(guessed, ", ")))
	}
	if res.Count == 0 && len(res.Open) == 0 && res.Cut == 0 {
		out = append(out, "No request was found: no goroutine of net/http, golang.org/x/net/http2, google.golang.org/grpc or github.com/valyala/fasthttp served one, and there are no user tasks.")
	}
	return out
}

// unnamedNote is about requests whose handler is not known. Those with one were not chosen by
// chance.
func unnamedNote(routes []Route, unnamed Route) string {
	note := fmt.Sprintf("%d %s requests did nothing in their handler that the tracer records, so their route is not known.", unnamed.Count, unnamed.Protocol)
	for _, r := range routes {
		if r.Protocol == unnamed.Protocol && r.Name != "" {
			return note + " The figures of named routes lack those of these requests that went there, usually the quickest."
		}
	}
	return note
}
