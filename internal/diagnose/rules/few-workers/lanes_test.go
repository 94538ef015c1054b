package fewworkers

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestSeparate: lines that take work from a channel of their own, or from one that workers share.
func TestSeparate(t *testing.T) {
	const program = `package main

import "time"

type job struct{ n int }

type lane struct{ jobs chan job }

func (l *lane) run() {
	for j := range l.jobs { //@ own made for each
		_ = j
	}
}

type desk struct{ jobs chan job }

func (d *desk) run() {
	for j := range d.jobs { //@ shared by all desks
		_ = j
	}
}

func one(in <-chan job, quit chan struct{}, t *time.Ticker) {
	for {
		select { //@ own among signals and times
		case <-in:
		case <-quit:
		case <-t.C:
		}
	}
}

func two(in chan job) {
	for j := range in { //@ shared under another name
		_ = j
	}
}

func three(in chan job, more chan int) {
	for {
		select { //@ shared two sources
		case <-in:
		case <-more:
		}
	}
}

type pool struct {
	lanes []chan job
	jobs  chan job
}

func (p *pool) work() {
	for j := range p.jobs { //@ shared one pool
		_ = j
	}
}

func newLane() *lane { return &lane{jobs: make(chan job, 8)} }

func (p *pool) start() {
	for i := range p.lanes {
		go one(p.lanes[i], nil, nil)
		go func() {
			for j := range p.lanes[i] { //@ own by index
				_ = j
			}
		}()
		ch := make(chan job)
		go func(in chan job) {
			for j := range in { //@ own passed to a literal
				_ = j
			}
		}(ch)
		go func() {
			for j := range p.jobs { //@ shared in a literal
				_ = j
			}
		}()
		go p.work()
		l := newLane()
		go l.run()
		d := &desk{p.jobs}
		go d.run()
		same := p.jobs
		go two(same)
		go three(ch, nil)
	}
	for j := range p.jobs { //@ shared no worker
		_ = j
	}
}

func main() { (&pool{}).start() }
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		want, got := names[s.Line], "shared"
		if separate(p, p.Place(s)) {
			got = "own"
		}
		if !strings.HasPrefix(want, got) {
			t.Errorf("line %d: %s, want %q", s.Line, got, want)
		}
	}
}
