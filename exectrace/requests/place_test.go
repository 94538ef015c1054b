package requests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile/symbol"
)

// TestPlaces: all time of a route is at one place, with or without lines and waits for a processor.
func TestPlaces(t *testing.T) {
	rt := slowTail().fold(Options{}).Result().Routes[0]
	var texts []string
	for i := range rt.Places {
		p := &rt.Places[i]
		texts = append(texts, fmt.Sprintf("%.1f %% %s", 100*p.Share, p.Text()))
	}
	want := []string{ // of 281 ms: 20 times 7 ms, 1000 times slightly more than 0.1 ms, 20 times 2 ms
		"49.8 % waiting for a sync.Mutex at main/code.go:41 (released at main/code.go:58)",
		"35.6 % running",
		"14.2 % waiting for a processor after a wake-up (none was idle)",
	}
	if got := strings.Join(texts[:min(len(texts), 3)], "\n"); got != strings.Join(want, "\n") {
		t.Errorf("places are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if w := rt.Places[0].Wakers; len(w) != 1 || w[0].InHandlers != 0 {
		t.Errorf("woken by %+v, want a line that is in no handler", w)
	}
	checkPlaces(t, &rt)
}

// checkPlaces checks that the places of a route add up to its time, and each part's places to the
// part.
func checkPlaces(t *testing.T, rt *Route) {
	t.Helper()
	var sum int64
	by := map[Part]int64{}
	for _, p := range rt.Places {
		sum += p.Time
		by[p.Part] += p.Time
	}
	if len(rt.Places) == maxPlaces {
		return
	}
	if sum != rt.Time {
		t.Errorf("the places of %s are %d ns of %d", rt.Title(), sum, rt.Time)
	}
	for _, p := range rt.Parts {
		if by[p.Part] != p.Time {
			t.Errorf("the places of %v of %s are %d ns of %d", p.Part, rt.Title(), by[p.Part], p.Time)
		}
	}
}

// TestTextOfPlaces: a call in a module that the program depends on is shown with the line that
// calls it.
func TestTextOfPlaces(t *testing.T) {
	at := func(file string, line int) *exectrace.Line {
		return &exectrace.Line{Function: "f", File: file, Line: line}
	}
	for _, c := range []struct {
		p    Place
		want string
	}{
		{Place{Part: WaitSelect, Object: "a select", Waiter: at("/mod/rate@v1.0.0/rate.go", 286), Caller: at("/shop/main.go", 42)},
			"waiting for a select at rate@v1.0.0/rate.go:286, called at shop/main.go:42"},
		{Place{Part: WaitSync, Object: "a sync.Mutex", Waiter: at("/m@v1.0.0/a/a.go", 1), Caller: at("/shop/main.go", 42),
			Wakers: []WakerShare{{Line: at("/m@v1.0.0/a/a.go", 2), Share: 0.7}}},
			"waiting for a sync.Mutex at a/a.go:1, called at shop/main.go:42 (released mostly at a/a.go:2)"},
		{Place{Part: WaitSleep, Waiter: at("/shop/main.go", 42)}, "sleeping at shop/main.go:42"},
		{Place{Part: ReadyCreated}, "waiting for a processor after its creation (though one was idle, and had to be woken)"},
	} {
		if got := c.p.Text(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestObjectsOfModules: a module that the program calls may say what a wait is for; a module that
// calls the program may not.
func TestObjectsOfModules(t *testing.T) {
	const std, mod, own = "/usr/local/go/src/x/x.go", "/home/me/go/pkg/mod/x@v1.0.0/x.go", "/home/me/shop/main.go"
	for _, c := range []struct {
		text, want string // leaf first: the function, and whose it is
	}{
		{"runtime.selectgo std, golang.org/x/sync/semaphore.(*Weighted).Acquire mod, main.handle own", "a semaphore"},
		{"runtime.selectgo std, golang.org/x/sync/semaphore.(*Weighted).Acquire mod, github.com/jackc/puddle/v2.(*Pool[...]).Acquire mod, github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire mod, main.handle own", "a connection of pgxpool"},
		{"runtime.selectgo std, database/sql.(*DB).conn std, github.com/jmoiron/sqlx.(*DB).Select mod, main.handle own", "a database connection"},
		{"sync.runtime_SemacquireMutex std, sync.(*Mutex).Lock std, database/sql.(*DB).conn std, main.handle own", "a sync.Mutex"},
		{"runtime.selectgo std, github.com/redis/go-redis/v9/internal.(*FastSemaphore).Acquire mod, github.com/redis/go-redis/v9/internal/pool.(*ConnPool).waitTurn mod, main.handle own", "a connection to Redis"},
		{"runtime.selectgo std, shop/mw.limit mod, net/http.HandlerFunc.ServeHTTP std, net/http.(*timeoutHandler).ServeHTTP std", "a select"},
		{"runtime.selectgo std, main.handle own, golang.org/x/sync/singleflight.(*Group).Do mod, main.serve own", "a select"},
	} {
		fk := newFake()
		var stack []exectrace.Frame
		for part := range strings.SplitSeq(c.text, ", ") {
			function, whose, _ := strings.Cut(part, " ")
			file := map[string]string{"mod": mod, "own": own, "std": strings.Replace(std, "x/x.go", symbol.Package(function)+"/x.go", 1)}[whose]
			stack = append(stack, exectrace.Frame{Func: function, File: file, Line: 1})
		}
		fk.stacks = append(fk.stacks, stack)
		f := New(Options{})
		f.src = fk
		if got := f.object(exectrace.StackID(len(fk.stacks)-1), WaitSelect); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}
