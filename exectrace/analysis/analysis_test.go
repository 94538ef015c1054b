package analysis_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/requests"
)

// summarize traces f on two processors and sums up.
func summarize(t *testing.T, f func()) *analysis.Summary {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	set := analysis.New(requests.Options{})
	tr, err := exectrace.Read(t.Context(), bytes.NewReader(tracetest.Record(t, f)), exectrace.Options{}, set.Folds()...)
	if err != nil {
		t.Fatal(err)
	}
	set.Done(tr)
	return set.Summary()
}

//go:noinline
func spin(d time.Duration) (n int) {
	for start := time.Now(); time.Since(start) < d; n++ {
	}
	return n
}

// spinToAnEvent spins, and leaves the processor where it did: without an event in it, the trace knows no line of
// what only computes, unless a tick of the CPU profile falls there.
//
//go:noinline
func spinToAnEvent(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
	runtime.Gosched()
}

// workers runs f on several goroutines.
func workers(n int, f func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(f)
	}
	wg.Wait()
}

// TestRemarks asserts for each topic a program that stands out by it, and one much like it that does not.
func TestRemarks(t *testing.T) {
	// Several pairs, so that a processor always finds the next goroutine ready: waking a sleeping
	// thread takes as long as the machine likes.
	handOver := func(size int, work time.Duration) func() {
		return func() {
			workers(4, func() {
				items := make(chan int, size)
				go func() {
					defer close(items)
					for i := range 8_000 {
						items <- i
					}
				}()
				for range items {
					if work > 0 {
						spin(work)
					}
				}
			})
		}
	}
	leak := make(chan int)
	defer close(leak)
	for _, c := range []struct {
		topic, text  string // what stands out, and a word of the remark
		guilty, near func()
	}{
		{"serial", "analysis_test.spinToAnEvent", func() { spinToAnEvent(200 * time.Millisecond) }, func() { workers(2, func() { spin(150 * time.Millisecond) }) }},
		{"work-unit", "goroutines started at", func() {
			for range 20 {
				workers(500, func() {})
			}
		}, func() { // long ones, and so few short ones that nobody would notice
			workers(20, func() { spin(5 * time.Millisecond) })
			var wg sync.WaitGroup
			for range 400 {
				wg.Go(func() {})
			}
			wg.Wait()
		}},
		{"handoff", "waited for a channel", handOver(0, 0), handOver(0, 20*time.Microsecond)},
		{"convoy", "unlocked at", func() {
			var mu sync.Mutex
			workers(8, func() {
				for range 40 {
					mu.Lock()
					time.Sleep(200 * time.Microsecond)
					mu.Unlock()
				}
			})
		}, func() {
			workers(8, func() {
				var mu sync.Mutex
				for range 40 {
					mu.Lock()
					time.Sleep(200 * time.Microsecond)
					mu.Unlock()
				}
			})
		}},
		{"polling", "use a channel or sync.Cond", func() {
			workers(16, func() { // each comes to a hundred a second, or less where the machine is busy
				for range 60 {
					time.Sleep(500 * time.Microsecond)
				}
			})
		}, func() {
			for range 5 {
				time.Sleep(20 * time.Millisecond)
			}
		}},
		{"wakeup", "had to be woken", func() {
			ask, answer := make(chan int), make(chan int)
			go func() {
				runtime.LockOSThread() // each hand-over is one of threads
				for range ask {
					answer <- 0
				}
			}()
			defer close(ask)
			for range 10_000 {
				ask <- 0
				<-answer
			}
		}, func() {
			workers(2, func() {
				for range 20 {
					time.Sleep(5 * time.Millisecond)
				}
			})
		}},
		{"spinning", "runtime.Gosched", func() {
			var ready atomic.Bool
			begun := time.Now()
			workers(3, func() {
				for !ready.Load() {
					runtime.Gosched()
					if spin(time.Microsecond); time.Since(begun) > 100*time.Millisecond {
						ready.Store(true)
					}
				}
			})
		}, func() {
			workers(3, func() {
				for range 100 {
					spin(500 * time.Microsecond)
					runtime.Gosched()
				}
			})
		}},
		{"leak", "had not ended", func() {
			for range 2000 {
				go func() { <-leak }()
			}
			time.Sleep(20 * time.Millisecond)
		}, func() { workers(2000, func() { time.Sleep(time.Millisecond) }) }},
	} {
		t.Run(c.topic, func(t *testing.T) {
			if c.topic == "handoff" && testing.Short() {
				t.Skip("the race detector, whose tests are the short ones, makes a microsecond of hand-over two")
			}
			var said string
			for _, m := range summarize(t, c.guilty).Remarks {
				if m.Topic == c.topic {
					said = m.Text
				}
			}
			if !strings.Contains(said, c.text) {
				t.Errorf("it does not stand out, or not in these words: %q", said)
			}
			t.Log(said)
			for _, m := range summarize(t, c.near).Remarks {
				if m.Topic == c.topic {
					t.Errorf("wrongly: %s", m.Text)
				}
			}
		})
	}
}

// TestSummaryAddsUp holds the figures against each other.
func TestSummaryAddsUp(t *testing.T) {
	s := summarize(t, func() { workers(4, func() { spin(10 * time.Millisecond) }) })
	if s.Procs != 2 || s.MeanBusy > 2 || s.MeanRunning > s.MeanBusy+0.2 || s.Length <= 0 || s.Events == 0 {
		t.Errorf("%+v", s)
	}
	var running float64
	for _, p := range s.Total {
		if p.What == "running" {
			running += p.Seconds
		}
	}
	if most := s.Length * 2 * 1.01; running > most {
		t.Errorf("goroutines ran %.3f s, two processors have %.3f s", running, most)
	}
	b, err := json.Marshal(s)
	if err != nil || !bytes.Contains(b, []byte(`"schema":"hone/trace/summary/v1"`)) {
		t.Errorf("%v: %.100s", err, b)
	}
}

// TestAssistsAgree holds the time of assists by goroutine against that by collection: they are followed by
// themselves. Many goroutines allocate, so that most assists wait too.
func TestAssistsAgree(t *testing.T) {
	s := summarize(t, func() {
		workers(32, func() {
			var keep [64][]*int // of pointers, which take time to mark
			for i := range 2000 {
				keep[i%len(keep)] = make([]*int, 4096)
			}
			runtime.KeepAlive(keep)
		})
	})
	wall := map[string]float64{}
	for _, p := range s.Total {
		wall[p.What] += p.Seconds
	}
	// Where a goroutine sweeps within an assist, it sweeps.
	swept := s.Assisted - wall["gc assist"]
	if s.Assisted == 0 || swept < -1e-9 || swept > wall["gc sweep"]+1e-9 {
		t.Errorf("assists ran for %v s by collection, %v s by goroutine, with %v s of sweeping", s.Assisted, wall["gc assist"], wall["gc sweep"])
	}
	if s.Assist < s.Assisted {
		t.Errorf("assists took %v s, and ran for %v s of them", s.Assist, s.Assisted)
	}
}
