package wall

import "github.com/hone-go/hone/exectrace"

// group are the goroutines with one first stack; of those that sync.WaitGroup.Go started the ones that one call did.
type group struct {
	entry                 exectrace.StackID   // where Go was called, if wraps is not 0
	wraps                 exectrace.StackID   // what it starts all goroutines with
	wrapper               bool                // entry is that
	runs                  [sweeping + 1]tally // of running time, by mode, but for what is open at the end
	found, created, ended int64
	lifetime              int64
	spawn                 map[exectrace.StackID]*spawned
	last                  *spawned // the one that started a goroutine last, at
	lastAt                exectrace.StackID
}

// spawned are the goroutines that one go statement started.
type spawned struct {
	Created int64
	Ended   int64
	Short   int64 // of the ended: ran less than tooSmall
	Ran     int64 // nanoseconds that the ended ones ran
	Waited  int64 // nanoseconds from creation to the first run
	Started int64 // of how many that is
}

// tooSmall is how long a goroutine must run to be worth its start, in nanoseconds: start, first
// wait and end cost about 1 µs on current machines, so at 10 µs a tenth is spent on them.
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

// startedBy returns the group of what was created with a first stack, at a stack.
func (f *Fold) startedBy(entry, at exectrace.StackID) *group {
	gr := f.groupOf(entry)
	if gr.wrapper && at != 0 {
		gr = f.groupOf(at)
		gr.wraps = entry
	}
	return gr
}

// spawnedAt returns the account of a go statement.
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

// name gives a goroutine that came without a stack the group of its first one.
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

// meet names a goroutine by its first stack. One that may lack what it was started with waits for a better one.
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

// hear names a goroutine that waits for a better stack by one that it has where it does not leave the processor.
func (f *Fold) hear(i exectrace.GIndex, s exectrace.StackID) {
	if s == 0 || int64(i) >= int64(len(f.gs)) || f.gs[i].group == nil || f.gs[i].group.entry != 0 {
		return // most have a name
	}
	if _, ok := f.guesses[i]; ok {
		f.meet(i, &f.gs[i], s)
	}
}

// guess names a goroutine that no better stack came for.
func (f *Fold) guess(i exectrace.GIndex, g *goroutine) {
	if s, ok := f.guesses[i]; ok {
		f.name(i, g, s)
		delete(f.guesses, i)
	}
}

// bookEarly books what a goroutine did before its first stack.
func (f *Fold) bookEarly(i exectrace.GIndex, entry exectrace.StackID) {
	if len(f.early) == 0 {
		return
	}
	for _, r := range f.early[i] {
		f.table.rows[f.table.at(r.key.from(entry))].merge(&r)
	}
	delete(f.early, i)
}
