package locks_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/site"
)

// TestOutsideBelow: what a section waits for is behind a function that it gets, an interface, or
// several calls.
func TestOutsideBelow(t *testing.T) {
	const program = `package main

import (
	"net"
	"net/http"
	"os"
	"sync"
)

type guarded[T any] struct {
	mu sync.Mutex
	v  T
}

func (g *guarded[T]) with(f func(*T)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.v) //@ below the function that it gets from rates
}

func rates(g *guarded[[]byte]) {
	g.with(func(b *[]byte) { *b = fetch() })
}

func fetch() []byte {
	b, _ := os.ReadFile("rates")
	return b
}

type store interface{ put(b []byte) error }

type disk struct{ f *os.File }

func (d *disk) put(b []byte) error {
	_, err := d.f.Write(b)
	return err
}

var _ store = (*disk)(nil)

type log struct {
	mu sync.Mutex
	to store
}

func (l *log) add(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.put(b) //@ in (*os.File).Write, called by put
}

type hub struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (h *hub) tell(b []byte) {
	h.mu.Lock()
	for _, c := range h.conns {
		c.Write(b)
	}
	h.mu.Unlock() //@ for each of h.conns
}

type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) with(f func(map[string]int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.n) //@ nothing
}

func count(c *counter) {
	c.with(func(n map[string]int) {
		n["a"]++
		go fetch()
	})
}

type keyed struct {
	mu   sync.Mutex
	each map[string]*sync.Mutex
}

func (k *keyed) hold(key string) func() {
	k.mu.Lock()
	one := k.each[key]
	k.mu.Unlock()
	one.Lock()
	return func() { one.Unlock() }
}

func (k *keyed) rate() []byte {
	done := k.hold("rate")
	defer done()
	b, _ := os.ReadFile("rates")
	return b //@ in os.ReadFile
}

func (k *keyed) once() []byte {
	defer k.hold("rate")()
	return fetch() //@ called by fetch
}

func alone(next http.Handler) http.Handler {
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		next.ServeHTTP(w, r)
		_, _ = os.ReadFile("rates") //@ os.ReadFile
	})
}

type lockers struct{ each map[string]*sync.Mutex }

func (l *lockers) Lock(key string)   { l.each[key].Lock() }
func (l *lockers) Unlock(key string) { l.each[key].Unlock() }

func (l *lockers) read(key string) {
	l.Lock(key)
	_, _ = os.ReadFile(key)
	l.Unlock(key) //@ outside of the program, in os.ReadFile
}

func main() {}
`
	code, places := ruletest.PlacesIn(t, program)
	for name, place := range places {
		sections := locks.Sections(place)
		if len(sections) != 1 {
			t.Fatalf("%s: %d sections", name, len(sections))
		}
		cause, fix, ok := sections[0].Outside(&rule.Pass{Syntax: code, Table: &site.Table{}}, "main.go")
		if ok != (name != "nothing") || ok && (!strings.Contains(cause, name) || fix == "") {
			t.Errorf("%s: %s %s", name, cause, fix)
		}
	}
}
