package window_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/exectrace/window"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// recorded is the trace of record, which takes two seconds: all tests read the same.
var recorded struct {
	sync.Once
	data []byte
}

// record traces goroutines that use a lock, and some that wait the whole time, for more than one
// generation.
func record(t *testing.T) []byte {
	t.Helper()
	recorded.Do(func() { recorded.data = tracetest.Record(t, locking) })
	if recorded.data == nil {
		t.Fatal("no trace could be recorded: see the first test")
	}
	return recorded.data
}

func locking() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wg.Go(func() { <-stop })
	}
	for range 4 {
		wg.Go(func() {
			for range 400 {
				mu.Lock()
				time.Sleep(500 * time.Microsecond)
				mu.Unlock()
			}
		})
	}
	time.Sleep(1300 * time.Millisecond)
	close(stop)
	wg.Wait()
}

func index(t *testing.T, data []byte) (*window.Index, *wall.Fold, *exectrace.Trace) {
	t.Helper()
	x := window.NewIndexer()
	var w wall.Fold
	tr, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, x.Fold(), &w)
	if err != nil {
		t.Fatal(err)
	}
	i, err := x.Index(tr, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return i, &w, tr
}

// sums are the values of a profile by stack and labels.
func sums(t *testing.T, p *profile.Profile, err error) map[string][2]int64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][2]int64{}
	o := report.DefaultOptions()
	o.Granularity = profile.ByLine
	v, err := report.NewView(p, o)
	if err != nil {
		t.Fatal(err)
	}
	rows, traces := v.Traces()
	for s := range traces {
		name := fmt.Sprint(v.Profile.Labels(s.Sample))
		for _, f := range s.Frames {
			name += fmt.Sprintf(" %s:%d", rows[f.Row].Name, rows[f.Row].Line)
		}
		sum := out[name]
		for i := range p.SampleTypes {
			sum[i] += v.Profile.Values(i)[s.Sample]
		}
		out[name] = sum
	}
	return out
}

// TestWholeIsWall: the profiles of the whole trace are those of package wall.
func TestWholeIsWall(t *testing.T) {
	x, w, _ := index(t, record(t))
	for _, view := range []wall.View{wall.OffCPU, wall.Latency, wall.Calls} {
		p, err := w.Profile(view)
		want := sums(t, p, err)
		p, err = x.Profile(context.Background(), string(view), 0, 0)
		got := sums(t, p, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", view, diff)
		}
	}
}

// TestPartsAreTheWhole: the intervals of a trace add up to the whole, wherever it is cut.
func TestPartsAreTheWhole(t *testing.T) {
	x, _, _ := index(t, record(t))
	for _, view := range window.Views() {
		p, err := x.Profile(t.Context(), view, 0, 0)
		want := sums(t, p, err)
		for _, cuts := range [][]int64{{x.Length() / 2}, {x.Length() / 7, x.Length() / 5, x.Length() * 4 / 5}, {1000, x.Length() - 1000}} {
			got := map[string][2]int64{}
			from := int64(0)
			for _, to := range append(cuts, x.Length()) {
				p, err := x.Profile(t.Context(), view, from, to)
				for k, v := range sums(t, p, err) {
					got[k] = [2]int64{got[k][0], got[k][1] + v[1]}
				}
				from = to
			}
			for k, v := range want {
				if d := got[k][1] - v[1]; d > 200 || d < -200 { // times of events that come together differ by nanoseconds
					t.Errorf("%s cut at %d: %s: %d ns, want %d", view, cuts, k, got[k][1], v[1])
				}
			}
		}
	}
}

// TestOverview: the curves have the same sums at every level of detail, and lanes stay within the
// interval.
func TestOverview(t *testing.T) {
	data := record(t)
	x, w, tr := index(t, data)
	whole, err := x.Overview(t.Context(), 0, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	var want float64
	for _, p := range w.Goroutines().Total {
		switch p.What {
		case "running", "gc assist", "gc sweep": // a goroutine that works for the collector runs, too
			want += p.Seconds
		}
	}
	var parts window.Totals
	const n = 9
	for i := range int64(n) {
		o, err := x.Overview(t.Context(), x.Length()*i/n, x.Length()*(i+1)/n, 30)
		if err != nil {
			t.Fatal(err)
		}
		parts.Running += o.Totals.Running
		parts.Waiting += o.Totals.Waiting
		if !o.Exact || o.Lanes == nil {
			t.Fatalf("a stretch of a small trace without its events: %+v", o)
		}
		for _, g := range o.Lanes.Goroutines {
			for _, s := range g.Spans {
				if s.From < o.From || s.To > o.To {
					t.Errorf("span %d to %d in a stretch %d to %d", s.From, s.To, o.From, o.To)
				}
			}
		}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6+1e-4*math.Abs(b) }
	if !near(parts.Running, whole.Totals.Running) || !near(parts.Waiting, whole.Totals.Waiting) {
		t.Errorf("parts sum to %+v, the whole is %+v", parts, whole.Totals)
	}
	if !near(whole.Totals.Running, want) {
		t.Errorf("%g s running, package wall has %g of %s", whole.Totals.Running, want, tr.Info().Length)
	}
	if coarse := x.Coarse(0, x.Length(), 100); !near(coarse.Totals.Running, want) || !near(coarse.Totals.Waiting, whole.Totals.Waiting) || coarse.Exact {
		t.Errorf("of the index's columns %+v, of the events %+v", coarse.Totals, whole.Totals)
	}
}
