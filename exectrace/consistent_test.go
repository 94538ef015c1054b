package exectrace_test

import (
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// consistent checks what holds in every trace: time never decreases; each change of a goroutine or
// a processor starts when the previous one ended, and states that time; the times in all states add
// up to the goroutine's life; Rare has the fields that it promises.
type consistent struct {
	t  *testing.T
	gs map[exectrace.GIndex]*life
	ps map[int32]*life

	last   int64
	events int64
	lives  int // lives that were added up
}

type life struct {
	id           uint64
	state        exectrace.State
	why          exectrace.Reason
	left         exectrace.StackID
	since, began int64
	sum          int64
}

func (c *consistent) Events(t *exectrace.Trace, b *exectrace.Block) {
	if c.gs == nil {
		c.gs, c.ps = map[exectrace.GIndex]*life{}, map[int32]*life{}
	}
	rare := b.Rare
	for i := range b.Events {
		e := &b.Events[i]
		if e.Time < c.last {
			c.t.Fatalf("event %d: time falls from %d to %d", c.events, c.last, e.Time)
		}
		c.last = e.Time
		c.events++
		isRare := e.Kind >= exectrace.GoStatus
		if isRare != (len(rare) > 0 && rare[0] == int32(i)) {
			c.t.Fatalf("%v at %d: is it rare? Rare says %v", e.Kind, i, rare)
		}
		if isRare {
			rare = rare[1:]
		}
		switch {
		case e.Kind == exectrace.Gap:
			clear(c.gs)
			clear(c.ps)
		case e.Kind <= exectrace.GoStatus:
			c.goroutine(t, e)
		case e.Kind <= exectrace.ProcStatus:
			c.proc(e)
		}
	}
}

func (c *consistent) goroutine(t *exectrace.Trace, e *exectrace.Event) {
	g := c.gs[e.G]
	if e.From == exectrace.Unknown {
		if g != nil {
			c.t.Fatalf("%v at %d begins %d, which is there as goroutine %d", e.Kind, e.Time, e.G, g.id)
		}
		c.gs[e.G] = &life{id: t.Goroutine(e.G).ID, state: e.To, why: e.Why, since: e.Since, began: e.Since, left: t.Goroutine(e.G).Spawn}
		if e.Kind == exectrace.GoStatus {
			c.gs[e.G].left = e.Stack
		}
		return
	}
	if g == nil {
		c.t.Fatalf("%v at %d: no goroutine %d", e.Kind, e.Time, e.G)
	}
	if e.From != g.state || e.Was != g.why && e.Was != exectrace.ReasonNone || e.Since != g.since {
		c.t.Fatalf("goroutine %d, %v at %d: from %v (%v) since %d; it was %v (%v) since %d",
			g.id, e.Kind, e.Time, e.From, e.Was, e.Since, g.state, g.why, g.since)
	}
	if e.Kind == exectrace.GoStatus {
		if e.To != e.From {
			c.t.Fatalf("goroutine %d: a status changes %v to %v", g.id, e.From, e.To)
		}
		if g.left == 0 {
			g.left = e.Stack
		}
		return
	}
	if e.Left != g.left {
		c.t.Fatalf("goroutine %d, %v at %d: left at %d, want %d", g.id, e.Kind, e.Time, e.Left, g.left)
	}
	if e.From == exectrace.Running {
		g.left = e.Stack
	}
	g.sum += e.Time - e.Since
	g.state, g.why, g.since = e.To, e.Why, e.Time
	if e.Kind == exectrace.GoSyscallBegin || e.Kind == exectrace.GoSyscallEnd { // its processor goes with it
		if p := c.ps[e.P]; p == nil {
			c.t.Fatalf("%v at %d: no processor %d", e.Kind, e.Time, e.P)
		} else {
			p.state, p.since = e.To, e.Time
		}
	}
	if e.To == exectrace.Gone {
		c.end(g, e.Time)
		delete(c.gs, e.G)
	}
}

func (c *consistent) end(g *life, now int64) {
	if c.lives++; g.sum != now-g.began {
		c.t.Fatalf("goroutine %d: its states add up to %d ns of %d", g.id, g.sum, now-g.began)
	}
}

func (c *consistent) proc(e *exectrace.Event) {
	if e.Kind == exectrace.ProcsChange {
		return
	}
	p := c.ps[e.P]
	if e.From == exectrace.Unknown {
		c.ps[e.P] = &life{state: e.To, since: e.Since}
		return
	}
	if p == nil || e.From != p.state || e.Since != p.since {
		c.t.Fatalf("processor %d, %v at %d: from %v since %d; it was %+v", e.P, e.Kind, e.Time, e.From, e.Since, p)
	}
	if e.To != e.From {
		p.state, p.since = e.To, e.Time
	}
}

func (c *consistent) End(t *exectrace.Trace) {
	alive := 0
	for i, g := range t.Live() {
		alive++
		l := c.gs[i]
		if l == nil || l.id != g.ID || l.state != g.State || l.since != g.Since {
			c.t.Fatalf("goroutine %d is %v since %d in the table; its events say %+v", g.ID, g.State, g.Since, l)
		}
		l.sum += t.Now() - g.Since
		c.end(l, t.Now())
	}
	if alive != len(c.gs) {
		c.t.Errorf("%d goroutines live, by their events %d", alive, len(c.gs))
	}
	if info := t.Info(); info.Events != c.events {
		c.t.Errorf("Info has %d events, %d came", info.Events, c.events)
	}
}
