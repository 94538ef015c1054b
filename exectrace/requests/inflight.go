package requests

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// phase is how far a request has come.
type phase uint8

const (
	idle     phase = iota // no request: before the first byte
	arriving              // something was read, or woke the connection: a request, if a handler follows
	handling
	finishing // the handler has returned
	done      // the response is written, as far as known
)

// live is the request that a goroutine serves; it is reused for the connection's next. What most
// events need comes first, in as few cache lines as possible.
type live struct {
	protocol Protocol
	phase    phase
	begun    bool          // begin is known
	work     Part          // what running counts as: Running, Assist or Sweep
	lost     servers.Place // the place of a system call that is over, while the goroutine waits for a processor
	merged   bool          // waits has one entry of each kind
	woken    bool          // begin is a wake-up, and nothing was read after it
	cut      bool          // it began before the trace
	known    bool          // the goroutine was seen before this request
	carrier  bool          // it carries a gRPC call, which is counted in its place
	assist   bool
	sweep    bool
	depth    uint8 // of the class that named the route
	name     uint16
	g        exectrace.GIndex

	accounted      int64  // the time up to which parts are complete
	previous       int64  // accounted before the last event
	stopped, idled int64  // stoppedUntil and idleUntil when it became ready
	now            status // since the last event

	parent     *live // of a followed goroutine: the one that started it
	parentID   int64 // chief's id then
	since      int64 // of a followed goroutine: when its parts start
	handles    bool  // of a followed goroutine: it runs the handler
	childCount int   // followed goroutines that it started and that have not ended
	delegate   *live // the one that runs the handler

	waits []wait
	kept  int // how many of waits belong to parts, when phase is done

	parts breakdown // up to end
	rest  breakdown // since end, when phase is done

	begin, handler, handled, end int64 // handler: when it was called; handled: when it returned; -1 when not seen
	readEnd                      int64 // when the connection was last read

	goid     uint64
	id       int64 // of the request; 0 until it is one
	task     uint64
	taskName string

	samples []exectrace.StackID // CPU samples
	regions []region
	beyond  int // open regions that found no room in regions
}

// reset forgets the request, not the goroutine.
func (l *live) reset() {
	l.phase, l.depth, l.name = idle, 0, 0
	l.woken, l.cut, l.begun, l.carrier = false, false, false, false
	l.id, l.task, l.taskName = 0, 0, ""
	l.waits, l.samples, l.kept, l.merged = l.waits[:0], l.samples[:0], 0, false
	l.regions, l.beyond = l.regions[:0], 0
	l.childCount, l.delegate = 0, nil
}

// start starts to account for a request, which may turn out to be none.
func (l *live) start(now int64) {
	l.reset()
	l.phase = arriving
	l.begun = true
	l.begin, l.accounted, l.readEnd = now, now, now
	l.handler, l.handled, l.end = -1, -1, -1
	l.parts = breakdown{}
}

// pause records that the response seems to be written.
func (l *live) pause(now int64) {
	l.phase = done
	l.end = now
	l.kept = len(l.waits)
	l.rest = breakdown{}
}

// resume records that the response was not complete.
func (l *live) resume() {
	l.phase = finishing
	l.parts.add(&l.rest)
	l.unite()
}

// continued records that what was written was not the response, but told the client to send the
// body.
func (l *live) continued() {
	if l.phase == done {
		l.resume()
	}
	if l.phase == finishing {
		l.phase, l.handled = handling, -1
	}
}

// returned records that a system call at a place has returned to the program.
func (l *live) returned(from servers.Place, now int64) {
	switch {
	case from == servers.ReadHead:
		l.readEnd = now
	case from == servers.WriteRest && l.phase == finishing:
		l.pause(now)
	}
}

// observe takes what a stack of the goroutine shows, at an event in which it ran.
func (f *Fold) observe(l *live, c class, now int64) {
	if l.parent != nil {
		if t := l.owner(); t != nil && l.handles {
			c.depth |= delegateDepth
			t.nameBy(c)
		}
		return
	}
	switch c.place {
	case servers.CallHandler, servers.InHandler:
		if l.protocol == HTTP1 && l.phase >= finishing { // the next request was read along with the last one
			f.finish(l, now)
			f.startUnread(l, now)
		}
	case servers.WriteRest, servers.StreamDone:
	case servers.CarriesGRPC:
		l.carrier = true
		return
	case servers.ReadBody:
		l.continued()
		return
	case servers.AfterResponse:
		if l.phase == handling || l.phase == finishing {
			l.pause(now)
		}
		return
	default:
		return
	}
	if l.phase == idle {
		f.startUnread(l, now)
	}
	if l.phase == arriving {
		f.confirm(l, c, now)
	}
	switch c.place {
	case servers.InHandler:
		l.nameBy(c)
	case servers.WriteRest, servers.StreamDone:
		if l.phase == handling {
			l.phase, l.handled = finishing, now
		}
	}
}

// nameBy takes the route that a stack in the handler shows.
func (l *live) nameBy(c class) {
	if c.name != 0 && (l.name == 0 || c.depth > l.depth) {
		l.name, l.depth = c.name, c.depth
	}
}

// startUnread starts a request that was not read on its own. It begins at the event before: the
// read of another request or of the TLS handshake that brought it along, or the last write.
func (f *Fold) startUnread(l *live, now int64) {
	if !l.known { // the trace started in the middle of it
		l.start(now)
		l.begun, l.cut = false, true
		return
	}
	begin := l.previous
	l.start(begin)
	l.accounted = now
	l.parts[Running] = now - begin // an event in between would have been the last
}

// confirm records that what arrives is a request.
func (f *Fold) confirm(l *live, c class, now int64) {
	f.nextID++
	l.id = f.nextID
	l.phase = handling
	l.known = true
	l.handler = l.readEnd
	if c.place == servers.CallHandler {
		l.handler = now
	}
}
