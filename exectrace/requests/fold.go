package requests

import (
	"fmt"
	"math/bits"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// Options says how much of the requests to keep.
type Options struct {
	// Slowest is how many of the slowest requests are kept in full; 0 is 20.
	Slowest int
	// Paths records the last transitions of all goroutines, so that [Request.Path] and
	// [Fold.RunPath] can be computed. It costs a few nanoseconds an event.
	Paths bool
	// PathRecords bounds those transitions; 0 is 1<<18 (15 MB, a second or more of a busy server).
	// If a request took longer than they reach back, part of its path is unknown. For the path of
	// the whole run, see [Fold.Earlier].
	PathRecords int
	// PathOf, when a trace is read again, is the request whose whole path is wanted, however long
	// ago it began. [Fold.RunPath] and [Fold.Earlier] are then about that request, and reading
	// stops at its end.
	PathOf int64
	// Ended, if set, is called for each request that began and ended in the trace, when that is
	// known. Times are in nanoseconds since the trace's first event.
	Ended func(id, begin, end int64)
}

// Protocol is how a request arrived.
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

// source is what a Fold needs of a trace.
type source interface {
	Frames(exectrace.StackID) []exectrace.Frame
	Stacks() int
	Goroutine(exectrace.GIndex) *exectrace.Goroutine
	Annotation(*exectrace.Event) exectrace.Annotation
	Now() int64
	Blame(exectrace.StackID) exectrace.Line
	Caller(exectrace.StackID) exectrace.Line
	Root(exectrace.StackID) exectrace.Line
}

// child is the request that a goroutine was started for.
type child struct {
	of *live
	id int64
}

// Fold finds the requests of a trace. Make one with New, pass it to [exectrace.Read], then call
// Result.
type Fold struct {
	opt              Options
	src              source
	trace            *exectrace.Trace
	parts            *partTable
	classes          []class        // by StackID
	entries          []servers.Role // by StackID: of the goroutines that start with it
	names            []string
	nameIDs          map[string]uint16
	inner            map[routeKey]map[uint16]bool // the handlers that each handler was observed to call; name 0 is the server
	candidates       map[routeKey]candidate       // functions that may not be handlers
	resolved         map[routeKey]routeKey        // the routes that replace those
	guessed          []routeKey                   // handlers that may not be routes, so far
	observedByChance map[routeKey]bool            // the only handler below another; requests were observed in it by chance
	live             []*live                      // by GIndex; nil for goroutines that serve no request
	marks            []concern                    // by GIndex: ofLive where live is not nil
	stackMarks       []concern                    // by StackID: placed where the class has a place
	relevant         *[64]concern                 // by Kind: when an event is relevant
	places           [chunk]uint8                 // indices of the relevant events of a chunk
	entered          exectrace.GIndex             // the goroutine that the last event added to live, or NoG
	free             []*live
	children         []child                     // by GIndex
	tasks            map[uint64]exectrace.GIndex // open tasks that are requests
	nextID           int64

	followed     int   // goroutines
	nextFollowed int64 // the ID of the last one; negative, unlike those of requests
	sweptAt      int64 // nextFollowed when makeRoom last ran

	procs     []bool // by P: it is idle
	limit     int    // GOMAXPROCS; 0 when not known
	idle      int    // how many of procs below limit
	idleSince int64  // since when one was idle while the world ran
	idleTotal int64  // before that

	stopping     bool // the world is stopped, or being stopped
	stoppedSince int64
	stoppedTotal int64

	paths     *recorder
	run       *walker // on the path of the whole run
	continues *Fold   // of Earlier: the fold whose path this reading is for
	runPath   *Path
	routes    routeTable
	slow      slowest
	cpu       samples
	open      []Request
	cut       int64
	count     [numProtocols]int64
	length    int64
}

// New returns a fold over one trace.
func New(opt Options) *Fold {
	if opt.Slowest <= 0 {
		opt.Slowest = 20
	}
	if opt.PathRecords <= 0 {
		opt.PathRecords = 1 << 18
	}
	f := &Fold{opt: opt, parts: newPartTable(), names: []string{""}, nameIDs: map[string]uint16{"": 0}, tasks: map[uint64]exectrace.GIndex{}, inner: map[routeKey]map[uint16]bool{}, candidates: map[routeKey]candidate{}}
	f.routes.init()
	f.slow.size = opt.Slowest
	f.cpu.init()
	f.relevant = &relevantEvents
	if opt.Paths {
		f.paths = newRecorder(opt.PathRecords)
		f.relevant = &relevantForPaths
	}
	f.grow(0)
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
	for events := b.Events; len(events) > 0; {
		n := min(len(events), chunk)
		f.chunk(events[:n])
		events = events[n:]
	}
}

// grow makes room for n goroutines, up to a power of two: see filter.
func (f *Fold) grow(n int) {
	n = 1 << bits.Len(uint(max(n, 64)-1))
	f.live = append(make([]*live, 0, n), f.live...)[:n]
	f.marks = append(make([]concern, 0, n), f.marks...)[:n]
	f.children = append(make([]child, 0, n), f.children...)[:n]
	if f.paths != nil {
		f.paths.grow(n)
	}
}
