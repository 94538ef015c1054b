package caching_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/caching"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestExpiryTest: calls after a test of the age of a kept value, and others.
func TestExpiryTest(t *testing.T) {
	const program = `package main

import (
	"sync"
	"time"
)

type entry struct {
	value string
	until time.Time
	at    time.Time
	ends  int64
}

func (e *entry) stale(now time.Time) bool { return e == nil || now.After(e.until) }

func (e *entry) long() bool { return len(e.value) > 9 }

type cache struct {
	mu    sync.Mutex
	all   map[string]*entry
	times map[string]time.Time
	last  time.Time
	ttl   time.Duration
}

func load(string) string { return "" }

func (c *cache) one(k string) string {
	e := c.all[k]
	if e != nil && time.Now().Before(e.until) {
		return e.value
	}
	return load(k) //@ expires until
}

func (c *cache) two(k string) string {
	if e := c.all[k]; !e.stale(time.Now()) {
		return e.value
	}
	return load(k) //@ expires in a method
}

func (c *cache) three(k string) string {
	at, ok := c.times[k]
	if ok && time.Since(at) < c.ttl {
		return c.all[k].value
	}
	return load(k) //@ expires in an element
}

func (c *cache) four(k string) string {
	if time.Now().Sub(c.last) < c.ttl {
		return ""
	}
	return load(k) //@ expires in a field
}

func (c *cache) five(k string) string {
	start := time.Now()
	if v := c.all[k]; v != nil && v.long() {
		return v.value
	}
	if time.Since(start) > time.Second {
		return ""
	}
	return load(k) //@ none its own duration
}

func (c *cache) six(k string) string {
	v := load(k) //@ none before the test
	if time.Since(c.last) > c.ttl {
		return ""
	}
	return v
}

func (c *cache) seven(k string, deadline time.Time) string {
	if e := c.all[k]; e != nil {
		return e.value
	}
	if time.Now().After(deadline) {
		return ""
	}
	return load(k) //@ none a deadline of the caller
}

func (c *cache) eight(k string) string {
	if e := c.all[k]; e != nil && time.Now().Unix() < e.ends+3 {
		return e.value
	}
	return load(k) //@ expires in seconds
}

func (c *cache) nine(k string) string {
	now := time.Now().UnixNano()
	e := c.all[k]
	if e != nil && now-e.ends < int64(c.ttl) {
		return e.value
	}
	return load(k) //@ expires an age in nanoseconds
}

func (c *cache) ten(k string) string {
	start := time.Now().UnixNano()
	if v := c.all[k]; v != nil && v.long() {
		return v.value
	}
	if time.Now().UnixNano()-start > int64(c.ttl) {
		return ""
	}
	return load(k) //@ none its own duration in nanoseconds
}

func main() {}
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		want, got := names[s.Line], "none"
		if want == "" {
			continue
		}
		place := p.Place(s)
		if caching.ExpiryTest(place, place.Calls()[0].Pos()) != nil {
			got = "expires"
		}
		if !strings.HasPrefix(want, got) {
			t.Errorf("line %d: %s, want %q", s.Line, got, want)
		}
	}
}
