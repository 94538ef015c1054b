package requests

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile/symbol"
)

// A request that waits for a goroutine that it started waits for what that does: a handler that asks three
// services at once and then waits for a sync.WaitGroup, a handler below http.TimeoutHandler, which runs on a goroutine of
// its own. So the goroutines of a request are followed like its own, each on a live whose phase stays idle. When one
// of them ends a wait of its chief, which is the goroutine that started it, then what it did meanwhile stands in place of
// the wait; of several that were waited for that is the last.

// The protocols, for entries, of goroutines that are followed.
const (
	started   = numProtocols + iota // by the request
	delegated                       // by http.TimeoutHandler, to run the handler
)

// delegateDepth is the depth of a route that a delegate's stack names: more than that of any stack of its chief's.
const delegateDepth = 128

// maxFollowed and maxOfOne bound how many goroutines are followed at a time, of all requests and of one.
const maxFollowed, maxOfOne = 8192, 1024

// timeoutHandler starts a goroutine for the handler that it wraps (net/http/server.go).
const timeoutHandler = "net/http.(*timeoutHandler).ServeHTTP"

// isDelegate reports whether a goroutine that begins with a function runs the handler of its creator's request.
func isDelegate(function string) bool { return strings.HasPrefix(function, timeoutHandler+".func") }

// isStarted reports whether a goroutine that begins with a function does what the program wants done: those of the
// standard library serve connections, timers and the like, but for coroutines (iter.Pull).
func isStarted(function string) bool {
	return exectrace.IsWrapper(function) || function == "runtime.corostart" || !symbol.Standard(symbol.Package(function))
}

// follow follows a new goroutine, if it was started for a request.
func (f *Fold) follow(e *exectrace.Event, p Protocol) {
	c := f.of(e.By)
	if c == nil || c.kids >= maxOfOne || c.phase < handling && (c.chief == nil || c.top() == nil) {
		return
	}
	if f.followed >= maxFollowed && !f.makeRoom() {
		return
	}
	f.followed++
	f.nextFollowed--
	c.kids++
	l := f.enter(e.G, c.protocol)
	l.chief, l.chiefID, l.id = c, c.id, f.nextFollowed
	l.begun, l.known = true, true
	l.accounted, l.since = e.Time, e.Time
	l.now = status{state: e.To, why: e.Why}
	f.ready(l, e.Time)
	if p == delegated {
		l.handles, c.delegate = true, l
	}
}

// top returns the request that a goroutine works for: its own, unless it is followed; nil when that one is over.
func (l *live) top() *live {
	for l.chief != nil {
		if l.chief.id != l.chiefID {
			return nil
		}
		l = l.chief
	}
	return l
}

// makeRoom stops following goroutines whose request is over; leaked ones would be followed forever. It looks at all of
// them, so it runs only after many were added.
func (f *Fold) makeRoom() bool {
	if f.sweptAt-f.nextFollowed < maxFollowed/2 {
		return false
	}
	f.sweptAt = f.nextFollowed
	for g, l := range f.live {
		if l != nil && l.top() == nil {
			f.drop(exectrace.GIndex(g))
		}
	}
	return f.followed < maxFollowed
}

// unfollow ends that a goroutine is followed.
func (f *Fold) unfollow(l *live) {
	f.followed--
	if c := l.chief; c.id == l.chiefID {
		c.kids--
		if c.delegate == l {
			c.delegate = nil
		}
	}
}

// split forgets what a followed goroutine did before its chief began to wait, at the first event after that: it was
// beside what its chief did.
func (l *live) split() {
	if c := l.chief; c.id == l.chiefID && c.now.state == exectrace.Waiting && l.since < c.accounted {
		l.parts, l.waits, l.merged = breakdown{}, l.waits[:0], false
		l.since, l.accounted = c.accounted, max(l.accounted, c.accounted)
	}
}

// awaited returns the followed goroutine whose account stands for a wait that ends: the one that ended it, or the one
// that runs the handler, though its time was over.
func (f *Fold) awaited(l *live, by exectrace.GIndex, why exectrace.Reason) *live {
	if d := f.of(by); d != nil && d.chief == l && d.chiefID == l.id {
		return d
	}
	if why == exectrace.WaitSelect {
		return l.delegate
	}
	return nil
}

// instead accounts for a wait up to now by what a followed goroutine did in it. The account of that goes back to the
// same time: see split.
func (f *Fold) instead(l, d *live, now int64) {
	f.charge(d, now, d.now)
	l.until(now)
	if l.begun {
		l.sums().add(&d.parts)
		l.adopt(d.waits)
	}
}
