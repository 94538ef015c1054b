package locks_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestHanded: a function unlocks what its callers lock before they call it.
func TestHanded(t *testing.T) {
	p, names := ruletest.MadeUp(t, `package main

import (
	"os"
	"sync"
)

type box struct {
	mu, other sync.Mutex
	rw        sync.RWMutex
	lines     []byte
}

func (b *box) send(lines []byte) { os.WriteFile("x", lines, 0o600) }

func (b *box) add() {
	b.mu.Lock()
	if len(b.lines) < 100 {
		b.mu.Unlock()
		return
	}
	b.flush() //: add
}

func (b *box) flush() {
	defer b.mu.Unlock()
	lines := b.lines
	b.lines = nil
	b.send(lines) //@ deferred < add
}

func each(all []*box) {
	for _, b := range all {
		b.mu.Lock()
		if b.lines == nil {
			b.mu.Unlock()
			continue
		}
		clear(b) //: each
	}
}

func clear(x *box) {
	x.send(x.lines)
	x.mu.Unlock() //@ plain < each
	x.send(nil)
}

type store struct{ box box }

func (s *store) put() {
	s.box.mu.Lock()
	empty(&s.box, 1) //: put
}

func empty(x *box, n int) {
	defer x.mu.Unlock()
	x.send(nil) //@ address < put
}

func (b *box) read() {
	b.rw.RLock()
	b.done() //: read
}

func (b *box) done() {
	b.send(nil)
	b.rw.RUnlock() //@ read < read
}

func (b *box) sync() {
	b.mu.Lock()
	b.send(b.lines)
	b.end() //: sync
}

func (b *box) end() {
	b.lines = nil
	b.mu.Unlock() //@ in the caller < sync
}

var (
	mu    sync.Mutex
	spare *box
)

func all() {
	mu.Lock()
	one() //: all
}

func one() {
	defer mu.Unlock()
	spare.send(nil) //@ variable < all
}

func (b *box) before() {
	b.mu.Lock()
	b.lines = nil
	b.mu.Unlock()
	b.first() //: before
}

func (b *box) first() {
	defer b.mu.Unlock()
	b.send(nil) //@ unlocked before < before
}

func (b *box) mixed(c *box) {
	c.mu.Lock()
	b.second() //: mixed
}

func (b *box) second() {
	defer b.mu.Unlock()
	b.send(nil) //@ of another box < mixed
}

func (b *box) wrong() {
	b.other.Lock()
	b.third() //: wrong
}

func (b *box) third() {
	defer b.mu.Unlock()
	b.send(nil) //@ another field < wrong
}

func (b *box) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pause() //: wait
}

func (b *box) pause() {
	b.mu.Unlock() //@ paused < wait
	b.send(nil)
	b.mu.Lock()
}

func (b *box) late() {
	b.fourth() //: late
	b.mu.Lock()
}

func (b *box) fourth() {
	defer b.mu.Unlock()
	b.send(nil) //@ locked after < late
}

func (b *box) maybe(now bool) {
	b.mu.Lock()
	if now {
		b.mu.Unlock()
	}
	b.fifth() //: maybe
}

func (b *box) fifth() {
	defer b.mu.Unlock()
	b.send(nil) //@ maybe unlocked < maybe
}

func main() {}
`)
	want := map[string]string{
		"deferred":      " b.mu is locked in add (main.go:17). flush, which is called with it held, unlocks it when it returns, on line 30. Line 29",
		"plain":         " x.mu is locked in each (main.go:34). clear, which is called with it held, unlocks it on line 45. Line 44",
		"address":       " x.mu is locked in put (main.go:52). empty, which is called with it held, unlocks it when it returns, on line 59. Line 58",
		"read":          " b.rw is locked in read (main.go:62). done, which is called with it held, unlocks it on line 68. Line 67",
		"in the caller": " b.mu is locked in sync (main.go:72). end, which is called with it held, unlocks it on line 79. Line 73",
		"variable":      " mu is locked in all (main.go:88). one, which is called with it held, unlocks it when it returns, on line 95. Line 94",
	}
	for _, s := range p.Table.Sites {
		s.Mutex, s.CPU = s.CPU, nil
		name, got := names[s.Line], ""
		if _, f := locks.Of(p, s); f != nil {
			cause, _, _ := f.Outside(p, f.File)
			got = f.Held() + cause
		}
		if (got == "") != (want[name] == "") || !strings.HasPrefix(got, want[name]) {
			t.Errorf("%s: %q, want %q", name, got, want[name])
		}
	}
}
