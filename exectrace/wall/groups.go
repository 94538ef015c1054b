package wall

import "github.com/hone-go/hone/exectrace"

// group is the goroutines with one first stack. Those that sync.WaitGroup.Go started have one group
// per call.
type group struct {
	entry                 exectrace.StackID   // the stack of the call of Go, if wraps is not 0
	wraps                 exectrace.StackID   // the first stack of all goroutines that the wrapper starts
	wrapper               bool                // entry is a stack in a wrapper
	runs                  [sweeping + 1]tally // running time by mode, without what is open at the end
	found, created, ended int64
	lifetime              int64
	spawn                 map[exectrace.StackID]*spawned
	last                  *spawned // the go statement that last started a goroutine; its stack is lastAt
	lastAt                exectrace.StackID
}

// spawned is the goroutines that one go statement started.
type spawned struct {
	Created int64
	Ended   int64
	Short   int64 // of the ended: those that ran less than tooSmall
	Ran     int64 // running time of the ended ones in nanoseconds
	Waited  int64 // nanoseconds from creation to the first run
	Started int64 // number of goroutines in Waited
}

// tooSmall is the running time, in nanoseconds, below which a goroutine is not worth its start:
// start, first wait and end cost about 1 µs on current machines, a tenth of 10 µs.
const tooSmall = 10_000

// groupOf returns the group of a first stack.
func (f *Fold) groupOf(entry exectrace.StackID) *group {
	if int64(entry) < int64(len(f.groups)) && f.groups[entry] != nil {
		return f.groups[entry]
	}
	gr := &group{entry: entry, wrapper: f.trace.Wraps(entry), spawn: map[exectrace.StackID]*spawned{}}
	f.group[entry] = gr
	for int64(entry) >= int64(len(f.groups)) {
		f.groups = append(f.groups, make([]*group, max(64, len(f.groups)))...)
	}
	f.groups[entry] = gr
	return gr
}

// startedBy returns the group of a goroutine that was created with a first stack by a go statement
// at a stack.
func (f *Fold) startedBy(entry, at exectrace.StackID) *group {
	gr := f.groupOf(entry)
	if gr.wrapper && at != 0 {
		gr = f.groupOf(at)
		gr.wraps = entry
	}
	return gr
}

// spawnedAt returns the counts of a go statement.
func (gr *group) spawnedAt(s exectrace.StackID) *spawned {
	if gr.last != nil && gr.lastAt == s {
		return gr.last
	}
	sp := gr.spawn[s]
	if sp == nil {
		sp = new(spawned)
		gr.spawn[s] = sp
	}
	gr.last, gr.lastAt = sp, s
	return sp
}

// name moves a goroutine without a known stack to the group of its first stack.
func (f *Fold) name(i exectrace.GIndex, g *goroutine, s exectrace.StackID) {
	was, is := g.group, f.groupOf(s)
	if f.trace.Goroutine(i).Seen {
		was.created--
		is.created++
	} else {
		was.found--
		is.found++
	}
	g.group = is
	f.bookEarly(i, s)
}

// meet identifies a goroutine by its first stack. If that may lack the function that it was started
// with, the goroutine waits for a better one.
func (f *Fold) meet(i exectrace.GIndex, g *goroutine, s exectrace.StackID) {
	if !f.trace.Rootless(s) {
		f.name(i, g, s)
		delete(f.guesses, i)
		return
	}
	if f.guesses == nil {
		f.guesses = map[exectrace.GIndex]exectrace.StackID{}
	}
	if _, ok := f.guesses[i]; !ok {
		f.guesses[i] = s
	}
}

// hear identifies a goroutine that waits for a better stack by a stack at which it does not leave
// the processor.
func (f *Fold) hear(i exectrace.GIndex, s exectrace.StackID) {
	if s == 0 || int64(i) >= int64(len(f.gs)) || f.gs[i].group == nil || f.gs[i].group.entry != 0 {
		return // most goroutines are identified
	}
	if _, ok := f.guesses[i]; ok {
		f.meet(i, &f.gs[i], s)
	}
}

// guess identifies a goroutine for which no better stack was found.
func (f *Fold) guess(i exectrace.GIndex, g *goroutine) {
	if s, ok := f.guesses[i]; ok {
		f.name(i, g, s)
		delete(f.guesses, i)
	}
}

// bookEarly counts the intervals of a goroutine before its first stack.
func (f *Fold) bookEarly(i exectrace.GIndex, entry exectrace.StackID) {
	if len(f.early) == 0 {
		return
	}
	for _, r := range f.early[i] {
		f.table.rows[f.table.at(r.key.from(entry))].merge(&r)
	}
	delete(f.early, i)
}
