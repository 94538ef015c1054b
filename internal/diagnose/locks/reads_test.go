package locks_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestWritesNothing: functions that take a lock for writing, and those that need it.
func TestWritesNothing(t *testing.T) {
	const program = `package main

import (
	"container/list"
	"regexp"
	"strings"
	"sync"
)

type store struct {
	mu     sync.RWMutex
	plain  sync.Mutex
	rules  map[string]*regexp.Regexp
	names  []string
	hits   int
	recent *list.List
	seen   map[string]*list.Element
	notify func(string)
}

func (s *store) match(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	re := s.rules[name]
	return re != nil && re.MatchString(name) //@ reads
}

func (s *store) find(name string) (n int) {
	s.mu.Lock()
	for _, have := range s.names {
		if s.same(have, name) {
			n++
		}
	}
	s.mu.Unlock() //@ reads
	return n
}

func (s *store) same(a, b string) bool { return strings.EqualFold(a, b) }

func (s *store) count(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits++
	return s.rules[name] != nil //@ writes
}

func (s *store) expire(name string) *regexp.Regexp {
	s.mu.Lock()
	defer s.mu.Unlock()
	re := s.rules[name]
	delete(s.rules, name)
	return re //@ writes
}

func (s *store) touch(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.seen[name]
	s.recent.MoveToFront(e)
	return e != nil //@ writes
}

func (s *store) tell(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notify(name)
	return true //@ unknown
}

func (s *store) shared(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rules[name] != nil //@ a read lock
}

func (s *store) mutex(name string) bool {
	s.plain.Lock()
	defer s.plain.Unlock()
	return s.rules[name] != nil //@ a plain mutex
}

func main() {}
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		found := locks.Sections(p.Place(s))
		if len(found) != 1 {
			t.Fatalf("line %d: %d sections", s.Line, len(found))
		}
		if got, want := found[0].WritesNothing(), names[s.Line] == "reads"; got != want {
			t.Errorf("line %d (%s): WritesNothing is %v", s.Line, names[s.Line], got)
		}
	}
}
