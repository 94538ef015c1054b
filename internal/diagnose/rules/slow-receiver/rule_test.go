package slowreceiver

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestSendAt: sends to each of some receivers, here, in a method of the receiver, or for the
// entries of a sync.Map. The name of a line is where its loop is said to be.
func TestSendAt(t *testing.T) {
	const program = `package main

import "sync"

type client struct{ queue chan string }

func (c *client) send(s string) {
	c.queue <- s //@ main.go:14
}

type hub struct{ clients []*client; byName map[string]chan string; all sync.Map; inbox chan string }

func (h *hub) publish(s string) {
	for _, c := range h.clients {
		c.send(s)
	}
	for _, c := range h.clients {
		ch := c.queue
		ch <- s //@ line 17
	}
	for name := range h.byName {
		h.byName[name] <- s //@ line 21
	}
	h.all.Range(func(_, v any) bool {
		ch := v.(chan string)
		ch <- s //@ line 24
		return true
	})
	for _, c := range h.clients {
		select {
		case c.queue <- s:
		default: //@ none drops
		}
		h.inbox <- s //@ none one channel
	}
	h.inbox <- s //@ none no loop
}

func main() { (&hub{}).publish("") }
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		want, got := names[s.Line], "none"
		if at := sendAt(p, exectrace.Line{Function: s.Function, File: s.File, Line: s.Line}); at != nil {
			got = at.where
		}
		if !strings.HasPrefix(want, got) {
			t.Errorf("line %d: %q, want %q", s.Line, got, want)
		}
	}
}
