package locks_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestRefreshes: sections that wait for a value which has expired, and others that test a time.
func TestRefreshes(t *testing.T) {
	const program = `package main

import (
	"os"
	"sync"
	"time"
)

type entry struct {
	mu   sync.Mutex
	text []byte
	at   time.Time
	ttl  time.Duration
}

func (e *entry) get() ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.at) < e.ttl {
		return e.text, nil
	}
	text, err := os.ReadFile("x")
	if err == nil {
		e.text, e.at = text, time.Now()
	}
	return text, err //@ refreshes
}

func (e *entry) save() {
	e.mu.Lock()
	if time.Since(e.at) > e.ttl {
		os.WriteFile("x", e.text, 0o600)
		e.at = time.Now()
	}
	e.mu.Unlock() //@ writes
}

func (e *entry) sync() (err error) {
	e.mu.Lock()
	if time.Since(e.at) > e.ttl {
		err = os.WriteFile("x", e.text, 0o600)
	}
	e.mu.Unlock() //@ writes
	return err
}

func (e *entry) once() {
	if time.Since(e.at) < e.ttl {
		return
	}
	e.mu.Lock()
	text, _ := os.ReadFile("x")
	e.text = text
	e.mu.Unlock() //@ tests before it
}

func main() {}
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		found := locks.Sections(p.Place(s))
		if len(found) != 1 {
			t.Fatalf("line %d: %d sections", s.Line, len(found))
		}
		_, fix, ok := found[0].Outside(p, s.File)
		if want := names[s.Line] == "refreshes"; !ok || strings.Contains(fix, "expired") != want {
			t.Errorf("line %d (%s): %q", s.Line, names[s.Line], fix)
		}
	}
}
