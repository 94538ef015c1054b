package requests

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
)

// fake is a trace made by hand: events with their goroutines and stacks.
type fake struct {
	stacks [][]exectrace.Frame
	ids    map[string]exectrace.StackID
	gs     []exectrace.Goroutine
	now    int64
	events []exectrace.Event
	words  map[int64]exectrace.Annotation // by time of the event
}

func newFake() *fake {
	return &fake{stacks: [][]exectrace.Frame{nil}, ids: map[string]exectrace.StackID{}, words: map[int64]exectrace.Annotation{}}
}

// stack returns a stack written leaf first: "sync.(*Mutex).Lock < main.handle:41 <
// net/http.(*conn).serve".
func (f *fake) stack(text string) exectrace.StackID {
	if text == "" {
		return 0
	}
	if id, ok := f.ids[text]; ok {
		return id
	}
	var frames []exectrace.Frame
	for _, part := range strings.Split(text, " < ") {
		name, line, _ := strings.Cut(part, ":")
		pkg := name[:strings.IndexByte(name[strings.LastIndexByte(name, '/')+1:], '.')+strings.LastIndexByte(name, '/')+1]
		fr := exectrace.Frame{Func: name, File: pkg + "/code.go"}
		for _, c := range line {
			fr.Line = 10*fr.Line + int(c-'0')
		}
		frames = append(frames, fr)
	}
	id := exectrace.StackID(len(f.stacks))
	f.stacks = append(f.stacks, frames)
	f.ids[text] = id
	return id
}

func (f *fake) Frames(s exectrace.StackID) []exectrace.Frame { return f.stacks[s] }
func (f *fake) Stacks() int                                  { return len(f.stacks) }
func (f *fake) Now() int64                                   { return f.now }
func (f *fake) Goroutine(g exectrace.GIndex) *exectrace.Goroutine {
	return &f.gs[g]
}
func (f *fake) Annotation(e *exectrace.Event) exectrace.Annotation { return f.words[e.Time] }
func (f *fake) Root(s exectrace.StackID) exectrace.Line {
	fr := f.stacks[s]
	if len(fr) == 0 {
		return exectrace.Line{}
	}
	return fr[len(fr)-1].At()
}
func (f *fake) Blame(s exectrace.StackID) exectrace.Line {
	for _, fr := range f.stacks[s] {
		if !fr.Standard() {
			return fr.At()
		}
	}
	if len(f.stacks[s]) == 0 {
		return exectrace.Line{}
	}
	return f.stacks[s][0].At()
}

// Caller: no file of fake is of a downloaded module.
func (f *fake) Caller(exectrace.StackID) exectrace.Line { return exectrace.Line{} }

// after advances the time.
func (f *fake) after(ns int64) *fake {
	f.now += ns
	return f
}

func (f *fake) put(e exectrace.Event) {
	e.Time = f.now
	f.events = append(f.events, e)
	f.now++ // no two events at one time
}

// change moves a goroutine to a state, with the stack of by.
func (f *fake) change(k exectrace.Kind, g, by exectrace.GIndex, to exectrace.State, why exectrace.Reason, stack string) {
	s := f.stack(stack)
	t := &f.gs[g]
	if by == g && k != exectrace.GoStart && k != exectrace.GoSyscallEnd && k != exectrace.GoSyscallEndLost {
		t.Left = s
	}
	f.put(exectrace.Event{Kind: k, G: g, By: by, From: t.State, Was: t.Why, Since: t.Since, To: to, Why: why, Stack: s, Left: t.Left})
	t.State, t.Why, t.Since = to, why, f.now-1
}

const nobody = exectrace.NoG

// create creates a goroutine that starts with a function.
func (f *fake) create(by exectrace.GIndex, entry, at string) exectrace.GIndex {
	g := exectrace.GIndex(len(f.gs))
	f.gs = append(f.gs, exectrace.Goroutine{ID: uint64(g) + 100, Entry: f.stack(entry), Seen: true})
	f.change(exectrace.GoCreate, g, by, exectrace.Runnable, exectrace.Created, at)
	f.gs[g].Left = f.stack(at)
	return g
}

// old creates a goroutine that existed when the trace started.
func (f *fake) old() exectrace.GIndex {
	g := exectrace.GIndex(len(f.gs))
	f.gs = append(f.gs, exectrace.Goroutine{ID: uint64(g) + 100})
	f.change(exectrace.GoStatus, g, nobody, exectrace.Running, exectrace.ReasonNone, "")
	return g
}

func (f *fake) start(g exectrace.GIndex) {
	f.change(exectrace.GoStart, g, g, exectrace.Running, exectrace.ReasonNone, "")
}
func (f *fake) stop(g exectrace.GIndex, at string) {
	f.change(exectrace.GoStop, g, g, exectrace.Runnable, exectrace.Preempted, at)
}
func (f *fake) block(g exectrace.GIndex, why exectrace.Reason, at string) {
	f.change(exectrace.GoBlock, g, g, exectrace.Waiting, why, at)
}
func (f *fake) wake(g, by exectrace.GIndex, at string) {
	f.change(exectrace.GoUnblock, g, by, exectrace.Runnable, exectrace.Woken, at)
}
func (f *fake) enter(g exectrace.GIndex, at string) {
	f.change(exectrace.GoSyscallBegin, g, g, exectrace.Syscall, exectrace.ReasonNone, at)
}
func (f *fake) leave(g exectrace.GIndex) {
	f.change(exectrace.GoSyscallEnd, g, g, exectrace.Running, exectrace.ReasonNone, "")
}
func (f *fake) lose(g exectrace.GIndex) {
	f.change(exectrace.GoSyscallEndLost, g, g, exectrace.Runnable, exectrace.SyscallLost, "")
}
func (f *fake) swap(from, to exectrace.GIndex) { // coroutines
	f.change(exectrace.GoSwitch, to, from, exectrace.Runnable, exectrace.Woken, "")
	f.change(exectrace.GoSwitch, from, from, exectrace.Waiting, exectrace.WaitCoroutine, "")
	f.change(exectrace.GoSwitch, to, nobody, exectrace.Running, exectrace.ReasonNone, "")
}
func (f *fake) end(g exectrace.GIndex) {
	f.change(exectrace.GoDestroy, g, g, exectrace.Gone, exectrace.ReasonNone, "")
}
func (f *fake) call(g exectrace.GIndex, ns int64, at string) {
	f.enter(g, at)
	f.after(ns).leave(g)
}
func (f *fake) mark(k exectrace.Kind, g exectrace.GIndex, value uint64, at, name string) {
	f.words[f.now] = exectrace.Annotation{Task: value, Name: name}
	f.put(exectrace.Event{Kind: k, G: g, By: g, Value: value, Stack: f.stack(at)})
}

// The stacks of net/http's connections.
const (
	serve      = " < net/http.(*conn).serve"
	peek       = "syscall.Read < net.(*conn).Read < net/http.(*connReader).Read < bufio.(*Reader).Peek" + serve
	firstRead  = "syscall.Read < net.(*conn).Read < net/http.(*connReader).Read < net/http.(*conn).readRequest" + serve
	background = "net/http.(*connReader).startBackgroundRead" + serve
	handler    = " < main.handle:7 < net/http.HandlerFunc.ServeHTTP < net/http.serverHandler.ServeHTTP" + serve
	flush      = "syscall.Write < net.(*conn).Write < bufio.(*Writer).Flush < net/http.(*response).finishRequest" + serve
	abort      = "sync.(*Cond).Wait < net/http.(*connReader).abortPendingRead < net/http.(*response).finishRequest" + serve
)

// fold passes the events to a fold, a few at a time.
func (f *fake) fold(opt Options) *Fold { return f.foldBy(7, opt) }

// foldBy takes blocks of a size.
func (f *fake) foldBy(size int, opt Options) *Fold { return f.run(New(opt), size) }

// run passes the events to a fold, in blocks of a size.
func (f *fake) run(fold *Fold, size int) *Fold {
	for i := 0; i < len(f.events); i += size {
		fold.events(f, &exectrace.Block{Events: f.events[i:min(i+size, len(f.events))]})
	}
	fold.end(f)
	return fold
}

// connection creates the goroutine of a connection, running.
func (f *fake) connection() exectrace.GIndex {
	g := f.create(nobody, "net/http.(*conn).serve", "net/http.(*Server).Serve")
	f.after(5).start(g)
	return g
}

// arrive makes a connection wait for a request, and read it.
func (f *fake) arrive(g exectrace.GIndex, read string) {
	f.call(g, 10, read)
	f.after(1).block(g, exectrace.WaitNetwork, read)
	f.after(500).wake(g, nobody, "")
	f.after(20).start(g)
	f.after(2).call(g, 10, read)
	f.after(5)
	b := f.create(g, "net/http.(*connReader).backgroundRead", background)
	f.gs[b].State = exectrace.Waiting // what it does does not matter
}

// answer writes the response and waits for the background read to end.
func (f *fake) answer(g exectrace.GIndex) {
	f.after(3).call(g, 30, flush)
	f.after(1).block(g, exectrace.WaitCond, abort)
	f.after(40).wake(g, nobody, "")
	f.after(10).start(g)
}
