package serialcalls

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

// function is a function of the program with the calls in it that requests wait for.
type function struct {
	place *gocode.Place
	steps []*step // in the order of the source
}

// step is a call that requests wait for.
type step struct {
	frame   *site.Frame
	call    *ast.CallExpr
	runs    float64 // per unit of work
	seconds float64
}

// waits are where requests wait for others, not for a limit of the program.
type waits struct {
	lines     map[exectrace.Line]float64 // seconds, by the program's line
	functions map[name][]exectrace.Line  // the same lines, by function
	seconds   float64                    // of all
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

func awaited(p *rule.Pass) *waits {
	w := &waits{lines: map[exectrace.Line]float64{}, functions: map[name][]exectrace.Line{}}
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
		w.seconds += float64(place.Time) / 1e9
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

// callers returns the functions of the program with calls that requests wait for, directly or in
// a function below. The trace has the line that waits; the stacks of the profiles show from where
// it is called.
func (w *waits) callers(p *rule.Pass) []*function {
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
	eachStack(p, func(stack []*site.Frame) {
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
	var out []*function
	for _, of := range order {
		if len(found[of].frames) > 1 {
			if f := w.function(p, found[of]); len(f.steps) > 1 {
				out = append(out, f)
			}
		}
	}
	return out
}

// eachStack calls visit for the stacks of all profiles.
func eachStack(p *rule.Pass, visit func([]*site.Frame)) {
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

// function returns the calls of a function that run equally often.
func (w *waits) function(p *rule.Pass, r *reached) *function {
	f := &function{}
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
		s := &step{frame: frame, runs: e.PerUnit}
		if r.own[line] {
			s.seconds += w.lines[exectrace.Line{Function: traced.Generic(frame.Function), File: frame.File, Line: line}]
			s.call = outermost(place)
		}
		for _, l := range r.below[line] {
			s.seconds += w.below(p, l.waiting, e.PerUnit)
			if calls := syntax.CallsTo(place, l.callee); l.call == nil && len(calls) > 0 {
				l.call = calls[0]
			}
			if l.call != nil {
				s.call = l.call
			}
		}
		if s.call == nil {
			s.call = outermost(place)
		}
		if s.call == nil || len(loops.Around(place, s.call)) > 0 {
			continue
		}
		if f.place == nil {
			f.place = place
		}
		if place.Func == f.place.Func {
			f.steps = append(f.steps, s)
		}
	}
	most := 0.0
	for _, s := range f.steps {
		most = max(most, s.runs)
	}
	f.steps = slices.DeleteFunc(f.steps, func(s *step) bool { return s.runs < leastRuns*most })
	slices.SortFunc(f.steps, func(a, b *step) int { return cmp.Compare(a.call.Pos(), b.call.Pos()) })
	return f
}

// below returns the time that requests wait in a function on behalf of a line that runs so often:
// its share of that function's executions.
func (w *waits) below(p *rule.Pass, of name, runs float64) float64 {
	var seconds, all float64
	for _, line := range w.functions[of] {
		seconds += w.lines[line]
		if e, ok := p.Counts.Line(p.Code.Owner(line.Function, line.File).Package, line.File, line.Line); ok {
			all = max(all, e.PerUnit)
		}
	}
	if all <= 0 {
		return 0
	}
	return seconds * min(1, runs/all)
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
