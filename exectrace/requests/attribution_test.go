package requests

import (
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// TestChances: a request whose handler no event shows is attributed to the only known handler, if
// chance decides which requests show theirs.
func TestChances(t *testing.T) {
	const handler = " < main.handle < net/http.HandlerFunc.ServeHTTP < net/http.serverHandler.ServeHTTP" + serve
	const own = " < net/http.(*connReader).Read < net/http.(*body).Read"
	for _, c := range []struct {
		name     string
		do       func(f *fake, g exectrace.GIndex) // in the requests whose handler is seen
		inferred bool
	}{
		{"a lock", func(f *fake, g exectrace.GIndex) {
			f.block(g, exectrace.WaitSync, lock+handler)
			f.after(50).wake(g, nobody, "")
			f.start(g)
		}, true},
		{"preempted", func(f *fake, g exectrace.GIndex) {
			f.stop(g, "main.sum"+handler)
			f.after(10).start(g)
		}, true},
		{"a body that may be there already", func(f *fake, g exectrace.GIndex) { f.call(g, 10, "syscall.read"+own+handler) }, true},
		{"a sleep", func(f *fake, g exectrace.GIndex) {
			f.block(g, exectrace.WaitSleep, "time.Sleep"+handler)
			f.after(50).wake(g, nobody, "")
			f.start(g)
		}, false},
		{"a file", func(f *fake, g exectrace.GIndex) { f.call(g, 10, "syscall.write < os.(*File).Write"+handler) }, false},
	} {
		f := newFake()
		g := f.connection()
		for i := range 20 {
			f.arrive(g, peek)
			if i%5 == 0 {
				c.do(f, g)
			}
			f.answer(g)
		}
		f.call(g, 10, peek)
		f.block(g, 0, peek)
		res := f.fold(Options{}).Result()
		if res.Count != 20 {
			t.Fatalf("%s: %d requests, want 20", c.name, res.Count)
		}
		seen := res.Routes[0]
		for _, r := range res.Routes {
			if r.Name == "main.handle" {
				seen = r
			}
		}
		if c.inferred != (len(res.Routes) == 1) || c.inferred != (seen.Inferred == 16) || !c.inferred && seen.Count != 4 {
			t.Errorf("%s: routes are %+v, want the others in the same: %t", c.name, res.Routes, c.inferred)
		}
	}
}
