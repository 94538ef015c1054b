package exectrace

import (
	"strings"
	"testing"
)

// traceOf returns a trace whose stacks are written leaf first: "main.f < main.main".
func traceOf(t *testing.T, texts ...string) (*Trace, []StackID) {
	t.Helper()
	all := newInternTable()
	var ids []StackID
	for _, text := range texts {
		all.begin()
		for f := range strings.SplitSeq(text, " < ") {
			all.names = append(all.names, f)
			all.frame(frame{fn: uint32(len(all.names) - 1), line: 7})
		}
		id, err := all.stack()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return &Trace{known: all.stacks}, ids
}

// TestRoot: the main goroutine is main.main wherever it is; others have the name of the function
// that they started with.
func TestRoot(t *testing.T) {
	stacks := []struct{ stack, want string }{
		{"sync.(*Mutex).Lock < main.goCallback < _cgoexp_f6bcf2e54c4e_goCallback < runtime.cgocallbackg1 < runtime.cgocallbackg < runtime.cgocallback", "main.goCallback"},
		{"main.goCallback < _cgoexp_f6bcf2e54c4e_goCallback < runtime.cgocallbackg1 < runtime.cgocallbackg < runtime.cgocallback < runtime.cgocall < main._Cfunc_each < main.main < runtime.main", "main.main"},
		{"runtime.cgocallbackg < runtime.cgocallback", "runtime.cgocallback"},
		{"runtime.corostart", "iter.Pull"},
		{"time.Sleep < main.main.seq.func1 < iter.Pull[go.shape.int].func1 < runtime.corostart", "iter.Pull"},
		{"main.escape < main.draw < main.main", "main.main"},
		{"main.escape < main.main < runtime.main", "main.main"},
		{"main.load < main.init.0 < runtime.doInit1", "main.main"},
		{"main.load < main.init.0 < runtime.doInit1 < runtime.doInit < runtime.main < runtime.goexit", "main.main"},
		{"main.flush < internal/runtime/exithook.Run", "main.main"},
		{"runtime.gcenable < runtime.main", "main.main"},
		{"runtime.chanrecv1 < main.worker.func1", "main.worker.func1"},
		{"runtime.gopark < runtime.bgsweep", "runtime.bgsweep"},
		{"net/http.(*conn).serve < runtime.goexit", "net/http.(*conn).serve"},
		{"runtime.goexit", "runtime.goexit"},
		{"sync.(*WaitGroup).Go.func1", "sync.(*WaitGroup).Go.func1"},
		{"time.Sleep < main.load < main.ask < sync.(*WaitGroup).Go.func1", "main.ask"},
		{"sync.(*WaitGroup).Done < sync.(*WaitGroup).Go.func1", "sync.(*WaitGroup).Go.func1"},
		{"time.Sleep < main.ask.func1 < golang.org/x/sync/errgroup.(*Group).add.func1", "main.ask.func1"},
		{"runtime.chanrecv1 < golang.org/x/sync/errgroup.(*Group).done < golang.org/x/sync/errgroup.(*Group).Go.func1", "golang.org/x/sync/errgroup.(*Group).Go.func1"},
	}
	var texts []string
	for _, s := range stacks {
		texts = append(texts, s.stack)
	}
	trace, ids := traceOf(t, texts...)
	for i, s := range stacks {
		if got := trace.Root(ids[i]).Function; got != s.want {
			t.Errorf("%s: %q, want %q", s.stack, got, s.want)
		}
	}
	if got := trace.Root(0); got != (Line{}) {
		t.Errorf("no stack: %v", got)
	}
}

func TestStandard(t *testing.T) {
	for _, c := range []struct {
		function, file string
		want           bool
	}{
		{"net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go", true},
		{"net/http.(*conn).serve", "net/http/server.go", true}, // -trimpath
		{"net/http.(*conn).serve", "", true},
		{"net.Dial", "/home/me/net/dial.go", false},
		{"main.main", "/usr/local/go/src/main.go", false},
		{"reflect.call", "/usr/local/go/src/runtime/asm_amd64.s", true},
		{"time.Sleep", "/usr/local/go/src/runtime/time.go", true},
		{"time.Sleep", "runtime/time.go", true},
		{"sync/atomic.AddInt64", "internal/runtime/atomic/asm.go", true},
		{"time.Sleep", "/home/me/runtime/time.go", false},
		{"main.Sleep", "runtime/time.go", false},
		{"memeqbody", "/usr/local/go/src/internal/bytealg/equal_amd64.s", true},
		{"memeqbody", `C:\Program Files\Go\src\internal\bytealg\equal_amd64.s`, true},
		{"memeqbody", "internal/bytealg/equal_amd64.s", true},
		{"addVector", "/home/me/src/shop/add_amd64.s", false},
		{"addVector", "add_amd64.s", false},
		{"compress", "/usr/src/zlib/deflate.c", false},
	} {
		if got := (Line{Function: c.function, File: c.file, Line: 7}).Standard(); got != c.want {
			t.Errorf("%s in %q: %t, want %t", c.function, c.file, got, c.want)
		}
	}
}

// TestBlameOfCalls: a call into C belongs to the line that calls, not to the code that cgo
// generated for it.
func TestBlameOfCalls(t *testing.T) {
	frames := []Frame{
		{Func: "runtime.cgocall", File: "/usr/local/go/src/runtime/cgocall.go", Line: 167},
		{Func: "main._Cfunc_usleep", File: "_cgo_gotypes.go", Line: 49},
		{Func: "main.nap", File: "/home/me/nap.go", Line: 42},
		{Func: "main.main", File: "/home/me/nap.go", Line: 9},
	}
	if l := blame(frames); l.Line != 42 {
		t.Errorf("blamed on %v", l)
	}
	if l := blame(frames[:2]); l.Function != "main._Cfunc_usleep" {
		t.Errorf("blamed on %v, with nobody else there", l)
	}
}

// TestCaller: for a line in a downloaded module, the caller is the nearest line of the program
// itself; a line of the program has none.
func TestCaller(t *testing.T) {
	std := Frame{Func: "runtime.selectgo", File: "/usr/local/go/src/runtime/select.go", Line: 351}
	limiter := Frame{Func: "golang.org/x/time/rate.(*Limiter).wait", File: "/home/me/go/pkg/mod/golang.org/x/time@v0.14.0/rate/rate.go", Line: 286}
	trimmed := Frame{Func: limiter.Func, File: "golang.org/x/time@v0.14.0/rate/rate.go", Line: 286}
	vendored := Frame{Func: limiter.Func, File: "/home/me/shop/vendor/golang.org/x/time/rate/rate.go", Line: 286}
	windows := Frame{Func: limiter.Func, File: `C:\shop\vendor\golang.org\x\time\rate\rate.go`, Line: 286}
	own := Frame{Func: "main.handle", File: "/home/me/shop/main.go", Line: 42}
	serve := Frame{Func: "net/http.HandlerFunc.ServeHTTP", File: "/usr/local/go/src/net/http/server.go", Line: 2322}
	outer := Frame{Func: "main.logged", File: "/home/me/shop/main.go", Line: 77}
	for _, c := range []struct {
		frames []Frame
		want   int
	}{
		{[]Frame{std, limiter, limiter, own, serve, outer}, 42},
		{[]Frame{std, trimmed, own}, 42},
		{[]Frame{std, vendored, own}, 42},
		{[]Frame{std, windows, own}, 42},
		{[]Frame{std, limiter, serve, outer}, 77},
		{[]Frame{std, own, limiter, outer}, 0}, // the module calls back into the program
		{[]Frame{std, own, serve, outer}, 0},
		{[]Frame{std, limiter}, 0}, // a goroutine that the module started
		{[]Frame{std, serve}, 0},
		{nil, 0},
	} {
		if got := caller(c.frames); got.Line != c.want {
			t.Errorf("%v: %v, want line %d", c.frames, got, c.want)
		}
	}
}
