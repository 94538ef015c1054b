package requests

import (
	"fmt"
	"math/bits"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// Options say how much of the requests to keep.
type Options struct {
	// Slowest is how many of the slowest requests are kept in full; 0 is 20.
	Slowest int
	// Paths keeps the last transitions of all goroutines, so that [Request.Path] and
	// [Fold.RunPath] can be computed. It costs some nanoseconds an event.
	Paths bool
	// PathRecords bounds those transitions; 0 is 1<<18 (15 MB, a second or more of a busy
	// server). A request that lasted longer than they reach back has a path with a
	// part that is unknown. For the whole run's there is [Fold.Earlier].
	PathRecords int
	// PathOf, of a trace that is read again, is the request whose path is wanted to its begin, however long ago that is, in
	// place of the whole run's: [Fold.RunPath] and [Fold.Earlier] are of it, and reading ends with it.
	PathOf int64
	// Ended, when set, is called for each request that began and ended in the trace, in nanoseconds since the trace's
	// first event, when that is known.
	Ended func(id, begin, end int64)
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
	Caller(exectrace.StackID) exectrace.Line
	Root(exectrace.StackID) exectrace.Line
}

// child says of which request a goroutine was started.
type child struct {
	of *live
	id int64
}

// Fold finds the requests of a trace. Make one with New, hand it to [exectrace.Read], then ask it.
type Fold struct {
	opt              Options
	src              source
	trace            *exectrace.Trace
	parts            *partTable
	classes          []class        // by StackID
	entries          []servers.Role // by StackID: of the goroutines that start with it
	names            []string
	nameIDs          map[string]uint16
	inner            map[routeKey]map[uint16]bool // the handlers that a handler was seen to call; of name 0, the server
	candidates       map[routeKey]candidate       // routes that may be none
	resolved         map[routeKey]routeKey        // what stands for those that are none
	guessed          []routeKey                   // those of which nothing else is known
	observedByChance map[routeKey]bool            // handlers that are the only ones below another: a request was seen there by chance
	live             []*live                      // by GIndex; nil for what is no request's goroutine
	marks            []concern                    // by GIndex: ofLive where live is not nil
	stackMarks       []concern                    // by StackID: placed where classes has a place
	relevant         *[64]concern                 // by Kind: what makes an event matter
	places           [chunk]uint8                 // of the events of a chunk that matter
	entered          exectrace.GIndex             // the goroutine that live has got in with the last event, or NoG
	free             []*live
	children         []child                     // by GIndex
	tasks            map[uint64]exectrace.GIndex // open tasks that are requests
	nextID           int64

	followed     int   // goroutines
	nextFollowed int64 // the id of the last; negative, as those of requests are not
	sweptAt      int64 // what that was when room was made

	procs     []bool // by P: it has nothing to do
	limit     int    // GOMAXPROCS; 0 when not known
	idle      int    // how many of procs below limit
	idleSince int64  // since when one was idle, and the world was not stopped
	idleTotal int64  // before that

	stopping     bool // the world is, or is being, stopped
	stoppedSince int64
	stoppedTotal int64

	paths     *recorder
	run       *walker // on the path of the whole run
	continues *Fold   // of Earlier: whose path this is for
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

// grow makes room for n goroutines, to a power of two: see sift.
func (f *Fold) grow(n int) {
	n = 1 << bits.Len(uint(max(n, 64)-1))
	f.live = append(make([]*live, 0, n), f.live...)[:n]
	f.marks = append(make([]concern, 0, n), f.marks...)[:n]
	f.children = append(make([]child, 0, n), f.children...)[:n]
	if f.paths != nil {
		f.paths.grow(n)
	}
}
