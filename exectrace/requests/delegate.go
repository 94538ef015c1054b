package requests

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
)

// A handler below http.TimeoutHandler runs on a goroutine of its own, for which that of the request only waits. So that
// goroutine is followed like a request's: its stacks name the route, and what it did in that wait stands in
// place of the wait. All that is asked of it is on its own live, whose phase stays idle; delegate and chief lead from one
// to the other.

// timeoutHandler starts a goroutine for the handler that it wraps (net/http/server.go).
const timeoutHandler = "net/http.(*timeoutHandler).ServeHTTP"

// delegated is the protocol of goroutines that run the handler of another's request.
const delegated = numProtocols

// delegateDepth is the depth of a route that a delegate's stack names: more than that of any stack of its chief's.
const delegateDepth = 128

// isDelegate tells whether a goroutine that begins with a function runs the handler of its creator's request.
func isDelegate(function string) bool { return strings.HasPrefix(function, timeoutHandler+".func") }

// delegate follows a new goroutine that runs the handler of its creator's request.
func (f *Fold) delegate(e *exectrace.Event) {
	chief := f.of(e.By)
	if chief == nil || chief.phase != handling && chief.chief == nil {
		return
	}
	f.relieve(chief)
	d := f.enter(e.G, chief.protocol)
	d.begun, d.known = true, true
	d.accounted, d.since = e.Time, -1
	d.now = status{state: e.To, why: e.Why}
	f.ready(d, e.Time)
	d.chief, chief.delegate = chief, d
}

// top returns whose request a goroutine works for: its own, as a rule.
func (l *live) top() *live {
	for l.chief != nil {
		l = l.chief
	}
	return l
}

// relieve ends that a request's handler runs elsewhere, which it may still do when the time for it is over.
func (f *Fold) relieve(l *live) {
	if d := l.delegate; d != nil {
		l.delegate, d.chief = nil, nil
		f.drop(d.g)
	}
}

// awaits begins the wait for the delegate: what it did so far was beside what its chief did.
func (f *Fold) awaits(d *live, now int64) {
	f.charge(d, now, d.now)
	d.forget(now)
}

// forget begins the delegate's account anew.
func (l *live) forget(now int64) {
	l.parts, l.waits, l.merged = breakdown{}, l.waits[:0], false
	l.since = now
}

// off accounts for the time up to now, in which the goroutine was blocked or in a system call: of a wait for a
// delegate by what that did.
func (f *Fold) off(l *live, now int64, was status, waker exectrace.StackID) {
	d := l.delegate
	if d == nil || was.why != exectrace.WaitSelect || d.since != l.accounted {
		f.wasOff(l, now, f.partOf(was.state, was.why, was.left), was.left, waker)
		return
	}
	f.charge(d, now, d.now)
	l.until(now)
	if l.begun {
		l.sums().add(&d.parts)
		for _, w := range d.waits {
			l.waitMerged(w)
		}
	}
	d.forget(now)
}
