package load_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hone-go/hone/load"
)

// TestTargeter sends each request of a Targeter once, and counts those that cannot be sent.
func TestTargeter(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 2000} {
		t.Run(fmt.Sprintf("rate=%v", rate), func(t *testing.T) {
			var mu sync.Mutex
			paths := map[string]int{}
			srv := server(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				paths[r.Method+" "+r.URL.Path]++
			}))
			last := int64(-1)
			r := run(t, load.Options{
				Targeter: load.TargeterFunc(func(i int64) load.Target {
					if i != last+1 && i != 0 {
						t.Errorf("request %d after %d", i, last)
					}
					last = i
					switch {
					case i%10 == 3:
						return load.Target{URL: "ftp://127.0.0.1/"}
					case i%10 == 4:
						return load.Target{URL: "http://127.0.0.2/"}
					case i%10 == 5:
						return load.Target{Method: "HEAD", URL: fmt.Sprint(srv.URL, "/", i)}
					}
					return load.Target{URL: fmt.Sprint(srv.URL, "/", i)}
				}),
				Rate: rate, MaxRequests: 200, Connections: 4,
			})
			mu.Lock()
			defer mu.Unlock()
			if r.Requests != 160 || r.Errors[load.ErrTarget] != 40 || r.Missed != 0 || len(r.Errors) != 1 || len(paths) != 160 || paths["HEAD /195"] != 1 {
				t.Errorf("%d answers, errors %v, %d missed, %d paths; want 160, 40 bad targets, none, 160", r.Requests, r.Errors, r.Missed, len(paths))
			}
			if r.Failed() != 40 {
				t.Errorf("%d failed, want 40", r.Failed())
			}
		})
	}
}

// TestOnlyBadTargets: a load whose last requests cannot be sent finishes.
func TestOnlyBadTargets(t *testing.T) {
	t.Parallel()
	srv := server(t, http.NotFoundHandler())
	for _, rate := range []float64{0, 1000} {
		r := run(t, load.Options{
			Targeter: load.TargeterFunc(func(i int64) load.Target {
				if i == 0 {
					return load.Target{URL: srv.URL}
				}
				return load.Target{}
			}),
			Rate: rate, MaxRequests: 20, Connections: 2,
		})
		if r.Requests != 1 || r.Errors[load.ErrTarget] != 19 {
			t.Errorf("rate %v: %d answers, errors %v", rate, r.Requests, r.Errors)
		}
	}
}

func TestTargeterIsChecked(t *testing.T) {
	bad := load.TargeterFunc(func(int64) load.Target { return load.Target{URL: "ftp://127.0.0.1/"} })
	for _, c := range []struct {
		o    load.Options
		want string
	}{
		{load.Options{Targeter: bad}, "cannot send ftp"},
		{load.Options{Targeter: bad, Targets: targets("http://127.0.0.1/")}, "both targets and a targeter"},
	} {
		if _, err := load.Start(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
