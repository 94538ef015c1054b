package requests

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// join starts to track the goroutine of an event if its stack shows that it serves requests.
func (f *Fold) join(e *exectrace.Event) *live {
	if f.classes[e.Stack].place == servers.Nowhere {
		return nil
	}
	_, role, _ := servers.Classify(f.src.Frames(e.Stack))
	p := protocolOf(role)
	if p == 0 { // a delegate whose parent is not known
		return nil
	}
	l := f.enter(e.G, p)
	l.accounted = e.Time
	return l
}

// enter starts to track a goroutine that serves requests.
func (f *Fold) enter(g exectrace.GIndex, p Protocol) *live {
	if int(g) >= len(f.live) {
		f.grow(int(g) + 1)
	}
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
	f.marks[g] |= ofLive
	f.entered = g
	return l
}

// drop stops tracking a goroutine. If its request has not ended, it is not measured.
func (f *Fold) drop(g exectrace.GIndex) {
	l := f.of(g)
	if l == nil {
		return
	}
	if l.phase >= handling && !l.carrier {
		f.cut++
	}
	if l.protocol == Task {
		delete(f.tasks, l.task)
	}
	if l.parent != nil {
		f.unfollow(l)
	}
	l.id = 0 // its children belong to no request now
	f.live[g] = nil
	f.marks[g] &^= ofLive
	f.free = append(f.free, l)
}

// found takes a goroutine that existed before the trace, or that has the index of one that ended.
func (f *Fold) found(e *exectrace.Event) {
	f.drop(e.G)
	if f.classes[e.Stack].place == servers.WorkerIdle {
		if l := f.join(e); l != nil {
			l.known = true
			l.now = status{e.To, e.Why, e.Stack}
		}
	}
}

// forget drops a goroutine, and the request that it is a child of.
func (f *Fold) forget(g exectrace.GIndex) {
	f.drop(g)
	f.children[g] = child{}
	f.marks[g] = 0
}

// create takes a new goroutine.
func (f *Fold) create(e *exectrace.Event) {
	if int(e.G) >= len(f.live) {
		f.grow(int(e.G) + 1)
	}
	if f.marks[e.G] != 0 {
		f.forget(e.G)
	}
	f.observeBy(e)
	f.inherit(e)
	switch role := f.entry(f.src.Goroutine(e.G).Entry); role {
	case servers.NoRole:
	case servers.Started, servers.Delegate:
		f.follow(e, role)
	default:
		p := protocolOf(role)
		l := f.enter(e.G, p)
		l.known = true
		l.accounted = e.Time
		if p == HTTP1 {
			return // a connection, which may serve requests
		}
		l.start(e.Time)
		f.confirm(l, class{}, e.Time)
		l.handler = -1 // its first run
		l.now.state, l.now.why = e.To, e.Why
		f.ready(l, e.Time)
	}
}

// inherit makes a new goroutine a child of its creator's request.
func (f *Fold) inherit(e *exectrace.Event) {
	if int(e.By) >= len(f.marks) || f.marks[e.By] == 0 { // NoG too
		return
	}
	c := f.children[e.By]
	if l := f.live[e.By]; l != nil && l.phase >= handling {
		c = child{l, l.id}
	}
	if c.of != nil {
		f.children[e.G] = c
		f.marks[e.G] |= descends
	}
}

// entry returns the role of the goroutines that start with a stack.
func (f *Fold) entry(s exectrace.StackID) servers.Role {
	if int(s) >= len(f.classes) {
		f.classify(f.src.Stacks())
	}
	return f.entries[s]
}
