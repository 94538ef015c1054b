package roundtripperitem

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestPaces: sleeps before another attempt or for a rate, and those of a slow device.
func TestPaces(t *testing.T) {
	const program = `package main

import (
	"errors"
	"sync"
	"time"
)

type client struct {
	mu       sync.Mutex
	interval time.Duration
	delay    time.Duration
	allowed  time.Time
	objects  map[string]string
}

func (c *client) try(name string) (string, error) {
	if v, ok := c.objects[name]; ok {
		return v, nil
	}
	return "", errors.New("not there")
}

func (c *client) attempts(name string) (string, error) {
	for range 3 {
		if v, err := c.try(name); err == nil {
			return v, nil
		}
		time.Sleep(c.delay) //@ paces attempts
	}
	return "", errors.New("gave up")
}

func (c *client) allowedAt(name string) (string, error) {
	c.mu.Lock()
	d := time.Until(c.allowed)
	c.allowed = time.Now().Add(c.delay)
	c.mu.Unlock()
	time.Sleep(d) //@ paces until
	return c.try(name)
}

func (c *client) polite(name string) (string, error) {
	time.Sleep(c.interval) //@ paces interval
	return c.try(name)
}

func (c *client) nextDelay() time.Duration { return c.delay }

func (c *client) reserved(name string) (string, error) {
	if d := c.nextDelay(); d > 0 {
		time.Sleep(d) //@ paces reserved
	}
	return c.try(name)
}

func (c *client) slow(name string) (string, error) {
	if c.delay > 0 {
		time.Sleep(c.delay) //@ slow
	}
	return c.try(name)
}

func (c *client) sized(name string) (string, error) {
	d := time.Duration(len(name)) * time.Microsecond
	time.Sleep(d + time.Millisecond) //@ sized
	return c.try(name)
}

func main() {}
`
	for name, place := range ruletest.Places(t, program) {
		if got, want := paces(place), strings.HasPrefix(name, "paces "); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
