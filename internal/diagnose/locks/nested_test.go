package locks_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/site"
)

// TestForLock: a section waits for another lock below it, as far as the profile of waits shows it
// there, and the trace tells that lock from its own.
func TestForLock(t *testing.T) {
	p, names := ruletest.MadeUp(t, `package main

import "sync"

type station struct {
	mu sync.Mutex
	n  int
}

func (s *station) info() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

type network struct {
	mu       sync.Mutex
	stations []*station
}

func (n *network) all() (sum int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.stations {
		sum += s.info()
	}
	return sum //@ section
}

func (n *network) one(i int) int { return n.stations[i].info() }

func main() {}
`)
	s := p.Table.Sites[0]
	if names[s.Line] != "section" {
		t.Fatal(names)
	}
	_, sections := locks.Ending(p, s)
	frame := func(function string, line int) *site.Frame {
		return &site.Frame{Function: function, File: s.File, Line: line}
	}
	row := func(value int64, above *site.Frame) *site.Row {
		return &site.Row{Value: value, Stack: []*site.Frame{{Function: "sync.(*Mutex).Lock"}, frame("main.(*station).info", 11), above}}
	}
	inside, outside := frame("main.(*network).all", 25), frame("main.(*network).one", 30)
	line := func(n int) exectrace.Line {
		return exectrace.Line{Function: "main.(*station).info", File: s.File, Line: n}
	}
	for _, test := range []struct {
		name           string
		inside, beside int64 // waiting below the section, and in calls of others
		object         string
		holder         int // line that unlocks the lock
		want           string
	}{
		{"all of it", 5e8, 0, "mutex", 13, "Line 25 waits meanwhile for another lock in (*main.station).info, for 50 % of the time, 50 ms on average."},
		{"half of it", 5e8, 5e8, "rwmutex", 13, "for 25 % of the time"},
		{"mostly others", 1e7, 9.9e8, "mutex", 13, ""},
		{"only others", 0, 5e8, "mutex", 13, ""},
		{"own lock", 5e8, 0, "mutex", 27, ""},
		{"not a lock", 5e8, 0, "waitgroup", 13, ""},
	} {
		s.Block = []*site.Row{row(test.beside, outside), row(test.inside, inside)}
		waiter := []wall.Waker{{Line: line(11)}}
		pass := &rule.Pass{Table: p.Table, Syntax: p.Syntax, Trace: &analysis.Results{
			Parallelism: &parallelism.Result{Length: 1},
			Blocking: &wall.Blocking{
				Waits: []wall.Wait{{Line: line(11), Reason: "sync", Object: test.object, Seconds: 0.5, Count: 10}},
				Locks: []wall.Lock{{Waiters: waiter, Holders: []wall.Waker{{Line: line(test.holder)}}}},
			},
		}}
		cause, fix, _ := sections[0].Outside(pass, s.File)
		if (cause == "") != (test.want == "") || !strings.Contains(cause, test.want) {
			t.Errorf("%s: %q, want %q", test.name, cause, test.want)
		}
		if cause != "" && !strings.Contains(fix, "copy the elements of n.stations, unlock") {
			t.Errorf("%s: %q", test.name, fix)
		}
	}
}
