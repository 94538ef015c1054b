package requests

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"testing"
)

// Stacks of a handler that calls main.hash, below a middleware. Where it is preempted, its caller
// is missing.
const (
	preempted = "runtime.asyncPreempt2 < runtime.asyncPreempt < "
	middle    = " < net/http.HandlerFunc.ServeHTTP < main.logged.func1 < net/http.HandlerFunc.ServeHTTP < net/http.serverHandler.ServeHTTP" + serve
)

func TestHandlersInDoubt(t *testing.T) {
	for _, c := range []struct {
		name    string
		at      string   // where a request is preempted
		known   []string // other stacks of the trace
		route   string
		guessed bool
	}{
		{"nothing else is known", preempted + "main.hash" + middle, nil, "main.hash", true},
		{"seen called", preempted + "main.hash" + middle, []string{"main.hash < main.handle" + middle}, "main.handle", false},
		{"seen called by what a handler calls", preempted + "main.hash" + middle, []string{"main.hash < main.load < main.handle" + middle}, "main.handle", false},
		{"seen called by two", preempted + "main.hash" + middle, []string{"main.hash < main.handle" + middle, "main.hash < main.list" + middle}, "main.logged.func1", false},
		{"seen interrupted with its caller", preempted + "main.hash" + middle, []string{preempted + "main.hash < main.handle" + middle}, "main.hash", true},
		{"a handler after all", preempted + "main.hash" + middle, []string{"os.(*File).Write < main.hash" + middle}, "main.hash", false},
		{"a handler that others call", preempted + "main.hash" + middle, []string{"os.(*File).Write < main.hash" + middle, "main.hash < main.handle" + middle}, "main.hash", false},
		{"with something inlined", preempted + "main.mix < main.hash" + middle, []string{"main.mix < main.hash < main.handle" + middle}, "main.handle", false},
		{"of the standard library", preempted + "net/http.Header.Set" + middle, nil, "main.logged.func1", false},
		{"of the standard library, and a handler is known of which no request was seen", preempted + "net/http.Header.Set" + middle, []string{"os.(*File).Write < main.handle" + middle}, "main.logged.func1", false},
		{"a handler of the standard library", preempted + "strings.Index < net/http/pprof.Index" + middle, nil, "net/http/pprof.Index", false},
		{"in what a handler calls", preempted + "main.hash < main.load < main.part < main.handle" + middle, nil, "main.handle", false},
		{"not interrupted", "main.hash" + middle, []string{"main.hash < main.handle" + middle}, "main.hash", false},
	} {
		f := newFake()
		for _, s := range c.known {
			f.stack(s)
		}
		g := f.connection()
		f.arrive(g, peek)
		f.after(100).stop(g, c.at)
		f.after(10).start(g)
		f.answer(g)
		f.call(g, 10, peek)
		f.block(g, 0, peek)
		fold := f.fold(Options{})
		res := fold.Result()
		if len(res.Routes) != 1 || res.Routes[0].Name != c.route || res.Slowest[0].Route != c.route {
			t.Errorf("%s: routes are %+v, the request is of %q, want %q", c.name, res.Routes, res.Slowest[0].Route, c.route)
		}
		if said := strings.Contains(strings.Join(res.Notes, " "), "may not be routes: "+c.route); said != c.guessed {
			t.Errorf("%s: the note says that the route is in doubt: %t (%q)", c.name, said, res.Notes)
		}
	}
}

// TestSureHandlersComeFirst: a request that was seen in both gets the handler's route.
func TestSureHandlersComeFirst(t *testing.T) {
	f := newFake()
	g := f.connection()
	f.arrive(g, peek)
	f.after(100).stop(g, preempted+"main.hash"+middle)
	f.after(10).start(g)
	f.call(g, 10, "os.(*File).Write < main.handle"+middle)
	f.answer(g)
	f.call(g, 10, peek)
	f.block(g, 0, peek)
	if res := f.fold(Options{}).Result(); len(res.Routes) != 1 || res.Routes[0].Name != "main.handle" {
		t.Errorf("routes are %+v", res.Routes)
	}
}

// steps has no frame: it calls nothing, and keeps everything in registers.
//
//go:noinline
func steps(n uint64) (count uint64) {
	for ; n != 1; count++ {
		if n&1 == 0 {
			n >>= 1
		} else {
			n = 3*n + 1
		}
	}
	return count
}

// TestHandlersOfLoops: with CPU samples in the trace, handlers get their names although they only
// compute, in a function without a frame.
func TestHandlersOfLoops(t *testing.T) {
	const n = 6
	compute := func(w http.ResponseWriter, _ *http.Request) {
		var sum uint64
		for i := range uint64(300_000) {
			sum += steps(i + 1)
		}
		fmt.Fprint(w, sum)
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Skip("a CPU profile is being taken already:", err)
	}
	defer pprof.StopCPUProfile()
	data := record(t, func() {
		s := httptest.NewServer(http.HandlerFunc(compute))
		defer s.Close()
		for range n {
			res, err := http.Get(s.URL)
			answered(t, res, err)
		}
	})
	f := New(Options{})
	read(t, data, f)
	res := f.Result()
	const want = "TestHandlersOfLoops.func1"
	if len(res.Routes) != 1 || !strings.HasSuffix(res.Routes[0].Name, want) || res.Count != n {
		t.Errorf("%d requests of %+v, want %d of %s", res.Count, res.Routes, n, want)
	}
	t.Logf("%d functions were in doubt", len(f.candidates))
}
