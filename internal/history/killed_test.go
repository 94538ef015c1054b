package history

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Environment of a process that TestKilled starts.
const writerEnv = "HONE_TEST_WRITER"

// TestWriter runs in processes that TestKilled starts: it adds runs until it is killed, and prints
// the ID of each that was acknowledged.
func TestWriter(t *testing.T) {
	where := os.Getenv(writerEnv)
	if where == "" {
		return
	}
	s, err := Open(context.Background(), where)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		go func() {
			for m := 0; ; m++ {
				id, err := s.Add(context.Background(), made(100*m+n), manySamples(), []File{{"cpu.pprof", fmt.Appendf(nil, "%d %d", n, m)}})
				if err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Println("added", id)
			}
		}()
	}
	select {}
}

func manySamples() (list []Sample) {
	for i := range 20 {
		list = append(list, sample(fmt.Sprintf("Benchmark%d", i), "ns/op", 1, 2, 3))
	}
	return list
}

// TestKilled: of 200 writers in four processes that are killed, every run that was acknowledged is
// complete in the database, and no run is there in part.
func TestKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an executable that runs cannot be removed")
	}
	databases(t, func(t *testing.T, where string) {
		s := open(t, where)
		var mu sync.Mutex
		var ids []string
		var wg sync.WaitGroup
		enough := make(chan struct{})
		var once sync.Once
		for range 4 {
			cmd := exec.Command(os.Args[0], "-test.run=^TestWriter$")
			cmd.Env = append(os.Environ(), writerEnv+"="+where)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				<-enough
				cmd.Process.Kill()
			})
			wg.Go(func() {
				for lines := bufio.NewScanner(out); lines.Scan(); {
					var what, id string
					fmt.Sscan(lines.Text(), &what, &id)
					mu.Lock()
					if what == "added" {
						ids = append(ids, id)
					} else {
						t.Error(lines.Text())
					}
					if len(ids) >= 200 || t.Failed() {
						once.Do(func() { close(enough) })
					}
					mu.Unlock()
				}
				once.Do(func() { close(enough) })
				cmd.Wait()
			})
		}
		wg.Wait()
		if len(ids) < 200 {
			t.Fatalf("only %d runs were acknowledged", len(ids))
		}
		for _, id := range ids {
			got, err := s.Samples(t.Context(), id)
			if err != nil || len(got) != 20 {
				t.Fatalf("run %s was acknowledged and has %d of 20 samples; %v", id, len(got), err)
			}
			if _, err := s.File(t.Context(), id, "cpu.pprof"); err != nil {
				t.Fatalf("run %s was acknowledged: %v", id, err)
			}
		}
		var part int
		if err := s.db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM runs AS r WHERE 20 <> (SELECT COUNT(*) FROM samples AS p WHERE p.run = r.seq)`).Scan(&part); err != nil || part > 0 {
			t.Errorf("%d runs are there in part; %v", part, err)
		}
	})
}

// BenchmarkMillion stores a million values, 10 in each of 200 series in 500 runs, and reads a
// series.
func BenchmarkMillion(b *testing.B) {
	for _, where := range []string{filepath.Join(b.TempDir(), "h.db"), os.Getenv(postgresEnv)} {
		name := "sqlite"
		if where == os.Getenv(postgresEnv) {
			name = "postgres"
		}
		b.Run(name, func(b *testing.B) {
			if where == "" {
				b.Skip("no server")
			}
			s := open(b, where)
			rng := rand.New(rand.NewPCG(1, 2))
			samples := make([]Sample, 200)
			var inserting time.Duration
			for n := range 500 {
				for i := range samples {
					v := make([]float64, 10)
					for j := range v {
						v[j] = float64(int(1e6*(1+0.03*rng.NormFloat64()))) / 1000 // as package testing prints it
					}
					samples[i] = sample(fmt.Sprintf("Benchmark%d-2", i), "ns/op", v...)
				}
				began := time.Now()
				if _, err := s.Add(b.Context(), made(n), samples, nil); err != nil {
					b.Fatal(err)
				}
				inserting += time.Since(began)
			}
			for b.Loop() {
				if points, err := s.Points(b.Context(), Series{"example.com/x", "Benchmark7-2", "ns/op"}); err != nil || len(points) < 500 {
					b.Fatal(len(points), err)
				}
			}
			b.ReportMetric(inserting.Seconds(), "insert-s")
			if info, err := os.Stat(where); err == nil {
				b.ReportMetric(float64(info.Size())/1e6, "MB")
			} else {
				var size int64
				if err := s.db.QueryRowContext(b.Context(), `SELECT pg_total_relation_size('samples') + pg_total_relation_size('runs')`).Scan(&size); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(size)/1e6, "MB")
			}
		})
	}
}
