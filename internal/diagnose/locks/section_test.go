package locks_test

import (
	"cmp"
	"go/ast"
	"go/types"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

const sections = `package main

import (
	"net"
	"os"
	"sync"
	"time"
)

type box struct {
	mu    sync.Mutex
	other sync.Mutex
	rw    sync.RWMutex
	n     int
}

func (b *box) plain() {
	b.other.Lock()
	b.mu.Lock()
	b.n = add(b.n, len("x"))
	b.mu.Unlock() //@ plain
	time.Sleep(1)
	b.other.Unlock() //@ sleeping
}

func (b *box) deferred() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	return add(b.n, 1) //@ deferred
}

func (b *box) reads() int {
	b.rw.RLock()
	n := b.n
	b.rw.RUnlock() //@ reads
	return n
}

func (b *box) elsewhere() {
	b.mu.Unlock() //@ elsewhere
}

func (b *box) literal() {
	b.mu.Lock()
	go func() { os.Remove("x") }()
	b.mu.Unlock() //@ literal
}

func (b *box) synced(f *os.File) {
	b.mu.Lock()
	f.WriteString("x")
	f.Sync()
	b.mu.Unlock() //@ synced
}

func save() { os.WriteFile("x", nil, 0o600) }

func (b *box) below() {
	b.mu.Lock()
	os.Getenv("x")
	save()
	b.mu.Unlock() //@ below
}

func (b *box) sends(c chan int) {
	b.mu.Lock()
	c <- b.n
	b.mu.Unlock() //@ sends
}

type screen struct {
	mu   sync.Mutex
	conn net.Conn
}

func (s *screen) show(text []byte) {
	s.mu.Lock()
	s.conn.Write(text)
	s.mu.Unlock() //@ shows
}

func (b *box) tell(s *screen) {
	b.mu.Lock()
	s.conn.Write(nil)
	b.mu.Unlock() //@ tells
}

func (b *box) offers(c, other chan int) {
	b.mu.Lock()
	select {
	case c <- b.n:
	case n := <-other:
		b.n = n
	default:
	}
	b.mu.Unlock() //@ offers
}

func (b *box) inDefault(c chan int) {
	b.mu.Lock()
	select {
	case b.n = <-c:
	default:
		c <- b.n
	}
	b.mu.Unlock() //@ default
}

func put(c chan int, n int) { pass(c, n) }

func pass(c chan int, n int) { c <- n }

func (b *box) deep(c chan int) {
	b.mu.Lock()
	put(c, b.n)
	b.mu.Unlock() //@ deep
}

func drain(c chan int) (n int) {
	for x := range c {
		n += x
	}
	return n
}

func (b *box) drains(c chan int) {
	b.mu.Lock()
	b.n = drain(c)
	b.mu.Unlock() //@ drains
}

type table struct {
	mu sync.Mutex
	m  map[string][]byte
}

func (t *table) load(name string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, ok := t.m[name]; ok {
		return v, nil
	}
	v, err := os.ReadFile(name)
	if err == nil {
		t.m[name] = v
	}
	return v, err //@ fills
}

func add(a, b int) int { return a + b } //@ none

func main() {
	var b box
	b.plain()
	b.deferred()
	b.reads()
	b.elsewhere()
	b.literal()
	b.synced(nil)
	b.below()
	b.sends(nil)
}
`

func TestSections(t *testing.T) {
	places := ruletest.Places(t, sections)
	for name, want := range map[string]struct {
		mutex          string
		calls          string
		lines          int
		read, deferred bool
		waits          int
	}{
		"plain":     {mutex: "b.mu", calls: "add", lines: 2},
		"sleeping":  {mutex: "b.other", calls: "b.mu.Lock add b.mu.Unlock time.Sleep", lines: 5, waits: 1},
		"deferred":  {mutex: "b.mu", calls: "add", lines: 4, deferred: true},
		"reads":     {mutex: "b.rw", lines: 2, read: true},
		"elsewhere": {},
		"literal":   {mutex: "b.mu", lines: 2}, // a goroutine's work is not done under the lock
		"none":      {},
	} {
		found := locks.Sections(places[name])
		if want.mutex == "" {
			if len(found) > 0 {
				t.Errorf("%s: %+v", name, found[0])
			}
			continue
		}
		if len(found) != 1 {
			t.Errorf("%s: %d sections", name, len(found))
			continue
		}
		s := found[0]
		var calls []string
		for _, c := range s.Calls() {
			if _, literal := c.Fun.(*ast.FuncLit); !literal {
				calls = append(calls, types.ExprString(c.Fun))
			}
		}
		if got := strings.Join(calls, " "); got != want.calls || syntax.Text(s.Mutex) != want.mutex {
			t.Errorf("%s: %s holds %q, want %s and %q", name, syntax.Text(s.Mutex), got, want.mutex, want.calls)
		}
		if s.To-s.From != want.lines || s.Read != want.read || s.Deferred != want.deferred || len(s.Waits(nil)) != want.waits {
			t.Errorf("%s: lines %d to %d, read %t, deferred %t, %d waits", name, s.From, s.To, s.Read, s.Deferred, len(s.Waits(nil)))
		}
	}
}

// TestEnding: a literal that ends on a line unlocks there, if the function of the line is a
// literal; the function around it, which returns there, holds its own lock.
func TestEnding(t *testing.T) {
	p, names := ruletest.MadeUp(t, `package main

import (
	"net/http"
	"sync"
)

type limiter struct{ mu, other sync.Mutex }

func (l *limiter) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		next.ServeHTTP(w, r)
	}) //@ literal
}

func (l *limiter) both(next http.Handler) http.Handler {
	l.other.Lock()
	defer l.other.Unlock()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		next.ServeHTTP(w, r)
	}) //@ around
}

func (l *limiter) short(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.mu.Unlock()
		next.ServeHTTP(w, r)
	}) //@ unlocked before
}

func main() {}
`)
	for _, s := range p.Table.Sites {
		name := names[s.Line]
		if name != "around" {
			s.Function += ".func1"
		}
		got := ""
		if _, found := locks.Ending(p, s); len(found) > 0 {
			got = syntax.Text(found[0].Mutex)
		}
		if want := map[string]string{"literal": "l.mu", "around": "l.other"}[name]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestOutside: what forces data to the disk comes first, and functions of the package are searched,
// too.
func TestOutside(t *testing.T) {
	places := ruletest.Places(t, sections)
	for name, want := range map[string]string{
		"plain":    "",
		"sleeping": "outside of the program, in time.Sleep.",
		"synced":   "forces each entry to the disk separately while it is held ((*os.File).Sync)",
		"below":    "outside of the program, in os.WriteFile, called by save.",
		"sends":    "waits for a channel",
		"offers":   "",
		"default":  "waits for a channel",
		"deep":     "waits for a channel meanwhile, in put.",
		"drains":   "waits for a channel meanwhile, in drain.",
		"fills":    "in os.ReadFile",
	} {
		cause, _, ok := locks.Sections(places[name])[0].Outside(nil, "")
		if ok != (want != "") || !strings.Contains(cause, want) {
			t.Errorf("%s: %q, want %q", name, cause, want)
		}
	}
}

// TestFills: what fills a cache under its lock should wait for each key separately, and what the
// mutex keeps in order cannot be written without it.
func TestFills(t *testing.T) {
	places := ruletest.Places(t, sections)
	for name, want := range map[string]string{
		"fills": "look up name, unlock, call", "below": "copy what line",
		"shows": "Put what goes to s.conn into a channel of limited size", "tells": "copy what line",
	} {
		if _, fix, _ := locks.Sections(places[name])[0].Outside(nil, ""); !strings.Contains(fix, want) {
			t.Errorf("%s: %q, want %q", name, fix, want)
		}
	}
}

// TestBlocked: the wait of the trace in the section, or in a function that it calls by name or as a
// profile shows, explains it; a wait of a goroutine that it starts does not.
func TestBlocked(t *testing.T) {
	for _, test := range []struct {
		name, function, reason string
		seen                   bool
		want                   string
	}{
		{"deep", "main.put", "chan send", false, "waits meanwhile for a receiver on a channel in main.put, for 50 % of the time, 100 ms on average"},
		{"plain", "main.(*box).send", "network", true, "for the network in (*main.box).send"},
		{"plain", "main.(*box).send", "network", false, ""},
		{"sends", "", "chan send", false, "for a receiver on a channel, for 50 %"},
		{"literal", "main.(*box).literal.func1", "network", false, ""},
		{"deep", "main.put", "sync", false, ""},
	} {
		sec := locks.Sections(ruletest.Places(t, sections)[test.name])[0]
		line := exectrace.Line{Function: test.function, File: "other.go", Line: 3}
		if test.function == "" || strings.Contains(test.function, ".func") {
			line = exectrace.Line{Function: cmp.Or(test.function, "main.(*box)."+test.name), File: "box.go", Line: sec.From + 1}
		}
		p := &rule.Pass{Table: &site.Table{}, Trace: &analysis.Results{
			Parallelism: &parallelism.Result{Length: 1},
			Blocking:    &wall.Blocking{Waits: []wall.Wait{{Line: line, Reason: test.reason, Seconds: 0.5, Count: 5}}},
		}}
		if test.seen {
			row := &site.Row{Stack: []*site.Frame{{Function: test.function}, {Function: "main.(*box).plain", File: "box.go", Line: sec.From + 1}}}
			p.Table.Sites = []*site.Site{{Allocs: []*site.Row{row}}}
		}
		got := ""
		if b := sec.Blocked(p, "box.go"); b != nil {
			got = b.Words()
		}
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestSeenOutside: samples name what functions wait for that the source of a section does not show,
// from three on, and not what other goroutines do.
func TestSeenOutside(t *testing.T) {
	const post = "net/http.(*Client).Post"
	for _, test := range []struct {
		name  string
		stack []string // leaf first, below the section
		count int64
		block bool
		want  string
	}{
		{"plain", []string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", post, "main.(*box).send"}, 3, true, "in (*http.Client).Post, called by send."},
		{"plain", []string{"internal/poll.(*FD).Write", "os.(*File).Write"}, 3, false, "in (*os.File).Write."},
		{"below", []string{"internal/poll.(*FD).Write", "net.(*conn).Write"}, 3, false, "in (*net.conn).Write."},
		{"plain", []string{post}, 2, false, ""},
		{"plain", []string{"strings.Repeat"}, 9, false, ""},
		{"plain", []string{post, "main.(*box).plain.func1"}, 9, false, ""},
		{"synced", []string{post}, 9, false, "forces each entry to the disk"},
	} {
		place := ruletest.Places(t, sections)[test.name]
		sec := locks.Sections(place)[0]
		row := &site.Row{Count: test.count}
		for _, f := range test.stack {
			row.Stack = append(row.Stack, &site.Frame{Function: f})
		}
		if last := row.Stack[len(row.Stack)-1]; strings.Contains(last.Function, ".func1") {
			last.File, last.Line = "box.go", sec.From
		} else {
			row.Stack = append(row.Stack, &site.Frame{Function: "main.(*box)." + test.name, File: "box.go", Line: sec.From})
		}
		at := &site.Site{CPU: []*site.Row{row}}
		if test.block {
			at = &site.Site{Block: []*site.Row{row}}
		}
		cause, _, ok := sec.Outside(&rule.Pass{Table: &site.Table{Sites: []*site.Site{at}}}, "box.go")
		if ok != (test.want != "") || !strings.Contains(cause, test.want) {
			t.Errorf("%s %v: %q, want %q", test.name, test.stack, cause, test.want)
		}
	}
}

// TestQueueing finds the CPU of waiting at Lock and of waking at Unlock, also where a return runs
// the deferred Unlock, and leaves alone what a lock costs that nobody waits for.
func TestQueueing(t *testing.T) {
	for name, want := range map[string]int{"deferred": 3, "plain": 2} {
		place := ruletest.Places(t, sections)[name]
		sec := locks.Sections(place)[0]
		lock := syntax.Line(place, sec.Lock.Lparen)
		row := func(leafFirst ...string) *site.Row {
			r := &site.Row{Owner: len(leafFirst)}
			for _, f := range append(leafFirst, "main.(*box)."+name) {
				r.Stack = append(r.Stack, &site.Frame{Function: f})
			}
			return r
		}
		lockSlow := row("internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock")
		unlockSlow := row("internal/sync.(*Mutex).unlockSlow", "internal/sync.(*Mutex).Unlock", "sync.(*Mutex).Unlock")
		fast := row("internal/sync.(*Mutex).Unlock", "sync.(*Mutex).Unlock")
		at := func(line int, rows ...*site.Row) *site.Site {
			return &site.Site{Frame: site.Frame{File: "main.go", Line: line}, CPU: rows}
		}
		p := &rule.Pass{Table: &site.Table{Sites: []*site.Site{
			at(lock, lockSlow, lockSlow, row("sync.(*Mutex).Lock")), at(sec.To, unlockSlow, fast), at(sec.To+1, unlockSlow), at(lock-1, lockSlow),
		}}}
		if name == "plain" { // line To is that of Unlock
			p.Table.Sites[0].CPU = p.Table.Sites[0].CPU[1:]
		}
		if got := len(locks.Queueing(p, "main.go", place, sec)); got != want {
			t.Errorf("%s: %d rows, want %d", name, got, want)
		}
	}
}
