package requests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// TestPlaces: all time of a route stands at one place, lines told apart and waiting for a processor not.
func TestPlaces(t *testing.T) {
	rt := slowTail().fold(Options{}).Result().Routes[0]
	var texts []string
	for i := range rt.Places {
		p := &rt.Places[i]
		texts = append(texts, fmt.Sprintf("%.1f %% %s", 100*p.Share, p.Text()))
	}
	want := []string{ // of 281 ms: 20 times 7 ms, 1000 times 0.1 ms and a little, 20 times 2 ms
		"49.8 % waiting for a sync.Mutex at main/code.go:41 (released at main/code.go:58)",
		"35.6 % running",
		"14.2 % waiting for a processor after a wake-up (none was idle)",
	}
	if got := strings.Join(texts[:min(len(texts), 3)], "\n"); got != strings.Join(want, "\n") {
		t.Errorf("places are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	checkPlaces(t, &rt)
}

// checkPlaces checks that the places of a route sum to its time, and each part's to the part.
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

// TestTextOfPlaces: what is called in a module that the program depends on is said with the line that calls.
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
