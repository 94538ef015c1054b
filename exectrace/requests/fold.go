package requests

import (
	"fmt"

	"github.com/hone-go/hone/exectrace"
)

// Options say how much of the requests to keep.
type Options struct {
	// Slowest is how many of the slowest requests are kept in full; 0 is 20.
	Slowest int
	// Paths keeps the last transitions of all goroutines, so that [Request.Path] and
	// [Fold.RunPath] can be told. It costs some nanoseconds an event.
	Paths bool
	// PathRecords bounds those transitions; 0 is 1<<18 (15 MB, a second or more of a busy
	// server). A request that lasted longer than they reach back has a path with a
	// part that is unknown.
	PathRecords int
}

// Protocol is how a request came.
type Protocol uint8

// The protocols. Task is a user task outside any request.
const (
	HTTP1 Protocol = iota + 1
	HTTP2
	GRPC
	Task
	numProtocols
)

// String returns the protocol's name, which JSON uses too.
func (p Protocol) String() string {
	switch p {
	case HTTP1:
		return "HTTP/1"
	case HTTP2:
		return "HTTP/2"
	case GRPC:
		return "gRPC"
	case Task:
		return "task"
	}
	return ""
}

// MarshalText writes the name.
func (p Protocol) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the name.
func (p *Protocol) UnmarshalText(text []byte) error {
	for q := Protocol(0); q < numProtocols; q++ {
		if q.String() == string(text) {
			*p = q
			return nil
		}
	}
	return fmt.Errorf("no protocol is called %q", text)
}

// source is what a Fold asks of a trace.
type source interface {
	Frames(exectrace.StackID) []exectrace.Frame
	Stacks() int
	Goroutine(exectrace.GIndex) *exectrace.Goroutine
	Annotation(*exectrace.Event) exectrace.Annotation
	Now() int64
	Blame(exectrace.StackID) exectrace.Line
	Root(exectrace.StackID) exectrace.Line
}

// child says of which request a goroutine was started.
type child struct {
	of *live
	id int64
}

// Fold finds the requests of a trace. Make one with New, hand it to [exectrace.Read], then ask it.
type Fold struct {
	opt      Options
	src      source
	trace    *exectrace.Trace
	parts    *partTable
	classes  []class    // by StackID
	entries  []Protocol // by StackID: of the goroutines that begin so
	names    []string
	nameIDs  map[string]uint16
	inner    map[routeKey]map[uint16]bool // the handlers that a handler was seen to call; of name 0, the server
	live     []*live                      // by GIndex; nil for what is no request's goroutine
	free     []*live
	children []child                     // by GIndex
	tasks    map[uint64]exectrace.GIndex // open tasks that are requests
	nextID   int64

	procs     []bool // by P: it has nothing to do
	limit     int    // GOMAXPROCS; 0 when not known
	idle      int    // how many of procs below limit
	idleSince int64  // since when one was idle, and the world was not stopped
	idleTotal int64  // before that

	stopping     bool // the world is, or is being, stopped
	stoppedSince int64
	stoppedTotal int64

	paths  *recorder
	run    *Path
	routes routeTable
	slow   slowest
	cpu    samples
	open   []Request
	cut    int64
	count  [numProtocols]int64
	length int64
}

// New returns a fold over one trace.
func New(opt Options) *Fold {
	if opt.Slowest <= 0 {
		opt.Slowest = 20
	}
	if opt.PathRecords <= 0 {
		opt.PathRecords = 1 << 18
	}
	f := &Fold{opt: opt, parts: newPartTable(), names: []string{""}, nameIDs: map[string]uint16{"": 0}, tasks: map[uint64]exectrace.GIndex{}, inner: map[routeKey]map[uint16]bool{}}
	f.routes.init()
	f.slow.size = opt.Slowest
	f.cpu.init()
	if opt.Paths {
		f.paths = newRecorder(opt.PathRecords)
	}
	return f
}

var _ exectrace.Fold = (*Fold)(nil)

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	f.trace = t
	f.events(t, b)
}

// End says that the trace is over.
func (f *Fold) End(t *exectrace.Trace) {
	f.trace = t
	f.end(t)
}

func (f *Fold) events(src source, b *exectrace.Block) {
	f.src = src
	f.classify(src.Stacks())
	classes := f.classes
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind > exectrace.GoStatus {
			if otherKinds>>e.Kind&1 != 0 {
				f.other(e)
			}
			continue
		}
		if int(e.G) >= len(f.live) {
			f.grow(int(e.G) + 1)
		}
		if f.paths != nil {
			f.paths.note(f, e)
		}
		l := f.live[e.G]
		if l == nil && e.Kind != exectrace.GoCreate && classes[e.Stack].place == nowhere {
			continue // not about a request: most events
		}
		f.step(l, e)
	}
}

func (f *Fold) grow(n int) {
	n = max(n, 2*len(f.live), 64)
	f.live = append(make([]*live, 0, n), f.live...)[:n]
	f.children = append(make([]child, 0, n), f.children...)[:n]
	if f.paths != nil {
		f.paths.grow(n)
	}
}

// step takes an event that is of a request's goroutine, or caused by one.
func (f *Fold) step(l *live, e *exectrace.Event) {
	switch e.Kind {
	case exectrace.GoCreate, exectrace.GoCreateSyscall:
		f.create(l, e)
		return
	case exectrace.GoStatus:
		if e.From == exectrace.Unknown && l != nil {
			f.drop(e.G)
		}
		return
	case exectrace.GoUnblock:
		f.seeBy(e)
		if l == nil {
			return
		}
	}
	if l == nil {
		if l = f.join(e); l == nil {
			return
		}
	}
	f.charge(l, e.Time, e)
	l.now.From, l.now.Was = e.To, e.Why
	if e.By == e.G {
		l.now.Left = e.Stack
	}
	if e.To == exectrace.Runnable {
		f.ready(l, e.Time)
	}
	f.advance(l, e)
}

// advance takes an event of a request's goroutine, which has been charged for the time up to it.
func (f *Fold) advance(l *live, e *exectrace.Event) {
	switch e.Kind {
	case exectrace.GoSyscallBegin:
		c := f.classes[e.Stack]
		switch {
		case c.place == h1Read:
			f.read(l, e.Time)
		case c.place == h1Finish && l.phase == done:
			l.resume()
		default:
			f.see(l, c, e.Time)
		}
	case exectrace.GoBlock:
		c := f.classes[e.Stack]
		switch {
		case c.place == workerIdle, c.place == h1Read && forData(e.Why):
			f.between(l, e.Time)
		case c.place == h1Finish && l.phase == done && e.Why == exectrace.WaitNetwork:
			l.resume()
		default:
			f.see(l, c, e.Time)
		}
	case exectrace.GoStop:
		f.see(l, f.classes[e.Stack], e.Time)
	case exectrace.GoUnblock:
		// A wait for memory while the head is parsed is a wait of the request.
		if p := f.classes[e.Left].place; l.phase <= arriving && (p == h1Read && forData(e.Was) || p == workerIdle) {
			l.start(e.Time)
			l.woken = true
		}
	case exectrace.GoStart:
		switch {
		case l.lost != nowhere:
			l.returned(l.lost, e.Time)
			l.lost = nowhere
		case l.phase == arriving && l.woken, l.phase == handling && l.handler < 0:
			l.readEnd = e.Time
			if l.phase == handling {
				l.handler = e.Time
			}
		}
	case exectrace.GoSyscallEnd:
		l.returned(f.classes[e.Left].place, e.Time)
	case exectrace.GoSyscallEndLost: // returns once it has a processor
		l.lost = f.classes[e.Left].place
	case exectrace.GoDestroy, exectrace.GoDestroySyscall:
		if l.phase >= handling {
			f.finish(l, e.Time)
		}
		l.phase = idle
		f.drop(e.G)
	}
}

// forData tells whether a goroutine that reads a request's head waits for the client: on a
// socket, or on whatever an in-memory connection is made of.
func forData(why exectrace.Reason) bool {
	switch why {
	case exectrace.WaitNetwork, exectrace.WaitSelect, exectrace.WaitChanReceive, exectrace.WaitCond:
		return true
	}
	return false
}

// read begins a request, as far as one can know, with a read of the connection.
func (f *Fold) read(l *live, now int64) {
	if l.phase >= handling {
		f.finish(l, now)
	}
	if l.phase != arriving || !l.woken {
		l.start(now)
	}
	l.woken, l.known = false, true
}

// between says that the goroutine waits for its next request.
func (f *Fold) between(l *live, now int64) {
	if l.protocol == GRPC && l.phase == arriving { // a worker is woken for nothing else
		f.confirm(l, class{}, now)
	}
	if l.phase >= handling {
		f.finish(l, now)
	}
	l.reset()
}

// seeBy takes what the stack of an Unblock or Create tells about the goroutine that did it.
func (f *Fold) seeBy(e *exectrace.Event) {
	c := f.classes[e.Stack]
	if c.place == nowhere || e.By == exectrace.NoG || e.By == e.G || int(e.By) >= len(f.live) {
		return
	}
	l := f.live[e.By]
	if l == nil {
		return
	}
	f.chargeRunning(l, e.Time)
	f.see(l, c, e.Time)
}

// chargeRunning charges for the time up to now, in which the goroutine ran.
func (f *Fold) chargeRunning(l *live, now int64) {
	f.charge(l, now, &exectrace.Event{From: exectrace.Running})
}

// join makes the goroutine of an event known as one of requests, by its stack.
func (f *Fold) join(e *exectrace.Event) *live {
	p := f.protocolOf(e.Stack)
	if p == 0 {
		return nil
	}
	l := f.enter(e.G, p)
	l.accounted = e.Time
	return l
}

func (f *Fold) enter(g exectrace.GIndex, p Protocol) *live {
	var l *live
	if n := len(f.free); n > 0 {
		l = f.free[n-1]
		f.free = f.free[:n-1]
	} else {
		l = new(live)
	}
	*l = live{waits: l.waits, samples: l.samples, regions: l.regions}
	l.reset()
	l.g, l.protocol, l.goid = g, p, f.src.Goroutine(g).ID
	f.live[g] = l
	return l
}

// drop forgets a goroutine. A request of it that has not ended will not be measured.
func (f *Fold) drop(g exectrace.GIndex) {
	l := f.live[g]
	if l == nil {
		return
	}
	if l.phase >= handling {
		f.cut++
	}
	if l.protocol == Task {
		delete(f.tasks, l.task)
	}
	l.id = 0 // its children are nobody's now
	f.live[g] = nil
	f.free = append(f.free, l)
}

// create takes a new goroutine.
func (f *Fold) create(l *live, e *exectrace.Event) {
	if l != nil {
		f.drop(e.G)
	}
	f.seeBy(e)
	if f.children[e.G].of != nil {
		f.children[e.G] = child{}
	}
	if e.By != exectrace.NoG && int(e.By) < len(f.live) {
		if p := f.live[e.By]; p != nil && p.phase >= handling {
			f.children[e.G] = child{p, p.id}
		} else if c := f.children[e.By]; c.of != nil {
			f.children[e.G] = c
		}
	}
	if p := f.entry(f.src.Goroutine(e.G).Entry); p != 0 {
		l := f.enter(e.G, p)
		l.known = true
		l.accounted = e.Time
		if p == HTTP1 {
			return // a connection, which may serve requests
		}
		l.start(e.Time)
		f.confirm(l, class{}, e.Time)
		l.handler = -1 // its first run
		l.now.From, l.now.Was = e.To, e.Why
		f.ready(l, e.Time)
	}
}

// entry returns the protocol of the goroutines that begin with a stack.
func (f *Fold) entry(s exectrace.StackID) Protocol {
	if int(s) >= len(f.classes) {
		f.classify(f.src.Stacks())
	}
	return f.entries[s]
}

// protocolOf returns the protocol of a stack that stands in a request.
func (f *Fold) protocolOf(s exectrace.StackID) Protocol {
	_, p, _ := classify(f.src.Frames(s))
	return p
}
