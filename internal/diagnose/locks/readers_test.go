package locks_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestPublished: who waits for a mutex only to read what it guards can read a snapshot of that, but
// not of a map, and not who changes something.
func TestPublished(t *testing.T) {
	const program = `package main

import (
	"os"
	"sync"
)

type door struct {
	mu    sync.Mutex
	state string
	users map[string]int
	seen  int
}

func (d *door) save() {
	d.mu.Lock()
	os.WriteFile("x", []byte(d.state), 0o600)
	d.mu.Unlock() //@ holder
}

func (d *door) show() string {
	d.mu.Lock() //@ reads
	defer d.mu.Unlock()
	return d.state
}

func (d *door) user(name string) int {
	d.mu.Lock() //@ reads a map
	defer d.mu.Unlock()
	return d.users[name]
}

func (d *door) count() int {
	d.mu.Lock() //@ changes
	defer d.mu.Unlock()
	d.seen++
	return d.seen
}

func main() {}
`
	p, names := ruletest.MadeUp(t, program)
	var held *locks.Section
	file := ""
	for _, s := range p.Table.Sites {
		if names[s.Line] == "holder" {
			held, file = locks.Sections(p.Place(s))[0], s.File
		}
	}
	for line, name := range names {
		if name == "holder" {
			continue
		}
		got := held.Published(p, []wall.Waker{{Line: exectrace.Line{File: file, Line: line}}})
		if want := name == "reads"; strings.Contains(got, " show only reads what d.mu guards: let it read a snapshot") != want || !want && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
