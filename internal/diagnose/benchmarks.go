package diagnose

import (
	"slices"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// addBenchmarks adds a row for each benchmark. For a single one, the figures per operation take the
// place of those per request.
func (r *Resources) addBenchmarks(e *engine) {
	ph, ok := e.reference()
	if !ok {
		return
	}
	r.Benchmarks = benchmarks(ph)
	if len(r.Benchmarks) != 1 {
		return
	}
	b := r.Benchmarks[0]
	if b.CPUSeconds != nil {
		r.CPUPerRequest = *b.CPUSeconds
	}
	if b.Bytes != nil && b.Objects != nil {
		r.BytesPerRequest, r.ObjectsPerRequest = *b.Bytes, *b.Objects
	}
}

func benchmarks(ph recording.Phase) []Benchmark {
	var rows []Benchmark
	for _, b := range ph.Benchmarks {
		seconds := b.PerRun(recording.BenchSample.Seconds)
		if len(seconds) == 0 {
			continue
		}
		rows = append(rows, Benchmark{
			Name: b.Name, Runs: len(seconds),
			Seconds: stats.Median(seconds), Shortest: slices.Min(seconds), Longest: slices.Max(seconds),
			CPUSeconds: median(ph.BenchCPU()),
			Bytes:      median(b.PerRun(recording.BenchSample.Bytes)),
			Objects:    median(b.PerRun(recording.BenchSample.Allocs)),
		})
	}
	return rows
}

// median returns nil for no values.
func median(xs []float64) *float64 {
	if len(xs) == 0 {
		return nil
	}
	return ptr(stats.Median(xs))
}
