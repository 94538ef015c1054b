package requests

import (
	"slices"
	"testing"

	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

func TestRequestsGoToTheOnlyHandlerBelow(t *testing.T) {
	f := New(Options{})
	logged := f.noteChain(servers.HTTP1, []string{"logged"})
	search := f.noteChain(servers.HTTP1, []string{"logged", "timed", "search"})
	if got := f.innermost(routeKey{HTTP1, logged}).name; got != logged {
		t.Errorf("a request goes to %q, which shows every time", f.names[got])
	}
	f.observedByChance = map[routeKey]bool{}
	for _, name := range []string{"logged", "timed", "search", "a", "b"} {
		f.observedByChance[routeKey{HTTP1, f.nameID(name)}] = true
	}
	if got := f.innermost(routeKey{HTTP1, 0}).name; got != search {
		t.Errorf("a request of which nothing is known goes to %q", f.names[got])
	}
	if got := f.innermost(routeKey{HTTP2, 0}).name; got != 0 {
		t.Errorf("a request by another protocol goes to %q", f.names[got])
	}
	f.noteChain(servers.HTTP1, []string{"logged", "put"})
	if got := f.innermost(routeKey{HTTP1, 0}).name; got != logged {
		t.Errorf("a request goes to %q, though there are two handlers below logged", f.names[got])
	}
	if got := f.innermost(routeKey{HTTP1, f.nameIDs["timed"]}).name; got != search {
		t.Errorf("a request seen in timed goes to %q", f.names[got])
	}
	f.noteChain(servers.HTTP1, []string{"a", "b", "a"}) // a handler that calls itself
	f.innermost(routeKey{HTTP1, f.nameIDs["a"]})
}

func TestNamesAreKept(t *testing.T) {
	f := New(Options{})
	var ids []uint16
	for _, name := range []string{"a", "b", "a", ""} {
		ids = append(ids, f.nameID(name))
	}
	if want := []uint16{1, 2, 1, 0}; !slices.Equal(ids, want) {
		t.Errorf("names are %v, want %v", ids, want)
	}
}
