package locks_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestSweeps: sections that look at all entries of a map to delete some, and other loops.
func TestSweeps(t *testing.T) {
	const program = `package main

import "sync"

type store struct {
	mu    sync.Mutex
	ends  map[string]int
	names []string
}

func (s *store) expire(now int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, end := range s.ends {
		if end < now {
			delete(s.ends, k)
		}
	}
	s.ends[""] = now //@ sweeps
}

func (s *store) forget() {
	s.mu.Lock()
	for _, n := range s.names {
		delete(s.ends, n)
	}
	s.mu.Unlock() //@ some keys
}

func (s *store) sum() (n int) {
	s.mu.Lock()
	for _, end := range s.ends {
		n += end
	}
	s.mu.Unlock() //@ reads
	return n
}

func main() {}
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		found := locks.Sections(p.Place(s))
		if len(found) != 1 {
			t.Fatalf("line %d: %d sections", s.Line, len(found))
		}
		fix := found[0].InParts()
		if want := names[s.Line] == "sweeps"; strings.Contains(fix, "all of s.ends") != want {
			t.Errorf("line %d (%s): %q", s.Line, names[s.Line], fix)
		}
	}
}
