package awaited

import (
	"cmp"
	"go/ast"
	"maps"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// leastRuns is the minimum number of executions of a call, as a part of those of the most frequent
// one in the function.
const leastRuns = 0.5

// name identifies a function of the program.
type name struct{ function, file string }

func nameOf(f *site.Frame) name { return name{traced.Generic(f.Function), f.File} }

// Function is a function of the program with the calls in it that requests wait for.
type Function struct {
	Place *gocode.Place
	Steps []*Step // in the order of the source
	// Looped are those in loops, which Steps leaves out.
	Looped []*Step
}

// Step is a call that requests wait for.
type Step struct {
	Frame   *site.Frame
	Call    *ast.CallExpr
	Runs    float64 // per unit of work
	Seconds float64
	// Ways is the number of functions that wait below the call; Same is the share of the most
	// frequent of them in the executions of all.
	Ways int
	Same float64
}

// Waits are where requests wait for others, not for a limit of the program.
type Waits struct {
	Seconds   float64                    // of all
	lines     map[exectrace.Line]float64 // seconds, by the program's line
	functions map[name][]exectrace.Line  // the same lines, by function
}

// queued are the things of which only some requests get one at a time: asking for two at once does
// not end the wait sooner. The others belong to the request itself.
func queued() []string {
	return []string{
		requests.DatabaseConnection, requests.PgxConnection, requests.RedisConnection, requests.MongoConnection, requests.Semaphore,
		requests.RateLimiter, "the body of the request", "the client to take the response", "the read of its connection to stop",
		"a handler under http.TimeoutHandler", "an errgroup", "room in an errgroup",
	}
}

// mostBusy is the share of the processors above which shorter waits save nothing.
const mostBusy = 0.8

// Long returns where requests wait for others in the trace, and the time of all requests in
// seconds. It returns nil when they wait for less than a share of that time, when shorter waits
// would save nothing, and when that is not known.
func Long(p *rule.Pass, least float64) (w *Waits, total float64) {
	if p.Syntax == nil || p.Code == nil || !traced.Serves(p) || p.Trace.Requests == nil || p.Trace.Requests.All == nil {
		return nil, 0
	}
	total = traced.LatencyTotal(p)
	if total <= 0 || traced.Busy(p) >= mostBusy {
		return nil, 0
	}
	if w = waitsOf(p); w.Seconds < least*total {
		return nil, 0
	}
	return w, total
}

func waitsOf(p *rule.Pass) *Waits {
	w := &Waits{lines: map[exectrace.Line]float64{}, functions: map[name][]exectrace.Line{}}
	for _, place := range p.Trace.Requests.All.Places {
		switch place.Part {
		case requests.WaitNetwork, requests.WaitSelect, requests.WaitChanReceive, requests.WaitSleep:
		default:
			continue
		}
		line := cmp.Or(place.Caller, place.Waiter)
		if line == nil || line.File == "" || slices.Contains(queued(), place.Object) {
			continue
		}
		at := *line
		at.Function = traced.Generic(at.Function)
		if w.lines[at] == 0 {
			of := name{at.Function, at.File}
			w.functions[of] = append(w.functions[of], at)
		}
		w.lines[at] += float64(place.Time) / 1e9
		w.Seconds += float64(place.Time) / 1e9
	}
	return w
}

// reached are the lines of a function from which requests come to functions that wait.
type reached struct {
	frames map[int]*site.Frame
	own    map[int]bool   // the line waits itself
	below  map[int][]link // what waits below the line
}

// link is a function that waits, and the one that a line calls to come there.
type link struct {
	waiting name
	callee  string // as profiles name it; "" when the source shows the call
	call    *ast.CallExpr
}

// add adds a link for a line.
func (r *reached) add(line int, l link) {
	if !slices.ContainsFunc(r.below[line], func(o link) bool { return o.waiting == l.waiting }) {
		r.below[line] = append(r.below[line], l)
	}
}

// Callers returns the functions of the program with calls that requests wait for, directly or in
// a function below. The trace has the line that waits; the stacks of the profiles show from where
// it is called.
func (w *Waits) Callers(p *rule.Pass) []*Function {
	found := map[name]*reached{}
	var order []name
	add := func(f *site.Frame) *reached {
		of := nameOf(f)
		if found[of] == nil {
			found[of] = &reached{frames: map[int]*site.Frame{}, own: map[int]bool{}, below: map[int][]link{}}
			order = append(order, of)
		}
		found[of].frames[f.Line] = f
		return found[of]
	}
	p.EachStack(func(stack []*site.Frame) {
		waiting := name{}
		for i, f := range stack {
			of := nameOf(f)
			if f.Owner.Kind != gocode.Main {
				continue
			}
			if waiting == (name{}) {
				if w.functions[of] == nil {
					continue
				}
				waiting = of
				if w.lines[exectrace.Line{Function: of.function, File: f.File, Line: f.Line}] > 0 {
					add(f).own[f.Line] = true
				}
				continue
			}
			if of == waiting {
				continue // recursion
			}
			add(f).add(f.Line, link{waiting: waiting, callee: stack[i-1].Function})
		}
	})
	bySource(p, w.functions, add)
	var out []*Function
	for _, of := range order {
		if f := w.function(p, found[of]); len(f.Steps)+len(f.Looped) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// function returns the calls of a function that run equally often.
func (w *Waits) function(p *rule.Pass, r *reached) *Function {
	f := &Function{}
	for _, line := range slices.Sorted(maps.Keys(r.frames)) {
		frame := r.frames[line]
		place, ok := p.Syntax.At(frame.File, line)
		if !ok {
			continue
		}
		e, ok := evidence.Executions(p, *frame)
		if !ok || e.PerUnit <= 0 {
			continue
		}
		s := &Step{Frame: frame, Runs: e.PerUnit}
		sum, most := 0.0, 0.0
		if r.own[line] {
			s.Seconds += w.lines[exectrace.Line{Function: traced.Generic(frame.Function), File: frame.File, Line: line}]
			s.Call = outermost(place)
		}
		for _, l := range r.below[line] {
			seconds, runs := w.below(p, l.waiting, e.PerUnit)
			s.Seconds += seconds
			sum, most, s.Ways = sum+runs, max(most, runs), s.Ways+1
			if calls := syntax.CallsTo(place, l.callee); l.call == nil && len(calls) > 0 {
				l.call = calls[0]
			}
			if l.call != nil {
				s.Call = l.call
			}
		}
		if s.Call == nil {
			s.Call = outermost(place)
		}
		if s.Call == nil {
			continue
		}
		if sum > 0 {
			s.Same = most / sum
		}
		if len(loops.Around(place, s.Call)) > 0 {
			f.Looped = append(f.Looped, s)
			continue
		}
		if f.Place == nil {
			f.Place = place
		}
		if place.Func == f.Place.Func {
			f.Steps = append(f.Steps, s)
		}
	}
	most := 0.0
	for _, s := range f.Steps {
		most = max(most, s.Runs)
	}
	f.Steps = slices.DeleteFunc(f.Steps, func(s *Step) bool { return s.Runs < leastRuns*most })
	slices.SortFunc(f.Steps, func(a, b *Step) int { return cmp.Compare(a.Call.Pos(), b.Call.Pos()) })
	return f
}

// below returns the time that requests wait in a function on behalf of a line that runs so often:
// its share of that function's calls, and how often that is called. A line in a loop of the
// function runs more often than that.
func (w *Waits) below(p *rule.Pass, of name, runs float64) (share, calls float64) {
	var seconds, all float64
	for _, line := range w.functions[of] {
		seconds += w.lines[line]
		if e, ok := p.Counts.Line(p.Code.Owner(line.Function, line.File).Package, line.File, line.Line); ok {
			all = max(all, e.Calls)
		}
	}
	if all <= 0 {
		return 0, 0
	}
	return seconds * min(1, runs/all), all
}

// outermost returns the first call on a line; nil for none.
func outermost(p *gocode.Place) *ast.CallExpr {
	for _, call := range syntax.Calls(p) {
		if p.Callee(call) != nil {
			return call
		}
	}
	return nil
}

// Deferred reports whether a call runs later, or in another goroutine.
func (f *Function) Deferred(s *Step) bool {
	for _, n := range f.Place.Enclosing(s.Call) {
		switch n.(type) {
		case *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit:
			return n != f.Place.Func
		}
	}
	return false
}
