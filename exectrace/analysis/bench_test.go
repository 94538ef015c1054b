package analysis_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/trace"
	"sync"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/requests"
)

// market is a service with everything that the analyses look for: a lock, a channel to workers,
// goroutines for small pieces of work, tasks, regions and logs.
type market struct {
	sync.Mutex
	seen map[string]int
	jobs chan func()
}

func (m *market) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, task := trace.NewTask(r.Context(), "order")
	defer task.End()
	trace.Log(ctx, "path", r.URL.Path)
	trace.WithRegion(ctx, "count", func() {
		m.Lock()
		defer m.Unlock()
		m.seen[r.URL.Path]++
	})
	done := make(chan int)
	m.jobs <- func() { done <- len(r.URL.Path) }
	var parts sync.WaitGroup
	for range 2 {
		parts.Go(func() { json.Marshal(r.Header) })
	}
	parts.Wait()
	fmt.Fprintln(w, <-done)
}

// marketDay is the trace of a market with some concurrent customers.
func marketDay(b *testing.B, customers, orders int) []byte {
	m := &market{seen: map[string]int{}, jobs: make(chan func())}
	defer close(m.jobs)
	for range 8 {
		go func() {
			for job := range m.jobs {
				job()
			}
		}()
	}
	srv := httptest.NewServer(m)
	defer srv.Close()
	client := srv.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = customers
	return tracetest.Record(b, func() {
		var all sync.WaitGroup
		for c := range customers {
			all.Go(func() {
				for range orders {
					r, err := client.Get(fmt.Sprintf("%s/%d", srv.URL, c))
					if err != nil {
						b.Error(err)
						return
					}
					io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
			})
		}
		all.Wait()
	})
}

// BenchmarkSet reads a trace with all analyses.
func BenchmarkSet(b *testing.B) {
	data := marketDay(b, 64, 400)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var events int64
	for b.Loop() {
		s := analysis.New(requests.Options{})
		t, err := exectrace.Read(context.Background(), bytes.NewReader(data), exectrace.Options{}, s.Folds()...)
		if err != nil {
			b.Fatal(err)
		}
		s.Done(t)
		s.Summary()
		events += t.Info().Events
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
