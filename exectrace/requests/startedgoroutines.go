package requests

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// A request that waits for a goroutine that it started waits for what that goroutine does: a
// handler that calls three services at once and then waits for a sync.WaitGroup, or a handler below
// http.TimeoutHandler, which runs on a goroutine of its own. So the goroutines that a request
// starts are followed like its own, each with a live whose phase stays idle. When one of them ends
// a wait of its parent, the goroutine that started it, its own parts replace the wait. If the
// parent waited for several, that is the last.

// delegateDepth is the depth of a route that a delegate's stack names: more than any stack of its
// parent can have.
const delegateDepth = 128

// maxFollowed and maxFollowedOfOne bound how many goroutines are followed at a time, of all
// requests and of one.
const maxFollowed, maxFollowedOfOne = 8192, 1024

// follow starts to follow a new goroutine if a request started it.
func (f *Fold) follow(e *exectrace.Event, role servers.Role) {
	c := f.of(e.By)
	if c == nil || c.childCount >= maxFollowedOfOne || c.phase < handling && (c.parent == nil || c.owner() == nil) {
		return
	}
	if f.followed >= maxFollowed && !f.makeRoom() {
		return
	}
	f.followed++
	f.nextFollowed--
	c.childCount++
	l := f.enter(e.G, c.protocol)
	l.parent, l.parentID, l.id = c, c.id, f.nextFollowed
	l.begun, l.known = true, true
	l.accounted, l.since = e.Time, e.Time
	l.now = status{state: e.To, why: e.Why}
	f.ready(l, e.Time)
	if role == servers.Delegate {
		l.handles, c.delegate = true, l
	}
}

// owner returns the request that a goroutine works for: its own, or that of the goroutine that
// started it; nil when that request is over.
func (l *live) owner() *live {
	for l.parent != nil {
		if l.parent.id != l.parentID {
			return nil
		}
		l = l.parent
	}
	return l
}

// makeRoom stops following goroutines whose request is over; leaked ones would be followed forever.
// It looks at all of them, so it runs only after many were added.
func (f *Fold) makeRoom() bool {
	if f.sweptAt-f.nextFollowed < maxFollowed/2 {
		return false
	}
	f.sweptAt = f.nextFollowed
	for g, l := range f.live {
		if l != nil && l.owner() == nil {
			f.drop(exectrace.GIndex(g))
		}
	}
	return f.followed < maxFollowed
}

// unfollow stops following a goroutine.
func (f *Fold) unfollow(l *live) {
	f.followed--
	if c := l.parent; c.id == l.parentID {
		c.childCount--
		if c.delegate == l {
			c.delegate = nil
		}
	}
}

// split discards what a followed goroutine did before its parent began to wait, at the first event
// after that: it ran in parallel to what its parent did.
func (l *live) split() {
	if c := l.parent; c.id == l.parentID && c.now.state == exectrace.Waiting && l.since < c.accounted {
		l.parts, l.waits, l.merged = breakdown{}, l.waits[:0], false
		l.since, l.accounted = c.accounted, max(l.accounted, c.accounted)
	}
}

// awaited returns the followed goroutine whose parts replace a wait that ends: the one that ended
// it, or the delegate that runs the handler if its time limit ended it.
func (f *Fold) awaited(l *live, by exectrace.GIndex, why exectrace.Reason) *live {
	if d := f.of(by); d != nil && d.parent == l && d.parentID == l.id {
		return d
	}
	if why == exectrace.WaitSelect {
		return l.delegate
	}
	return nil
}

// chargeAwaited charges a wait up to now to what a followed goroutine did in it. Its parts start
// where the wait did: see split.
func (f *Fold) chargeAwaited(l, d *live, now int64) {
	f.charge(d, now, d.now)
	l.until(now)
	if l.begun {
		l.sums().add(&d.parts)
		l.adopt(d.waits)
	}
}
