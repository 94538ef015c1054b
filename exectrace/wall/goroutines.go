package wall

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// Part is the time of one kind and reason.
type Part struct {
	// What is running, gc assist, gc sweep, runnable, blocked or syscall.
	What string `json:"what"`
	// Why is the reason for being runnable (created, woken, preempted, yielded, syscall) or blocked
	// (the words of Go's tracer: "chan receive", "sync", …); otherwise empty.
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
	Count   int64   `json:"count"`
	Max     float64 `json:"max_seconds"`
	// Open is the number of intervals in Count that had not ended at the end of the trace or at a
	// gap.
	Open int64 `json:"open,omitempty"`
}

// Group is the goroutines that were started with one function.
type Group struct {
	Function string `json:"function"`
	Runtime  bool   `json:"runtime,omitempty"` // belongs to Go's runtime
	Found    int64  `json:"found"`             // number that existed when the trace started
	Created  int64  `json:"created"`
	Ended    int64  `json:"ended"`
	// Seconds is the sum of their lifetimes in the trace. Parts add up to it.
	Seconds float64 `json:"seconds"`
	Parts   []Part  `json:"parts"`
	Spawns  []Spawn `json:"spawns,omitempty"` // the go statements, most goroutines first
	Stacks  []Place `json:"stacks,omitempty"` // where the time off the processor was spent, most first
}

// Spawn is a go statement and the goroutines that it started.
type Spawn struct {
	Line    exectrace.Line `json:"line"`
	Created int64          `json:"created"`
	Ended   int64          `json:"ended"`
	// Short is how many of the ended ones ran less than 10 µs, ten times the cost of starting one.
	Short int64 `json:"short"`
	// MeanRun is the mean running time, in seconds, of those that ended. MeanWait is the mean time
	// from creation to the first run. They are absent if there were none.
	MeanRun  *float64 `json:"mean_run_seconds,omitempty"`
	MeanWait *float64 `json:"mean_wait_seconds,omitempty"`
}

// Place is time at one line.
type Place struct {
	Line    exectrace.Line `json:"line"`
	What    string         `json:"what"`
	Why     string         `json:"why,omitempty"`
	Seconds float64        `json:"seconds"`
	Count   int64          `json:"count"`
	Open    int64          `json:"open,omitempty"`
}

// Goroutines is the wall-clock time by the function that goroutines were started with.
type Goroutines struct {
	Length float64 `json:"length_seconds"`
	Total  []Part  `json:"total"`
	Groups []Group `json:"groups"` // longest lifetime first, the runtime's last
}

// placesPerGroup is the number of lines of a group that are kept, because of the width of the page.
// [Fold.Blocking] has all.
const placesPerGroup = 5

// Goroutines sums the table by the function that goroutines were started with.
func (f *Fold) Goroutines() *Goroutines {
	b := newBreakdown(f)
	b.nameGiven()
	for i := range f.table.rows {
		r := &f.table.rows[i]
		b.add(&b.total, r)
		b.add(b.group(r.entry()), r)
	}
	for entry, g := range f.group {
		if g.found+g.created > 0 { // otherwise all were identified later
			b.count(b.group(entry), g)
		}
	}
	out := &Goroutines{Length: exectrace.Seconds(f.length), Total: b.total.list(f.trace)}
	for function, s := range b.groups {
		out.Groups = append(out.Groups, s.result(f, function))
	}
	slices.SortFunc(out.Groups, func(a, b Group) int {
		if a.Runtime != b.Runtime {
			return cmp.Compare(boolInt(a.Runtime), boolInt(b.Runtime))
		}
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Function, b.Function))
	})
	return out
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// breakdown holds sums by group.
type breakdown struct {
	f      *Fold
	total  sums
	groups map[string]*sums
	roots  map[exectrace.StackID]string
}

// sums is the sums of one group.
type sums struct {
	parts   map[partKey]*partSum
	places  map[placeKey]*placeSum
	spawns  map[exectrace.Line]*spawned
	group   group
	runtime bool // it belongs to the runtime
}

type partKey struct {
	what what
	why  exectrace.Reason
}

type partSum struct{ n, total, max, open int64 }

type placeKey struct {
	line int32
	partKey
}

type placeSum struct{ n, total, open int64 }

func newBreakdown(f *Fold) *breakdown {
	return &breakdown{f: f, groups: map[string]*sums{}, roots: map[exectrace.StackID]string{}}
}

// nameGiven names the groups of goroutines that were started by sync.WaitGroup.Go after the
// function that was passed to it, which the stacks of their waits show, or else after the call.
func (b *breakdown) nameGiven() {
	for i := range b.f.table.rows {
		r := &b.f.table.rows[i]
		if gr := b.f.group[r.entry()]; gr != nil && gr.wraps != 0 && b.f.trace.Wraps(r.left()) {
			if given := b.f.trace.Root(r.left()).Function; b.roots[r.entry()] == "" && given != b.f.trace.Root(gr.wraps).Function {
				b.roots[r.entry()] = given
			}
		}
	}
	for entry, gr := range b.f.group {
		if gr.wraps != 0 && b.roots[entry] == "" {
			b.roots[entry] = b.f.trace.Root(gr.wraps).Function + " at " + b.f.trace.Blame(entry).String()
		}
	}
}

// group returns the sums of the goroutines with a first stack.
func (b *breakdown) group(entry exectrace.StackID) *sums {
	name, ok := b.roots[entry]
	if !ok {
		if name = b.f.trace.Root(entry).Function; name == "" {
			name = "(unknown)"
		}
		b.roots[entry] = name
	}
	s := b.groups[name]
	if s == nil {
		s = &sums{runtime: b.f.trace.Root(entry).OfRuntime()}
		b.groups[name] = s
	}
	return s
}

func (b *breakdown) add(s *sums, r *row) {
	if s.parts == nil {
		s.parts, s.places = map[partKey]*partSum{}, map[placeKey]*placeSum{}
	}
	k := partKey{r.what(), r.why()}
	p := s.parts[k]
	if p == nil {
		p = new(partSum)
		s.parts[k] = p
	}
	p.n += r.n
	p.total += r.total
	p.max = max(p.max, r.max)
	if r.open() {
		p.open += r.n
	}
	if r.left() == 0 {
		return
	}
	pk := placeKey{b.f.lines.of(b.f.trace, r.left()), k}
	at := s.places[pk]
	if at == nil {
		at = new(placeSum)
		s.places[pk] = at
	}
	at.n += r.n
	at.total += r.total
	if r.open() {
		at.open += r.n
	}
}

func (b *breakdown) count(s *sums, g *group) {
	s.group.found += g.found
	s.group.created += g.created
	s.group.ended += g.ended
	s.group.lifetime += g.lifetime
	for stack, sp := range g.spawn {
		if s.spawns == nil {
			s.spawns = map[exectrace.Line]*spawned{}
		}
		spawnAt(s.spawns, b.f.trace.Blame(stack)).add(sp)
	}
}

func (s *spawned) add(o *spawned) {
	s.Created += o.Created
	s.Ended += o.Ended
	s.Short += o.Short
	s.Ran += o.Ran
	s.Waited += o.Waited
	s.Started += o.Started
}

func (s *sums) result(f *Fold, function string) Group {
	g := Group{
		Function: function, Runtime: s.runtime,
		Found: s.group.found, Created: s.group.created, Ended: s.group.ended,
		Seconds: exectrace.Seconds(s.group.lifetime), Parts: s.list(f.trace),
	}
	g.Spawns = spawnList(s.spawns)
	for k, p := range s.places {
		g.Stacks = append(g.Stacks, Place{
			Line: f.lines.list[k.line], What: k.what.String(), Why: whyName(f.trace, k.what, k.why),
			Seconds: exectrace.Seconds(p.total), Count: p.n, Open: p.open,
		})
	}
	slices.SortFunc(g.Stacks, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), a.Line.Compare(b.Line), cmp.Compare(a.What+a.Why, b.What+b.Why))
	})
	g.Stacks = g.Stacks[:min(len(g.Stacks), placesPerGroup)]
	return g
}

// Spawns returns all go statements that started goroutines, most goroutines first.
func (f *Fold) Spawns() []Spawn {
	by := map[exectrace.Line]*spawned{}
	for _, g := range f.group {
		for stack, sp := range g.spawn {
			spawnAt(by, f.trace.Blame(stack)).add(sp)
		}
	}
	return spawnList(by)
}

func spawnAt(m map[exectrace.Line]*spawned, l exectrace.Line) *spawned {
	s := m[l]
	if s == nil {
		s = new(spawned)
		m[l] = s
	}
	return s
}

func spawnList(by map[exectrace.Line]*spawned) []Spawn {
	var out []Spawn
	for line, sp := range by {
		out = append(out, Spawn{
			Line: line, Created: sp.Created, Ended: sp.Ended, Short: sp.Short,
			MeanRun: mean(sp.Ran, sp.Ended), MeanWait: mean(sp.Waited, sp.Started),
		})
	}
	slices.SortFunc(out, func(a, b Spawn) int {
		return cmp.Or(cmp.Compare(b.Created, a.Created), a.Line.Compare(b.Line))
	})
	return out
}

func (s *sums) list(t *exectrace.Trace) []Part {
	var parts []Part
	for k, p := range s.parts {
		parts = append(parts, Part{
			What: k.what.String(), Why: whyName(t, k.what, k.why),
			Seconds: exectrace.Seconds(p.total), Count: p.n, Max: exectrace.Seconds(p.max), Open: p.open,
		})
	}
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.What+a.Why, b.What+b.Why))
	})
	return parts
}
