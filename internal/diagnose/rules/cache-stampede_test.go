package rules_test

import (
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	cachestampede "github.com/hone-go/hone/internal/diagnose/rules/cache-stampede"
	"github.com/hone-go/hone/internal/inputs"
)

const stampedeHead = `import (
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

type table struct{ sum int }

type entry struct {
	v  *table
	at time.Time
}

type loader interface{ load() *table }

// scanner has no lock: each request has its own.
type scanner struct {
	started bool
	fields  *table
	tables  map[int]*table
	of      *cache
}

type kv interface {
	Get(k string) (string, bool)
	Set(k, v string) bool
}

type cache struct {
	mu      sync.RWMutex
	v       *table
	at      time.Time
	m       map[string]entry
	p       map[string]*entry
	latest  atomic.Pointer[entry]
	all     sync.Map
	remote  kv
	from    loader
	fetch   func() (*table, error)
	total   int
	last    *table
	stopped bool
}

type out struct{ n int }

func (o *out) Write(b []byte) (int, error) { return len(b), nil }

var current *table

func load() *table { return &table{} }

func decode() *table { return &table{} }

func locked() *table {
	mu.Lock()
	defer mu.Unlock()
	if current != nil {
		return current
	}
	return decode()
}

var mu sync.Mutex

func (c *cache) get() (*table, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.v, c.v != nil
}

func (c *cache) put(t *table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.v = t
}

var _ = json.Marshal
var _ = errors.New
`

// TestCacheStampedeShapes: half of the calls overlap, and what they return differs when a value has
// expired, so the source must show that the function looks at what it fills.
func TestCacheStampedeShapes(t *testing.T) {
	overlapping := func(p *rule.Pass) {
		names := []string{"main.load", "main.decode", "main.locked", "main.(*disk).load", "main.(*cache).refresh", "main.(*cache).touch", "main.(*cache).work", "main.deep"}
		for i := range 60 {
			names = append(names, fmt.Sprint("main.f", i), fmt.Sprint("main.load", i))
		}
		p.Inputs = &inputs.Counts{}
		for _, name := range names {
			p.Inputs.Functions = append(p.Inputs.Functions, inputs.Function{Name: name, Calls: 12, Hashed: 12, Stable: 1, Overlapping: 6, Compared: 11, Same: 4})
		}
	}
	const says = "Of 12 calls, 6 started while another goroutine was computing the same result"
	checkShapesIn(t, cachestampede.Rule(), stampedeHead, "main.load", 0, []shape{
		// A field, with its time.
		{"func (c *cache) F() *table {\n\tif time.Since(c.at) < time.Second {\n\t\treturn c.v\n\t}\n\tt := load() @\n\tc.v, c.at = t, time.Now()\n\treturn t\n}", says},
		{"func (c *cache) F() *table {\n\tc.mu.RLock()\n\tt, at := c.v, c.at\n\tc.mu.RUnlock()\n\tif time.Since(at) >= time.Second {\n\t\tt = load() @\n\t\tc.mu.Lock()\n\t\tc.v, c.at = t, time.Now()\n\t\tc.mu.Unlock()\n\t}\n\treturn t\n}", says},
		{"func (c *cache) F() *table {\n\tswitch {\n\tcase time.Since(c.at) < time.Second:\n\t\treturn c.v\n\t}\n\tc.v = load() @\n\tc.at = time.Now()\n\treturn c.v\n}", says},
		// A package variable.
		{"func F() *table {\n\tif t := current; t != nil {\n\t\treturn t\n\t}\n\tcurrent = load() @\n\treturn current\n}", says},
		// A new struct in a map, by value and by pointer; an entry of the map.
		{"func (c *cache) F(k string) *table {\n\tif e, ok := c.m[k]; ok {\n\t\treturn e.v\n\t}\n\tt := load() @\n\tc.m[k] = entry{v: t, at: time.Now()}\n\treturn t\n}", says},
		{"func (c *cache) F(k string) *table {\n\tif e, ok := c.p[k]; ok {\n\t\treturn e.v\n\t}\n\tt := load() @\n\tc.p[k] = &entry{t, time.Now()}\n\treturn t\n}", says},
		{"func (c *cache) F(k string) *table {\n\tif e, ok := c.p[k]; ok {\n\t\treturn e.v\n\t}\n\te := &entry{}\n\te.v = load() @\n\tc.p[k] = e\n\treturn e.v\n}", says},
		{"func (c *cache) F(k string) *table {\n\te := c.p[k]\n\tif time.Since(e.at) < time.Second {\n\t\treturn e.v\n\t}\n\te.v = load() @\n\te.at = time.Now()\n\treturn e.v\n}", says},
		// An atomic pointer, a sync.Map, a cache behind an interface.
		{"func (c *cache) F() *table {\n\tif e := c.latest.Load(); e != nil {\n\t\treturn e.v\n\t}\n\tt := load() @\n\tc.latest.Store(&entry{v: t})\n\treturn t\n}", says},
		{"func (c *cache) F(k string) *table {\n\tif v, ok := c.all.Load(k); ok {\n\t\treturn v.(*table)\n\t}\n\tt := load() @\n\tactual, _ := c.all.LoadOrStore(k, t)\n\treturn actual.(*table)\n}", says},
		{"func (c *cache) F(k string) string {\n\tif v, ok := c.remote.Get(k); ok {\n\t\treturn v\n\t}\n\tt := load() @\n\ttext, _ := json.Marshal(t)\n\tc.remote.Set(k, string(text))\n\treturn string(text)\n}", says},
		// Methods that look and store.
		{"func (c *cache) F() *table {\n\tif t, ok := c.get(); ok {\n\t\treturn t\n\t}\n\tt := load() @\n\tc.put(t)\n\treturn t\n}", says},
		// The line that fills the cache is above one that only passes the result on.
		{"func outer_N(c *cache) *table {\n\tif c.v != nil {\n\t\treturn c.v\n\t}\n\tc.v = load_N() //: fills_N\n\treturn c.v\n}\n\nfunc load_N() *table { return load() } @ < fills_N\n\nfunc F() {}", says},
		// Near misses: no look before; an error before; what it looks at is not what it fills.
		{"func (c *cache) F() *table {\n\tt := load() @\n\tc.v = t\n\treturn t\n}", ""},
		{"func (c *cache) F(err error) *table {\n\tif err != nil {\n\t\treturn nil\n\t}\n\tt := load() @\n\tc.v = t\n\treturn t\n}", ""},
		{"func (c *cache) F() *table {\n\tif c.stopped {\n\t\treturn nil\n\t}\n\tt := load() @\n\tc.last = t\n\treturn t\n}", ""},
		{"func (c *cache) F(o *out) {\n\tif c.v != nil {\n\t\treturn\n\t}\n\tt := load() @\n\ttext, _ := json.Marshal(t)\n\to.Write(text)\n}", ""},
		{"func (c *cache) F() int {\n\tif c.v != nil {\n\t\treturn 0\n\t}\n\tvar o entry\n\to.v = load() @\n\treturn o.v.sum\n}", ""},
		// Another key, and no key at all.
		{"func (c *cache) F(k, other string) *table {\n\tif e, ok := c.p[k]; ok {\n\t\treturn e.v\n\t}\n\tt := load() @\n\tc.p[other] = &entry{t, time.Now()}\n\treturn t\n}", ""},
		{"func (c *cache) F(k string) *table {\n\tif len(c.p) > 100 {\n\t\treturn nil\n\t}\n\tt := load() @\n\tc.p[k] = &entry{t, time.Now()}\n\treturn t\n}", ""},
		{"func (c *cache) F(k, other string) string {\n\tif v, ok := c.remote.Get(k); ok {\n\t\treturn v\n\t}\n\tt := load() @\n\ttext, _ := json.Marshal(t)\n\tc.remote.Set(other, string(text))\n\treturn string(text)\n}", ""},
		// A field of an object of its own for each request: a scanner that has started, one that
		// looks for the field itself, a sketch whose new elements are merged.
		{"func (s *scanner) F(n int) *table {\n\tif s.started && n == 1 {\n\t\treturn nil\n\t}\n\ts.fields = load() @\n\ts.started = true\n\treturn s.fields\n}", ""},
		{"func (s *scanner) F() *table {\n\tif s.fields == nil {\n\t\ts.fields = load() @\n\t}\n\treturn s.fields\n}", ""},
		{"func (s *scanner) F() *table {\n\tif t, ok := s.tables[1]; ok {\n\t\treturn t\n\t}\n\tt := load() @\n\ts.tables[1] = t\n\treturn t\n}", ""},
		{"func (s *scanner) F() {\n\tif len(s.tables) == 0 {\n\t\treturn\n\t}\n\tt := load() @\n\tfor range s.tables {\n\t\tt.sum += s.fields.sum\n\t}\n\ts.fields = t\n\ts.tables = map[int]*table{}\n}", ""},
		{"func F() *table {\n\tvar s scanner\n\tif s.fields == nil {\n\t\ts.fields = load() @\n\t}\n\treturn s.fields\n}", ""},
		// Marks that are set with it, though nothing of it is returned.
		{"func (c *cache) F() {\n\tif c.total == 0 {\n\t\treturn\n\t}\n\tt := load() @\n\tc.v = t\n\tc.total = 0\n}", ""},
		// A pool: what it looks at it takes away.
		{"func (c *cache) F() *table {\n\tif t := c.v; t != nil {\n\t\tc.v = nil\n\t\treturn t\n\t}\n\tt := load() @\n\tc.v = t\n\treturn t\n}", ""},
	}, overlapping)
	checkShapesIn(t, cachestampede.Rule(), stampedeHead+`
type disk struct{}

func (d *disk) load() *table { return &table{} }
`, "main.(*disk).load", 0, []shape{
		// Through an interface and a function value; the function of a cache that loads by itself.
		{"func (c *cache) F() *table {\n\tif c.v != nil {\n\t\treturn c.v\n\t}\n\tc.v = c.from.load() @\n\treturn c.v\n}", says},
		{"func (c *cache) F() *table {\n\tif c.v != nil {\n\t\treturn c.v\n\t}\n\tt, err := c.fetch() @\n\tif err == nil {\n\t\tc.v = t\n\t}\n\treturn t\n}", says},
		{"func (c *cache) F(load, other func() *table) *table {\n\tif c.v != nil {\n\t\treturn c.v\n\t}\n\tc.v, c.last = load(), other() @\n\treturn c.v\n}", ""},
	}, overlapping)
	checkShapesIn(t, cachestampede.Rule(), stampedeHead+`
func (c *cache) refresh() {
	t := load()
	c.mu.Lock()
	c.v, c.at = t, time.Now()
	c.mu.Unlock()
}
`, "main.(*cache).refresh", 0, []shape{
		// The called function stores.
		{"func (c *cache) F() *table {\n\tif time.Since(c.at) > time.Second {\n\t\tc.refresh() @\n\t}\n\treturn c.v\n}", says},
		{"func (c *cache) F() *table {\n\tif t := c.v; t != nil {\n\t\treturn t\n\t}\n\tc.refresh() @\n\treturn c.v\n}", says},
		// The next of many, and what is used up.
		{"func (c *cache) F() *table {\n\tfor range 8 {\n\t\tif c.v == nil {\n\t\t\tc.refresh() @\n\t\t}\n\t}\n\treturn c.v\n}", ""},
		{"func (c *cache) F() *table {\n\tif c.v == nil {\n\t\tc.refresh() @\n\t}\n\tt := c.v\n\tc.v = nil\n\treturn t\n}", ""},
		{"func (c *cache) F() *table {\n\tif c.stopped {\n\t\treturn nil\n\t}\n\tc.refresh() @\n\treturn c.v\n}", ""},
	}, overlapping)
	checkShapesIn(t, cachestampede.Rule(), stampedeHead+`
func (c *cache) touch() {
	load()
	c.at, c.stopped = time.Now(), true
}
`, "main.(*cache).touch", 0, []shape{
		// Nothing but marks is stored.
		{"func (c *cache) F() *table {\n\tif time.Since(c.at) > time.Second {\n\t\tc.touch() @\n\t}\n\treturn c.v\n}", ""},
	}, overlapping)
	checkShapesIn(t, cachestampede.Rule(), stampedeHead, "main.locked", 0, []shape{
		// The called function looks again under its lock.
		{"func (c *cache) F() *table {\n\tif c.v != nil {\n\t\treturn c.v\n\t}\n\tc.v = locked() @\n\treturn c.v\n}", ""},
	}, overlapping)
	for _, below := range []string{"main.deep main.deep", "main.decode golang.org/x/sync/singleflight.(*Group).doCall main.load", "main.decode sync.(*Once).doSlow main.load"} {
		checkShapesIn(t, cachestampede.Rule(), stampedeHead+"\nfunc deep() *table { return deep() }", below, 0, []shape{
			// A recursion; one goroutine works for all.
			{"func (c *cache) F() *table {\n\tif c.v != nil {\n\t\treturn c.v\n\t}\n\tc.v = deep() @\n\treturn c.v\n}", ""},
			{"func (c *cache) F() *table {\n\tif c.v != nil {\n\t\treturn c.v\n\t}\n\tc.v = load() @\n\treturn c.v\n}", ""},
		}, overlapping)
	}
}

// TestCacheStampedeAnswers: most calls overlap, but whoever asked gets the result, and no cache
// does.
func TestCacheStampedeAnswers(t *testing.T) {
	overlapping := func(p *rule.Pass) {
		p.Inputs = &inputs.Counts{Functions: []inputs.Function{{Name: "main.load", Calls: 75, Hashed: 75, Stable: 15, Overlapping: 50, Compared: 60, Same: 60}}}
	}
	const head = stampedeHead + `
type answer interface {
	Write(b []byte) (int, error)
	Header() map[string][]string
}

type Context struct{ values map[string]any }

func (c *Context) JSON(code int, v any)  {}
func (c *Context) Set(key string, v any) { c.values[key] = v }

type store struct {
	mu sync.Mutex
	m  map[string]*table
}

func (s *store) get(k string) *table { return s.m[k] }

func (s *store) keep(k string, t *table) { s.m[k] = t }

func (s *store) check(k string, t *table) error { return nil }

func (s *store) putTable(k string, t *table) error { s.m[k] = t; return nil }
`
	const says = "Of 75 calls, 50 started while another goroutine was computing the same result"
	checkShapesIn(t, cachestampede.Rule(), head, "main.load", 0, []shape{
		// No look is visible.
		{"func (s *store) F(k string, found bool) *table {\n\tif found {\n\t\treturn nil\n\t}\n\tt := load() @\n\ts.keep(k, t)\n\treturn t\n}", ""},
		// A store that may fail, and a check of the result.
		{"func (s *store) F(k string) *table {\n\tif t := s.get(k); t != nil {\n\t\treturn t\n\t}\n\tt := load() @\n\tif err := s.putTable(k, t); err != nil {\n\t\treturn nil\n\t}\n\treturn t\n}", says},
		{"func (s *store) F(k string, found bool) *table {\n\tif found {\n\t\treturn nil\n\t}\n\tt := load() @\n\tif err := s.check(k, t); err != nil {\n\t\treturn nil\n\t}\n\treturn t\n}", ""},
		// An answer, also in parts; what a request keeps for itself.
		{"func F(w answer, n int) {\n\tif n < 0 {\n\t\treturn\n\t}\n\tt := load() @\n\ttext, _ := json.Marshal(t)\n\tw.Write(text)\n}", ""},
		{"func F(w *out, n int) {\n\tif n < 0 {\n\t\treturn\n\t}\n\tt := load() @\n\ttext, _ := json.Marshal(t)\n\tw.Write(text)\n}", ""},
		{"func F(c *Context, n int) {\n\tif n < 0 {\n\t\treturn\n\t}\n\tt := load() @\n\tc.JSON(200, t)\n}", ""},
		{"func F(c *Context, n int) {\n\tif n < 0 {\n\t\treturn\n\t}\n\tt := load() @\n\tc.Set(\"table\", t)\n}", ""},
		// Input that is rejected is not found in a cache.
		{"func (s *store) F(k string, n int, err error) *table {\n\tif err != nil || n < 0 {\n\t\treturn nil\n\t}\n\tt := load() @\n\ts.keep(k, t)\n\treturn t\n}", ""},
	}, overlapping)
}

// TestCacheStampedeCopies: a function that sets fields of its copy of a struct fills no cache,
// though its caller looks at the same fields.
func TestCacheStampedeCopies(t *testing.T) {
	overlapping := func(p *rule.Pass) {
		p.Inputs = &inputs.Counts{Functions: []inputs.Function{{Name: "main.deliver", Calls: 75, Hashed: 75, Stable: 15, Overlapping: 50, Compared: 60, Same: 60}}}
	}
	checkShapesIn(t, cachestampede.Rule(), stampedeHead+`
type packet struct {
	topic string
	at    int64
	to    [2]string
}

func deliver(p packet) {
	p.at, p.topic, p.to[0] = 5, "a", "b"
	decode()
}
`, "main.deliver", 0, []shape{
		{"func (c *cache) F(p packet) {\n\tif p.topic == \"\" || p.to[0] == \"\" {\n\t\treturn\n\t}\n\tdeliver(p) @\n}", ""},
	}, overlapping)
}

// TestCacheStampedeRemade: a value with a lock that each request creates is not a shared cache.
func TestCacheStampedeRemade(t *testing.T) {
	counted := func(perRequest uint64) func(*rule.Pass) {
		return func(p *rule.Pass) {
			p.Inputs = &inputs.Counts{Functions: []inputs.Function{{Name: "main.load", Calls: 75, Hashed: 75, Stable: 15, Overlapping: 50, Compared: 60, Same: 60}}}
			lines := map[int]string{}
			for i := range 400 {
				lines[i+1] = ""
			}
			p.Counts = ran(lines, perRequest)
		}
	}
	const fill = "func (c *cache) F() *table {\n\tif c.v != nil {\n\t\treturn c.v\n\t}\n\tc.v = load() @\n\treturn c.v\n}"
	checkShapesIn(t, cachestampede.Rule(), stampedeHead+"\nfunc open() *cache { return &cache{} }\n", "main.load", 0, []shape{{fill, ""}}, counted(1000))
	checkShapesIn(t, cachestampede.Rule(), stampedeHead+"\nvar opened = &cache{}\n", "main.load", 0, []shape{{fill, "Of 75 calls"}}, counted(1000))
}
