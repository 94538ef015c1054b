package receivers_test

import (
	"cmp"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/receivers"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestCalled: goroutines that wait on the line of ask. They call receivers that they keep, or do
// the work that an event brings, or wait for something other than an event.
func TestCalled(t *testing.T) {
	const program = `package main

import "time"

type event struct{ parts []sink; room string }

type sink interface{ take(event) }

type remote struct{ out chan event }

func (r *remote) take(e event) { r.ask(e) }

func (r *remote) ask(e event) {
	r.out <- e //@ ask
}

type hub struct {
	inbox    chan event
	sinks    []sink
	rooms    map[string][]sink
	handlers []func(event)
}

func (h *hub) each() {
	for e := range h.inbox { //@ main.(*hub).each s.take of h.sinks
		for _, s := range h.sinks {
			s.take(e)
		}
	}
}

func (h *hub) room() {
	for {
		e := <-h.inbox //@ main.(*hub).room s.take of h.rooms[e.room]
		h.tell(e)
	}
}

func (h *hub) tell(e event) {
	for _, s := range h.rooms[e.room] {
		s.take(e)
	}
}

func (h *hub) parts() {
	for e := range h.inbox { //@ main.(*hub).parts none
		for _, s := range e.parts {
			s.take(e)
		}
	}
}

func (h *hub) work() {
	for e := range h.inbox { //@ main.(*hub).work none
		do(e)
	}
}

func do(e event) {
	for _, s := range e.parts {
		s.take(e)
	}
}

func (h *hub) poll() {
	for range time.Tick(time.Second) { //@ main.(*hub).poll none
		for _, s := range h.sinks {
			s.take(event{})
		}
	}
}

func (h *hub) once() {
	for _, s := range h.sinks { //@ main.(*hub).once none
		s.take(event{})
	}
}

func (h *hub) started() {
	for e := range h.inbox { //@ main.(*hub).started none
		for _, s := range h.sinks {
			go s.take(e)
		}
	}
}

func main() {
	h := &hub{sinks: []sink{&remote{}}}
	h.each()
	h.room()
	h.parts()
	h.work()
	h.poll()
	h.once()
	h.started()
}
`
	p, names := ruletest.MadeUp(t, program)
	var ask exectrace.Line
	entries := map[string]exectrace.Line{}
	for _, s := range p.Table.Sites {
		l := exectrace.Line{Function: s.Function, File: s.File, Line: s.Line}
		if names[s.Line] == "ask" {
			ask = l
		} else {
			entries[names[s.Line]] = l
		}
	}
	for name, l := range entries {
		g := &wall.Group{Function: l.Function, Found: 1, Seconds: 10, Stacks: []wall.Place{
			{Line: ask, What: "blocked", Why: "chan send", Seconds: 9}, {Line: l, What: "blocked", Why: "chan receive", Seconds: 1},
		}}
		got := "none"
		if c := receivers.Called(p, g); c != nil {
			got = c.Callee + " of " + c.Of
		}
		if want := l.Function + " " + cmp.Or(got, "none"); name != want {
			t.Errorf("%s, want %s", want, name)
		}
	}
}
