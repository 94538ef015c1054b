package history

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkTenThousand stores 10,000 runs of 10 series with 10 values each and a file, and reports
// how long queries and retention take. It runs each query once: use -benchtime 1x.
func BenchmarkTenThousand(b *testing.B) {
	const runs, series = 10_000, 10
	for _, where := range []string{filepath.Join(b.TempDir(), "h.db"), os.Getenv(postgresEnv)} {
		name := "sqlite"
		if where == os.Getenv(postgresEnv) {
			name = "postgres"
		}
		b.Run(name, func(b *testing.B) {
			if where == "" {
				b.Skip("no server")
			}
			ctx := b.Context()
			if name == "postgres" {
				where = postgresSchema(b, where)
			}
			s := open(b, where)
			rng := rand.New(rand.NewPCG(1, 2))
			metrics := map[string]float64{} // the loop would reset them
			report := func(what string, f func() (int, error), want int) {
				began := time.Now()
				got, err := f()
				if err != nil || got != want {
					b.Fatalf("%s: %d, want %d; %v", what, got, want, err)
				}
				metrics[what+"-ms"] = float64(time.Since(began).Microseconds()) / 1000
			}
			size := func() float64 {
				if info, err := os.Stat(where); err == nil {
					return float64(info.Size()) / 1e6
				}
				var bytes int64
				if err := s.db.QueryRowContext(ctx, `SELECT pg_total_relation_size('samples') + pg_total_relation_size('runs') + pg_total_relation_size('files')
					+ pg_total_relation_size('blobs') + pg_total_relation_size('series')`).Scan(&bytes); err != nil {
					b.Fatal(err)
				}
				return float64(bytes) / 1e6
			}
			add := func(from, to int) (int, error) {
				samples := make([]Sample, series)
				for n := from; n < to; n++ {
					level := 1000.0
					if n >= runs/2 {
						level = 1100
					}
					for i := range samples {
						v := make([]float64, 10)
						for j := range v {
							v[j] = float64(int(1000*level*(1+0.03*rng.NormFloat64()))) / 1000
						}
						samples[i] = sample(fmt.Sprintf("Benchmark%d-2", i), "ns/op", v...)
					}
					if _, err := s.Add(ctx, made(n), samples, []File{{"findings.json", fmt.Appendf(nil, `{"n":%d}`, n/10)}}); err != nil {
						return n, err
					}
				}
				return to - from, nil
			}
			report("insert", func() (int, error) { return add(0, runs) }, runs)
			metrics["MB"] = size()
			report("last20", func() (int, error) { l, err := s.Runs(ctx, 20); return len(l), err }, 20)
			report("all", func() (int, error) { l, err := s.Runs(ctx, 0); return len(l), err }, runs)
			report("series", func() (int, error) {
				p, err := s.Points(ctx, Series{"example.com/x", "Benchmark7-2", "ns/op"})
				return len(p), err
			}, runs)
			report("steps", func() (int, error) {
				t, err := s.Tracks(ctx, "Benchmark7-2", "")
				if err != nil || len(t) != 1 {
					return 0, err
				}
				return len(t[0].Steps), err
			}, 1)
			report("find", func() (int, error) {
				r, err := s.Find(ctx, made(runs/2).Commit)
				_ = r
				return 1, err
			}, 1)
			report("prune", func() (int, error) { n, err := s.Prune(ctx, 1000, time.Now()); return int(n), err }, runs-1000)
			report("left", func() (int, error) { l, err := s.Runs(ctx, 0); return len(l), err }, 1000)
			metrics["left-MB"] = size()
			// The database reuses the space of removed runs, so it stops growing.
			report("insert-again", func() (int, error) { return add(runs, 2*runs-1000) }, runs-1000)
			metrics["again-MB"] = size()
			for b.Loop() {
			}
			for unit, v := range metrics {
				b.ReportMetric(v, unit)
			}
		})
	}
}
