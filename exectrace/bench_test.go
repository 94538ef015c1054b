package exectrace_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// BenchmarkRead reads a trace of a busy program without any fold: the cost of ordering events
// alone.
func BenchmarkRead(b *testing.B) {
	data := record(b, 4, 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var events int64
	for b.Loop() {
		tr, err := exectrace.Read(context.Background(), bytes.NewReader(data), exectrace.Options{})
		if err != nil {
			b.Fatal(err)
		}
		events += tr.Info().Events
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
