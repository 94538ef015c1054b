package scanperlookup

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestExtremes: loops that search the first in an order, with a filter and by max.
func TestExtremes(t *testing.T) {
	const src = `package main

type backend struct {
	healthy bool
	zone    string
	load    int
}

type pool struct{ all []*backend }

func (p *pool) filtered() (best *backend) {
	for _, b := range p.all {
		if !b.healthy { //@ extreme 1
			continue
		}
		if best == nil || b.load < best.load {
			best = b
		}
	}
	return best
}

func (p *pool) flagged() (best int, found bool) {
	for _, b := range p.all {
		if b.load > best { //@ extreme 2
			best = b.load
			found = true
		}
	}
	return best, found
}

func (p *pool) high() (n int) {
	for _, b := range p.all {
		if b.healthy { //@ extreme 3
			n = max(n, b.load)
		}
	}
	return n
}

func (p *pool) below(limit int) (best *backend) {
	for _, b := range p.all {
		if b.load > limit { //@ none 1
			continue
		}
		if best == nil || b.load > best.load {
			best = b
		}
	}
	return best
}

func (p *pool) nearest(to int) (n int) {
	n = 1 << 30
	for _, b := range p.all {
		n = min(n, b.load-to) //@ none 2
	}
	return n
}

func highest(all []*backend) (n int) {
	for _, b := range all {
		n = max(n, b.load) //@ none 3
	}
	return n
}

func main() {}
`
	for name, place := range ruletest.Places(t, src) {
		sh, ok := shapeOf(place, place.Loop())
		if got := ok && sh.kind == extreme; got != strings.HasPrefix(name, "extreme") {
			t.Errorf("%s: found %v", name, got)
		}
	}
}
