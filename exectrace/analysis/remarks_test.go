package analysis_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// remarked has for each topic a program that gets a remark, and a similar one that does not.
func remarked() []remarkedPrograms {
	// There are several pairs, so that a processor always finds a goroutine that is ready.
	handOver := func(work time.Duration) func() {
		return func() {
			workers(4, func() {
				items := make(chan int)
				go func() {
					defer close(items)
					for i := range 500 {
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
	return []remarkedPrograms{
		{"serial", "analysis_test.spinToAnEvent", func() { spinToAnEvent(200 * time.Millisecond) }, func() { workers(2, func() { spin(150 * time.Millisecond) }) }},
		{"work-unit", "goroutines started at", func() {
			for range 3 {
				workers(400, func() {})
			}
		}, func() { // long ones, and too few short ones to matter
			workers(20, func() { spin(5 * time.Millisecond) })
			var wg sync.WaitGroup
			for range 400 {
				wg.Go(func() {})
			}
			wg.Wait()
		}},
		{"handoff", "waited for a channel", handOver(0), handOver(20 * time.Microsecond)},
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
			workers(8, func() {
				for range 40 {
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
				runtime.LockOSThread() // each hand-off switches threads
				for range ask {
					answer <- 0
				}
			}()
			defer close(ask)
			for range 1000 {
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
			workers(3, func() {
				for range 2500 {
					runtime.Gosched()
					spin(time.Microsecond)
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
			for range 1200 {
				go func() { <-leak }()
			}
			time.Sleep(20 * time.Millisecond)
		}, func() { workers(1200, func() { time.Sleep(time.Millisecond) }) }},
	}
}

type remarkedPrograms struct {
	topic, text  string // the topic that stands out, and a word of the remark
	guilty, near func()
}

// spinToAnEvent spins, and causes an event where it stops: without an event, the trace does not
// know the line of a goroutine that only computes, unless a sample of the CPU profile falls there.
//
//go:noinline
func spinToAnEvent(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
	runtime.Gosched()
}

// TestRemarks reads traces of the programs in remarked, recorded once: what a remark depends on
// (how long a hand-off takes, how often a goroutine finds an idle processor) varies with the
// machine. To record them again, on a machine that does nothing else:
//
//	go test ./exectrace/analysis -trimpath -run TestRemarks -update
func TestRemarks(t *testing.T) {
	for _, c := range remarked() {
		t.Run(c.topic, func(t *testing.T) {
			said := remarkOf(t, c.topic, "guilty", c.guilty)
			if !strings.Contains(said, c.text) {
				t.Errorf("it does not stand out, or not in these words: %q", said)
			}
			if said := remarkOf(t, c.topic, "near", c.near); said != "" {
				t.Errorf("wrongly: %s", said)
			}
		})
	}
}

// remarkOf returns the last remark about a topic in the recorded trace of a program. With -update
// it records the trace first.
func remarkOf(t *testing.T, topic, name string, program func()) (text string) {
	t.Helper()
	file := filepath.Join("testdata", "remarks", topic+"-"+name+".trace.gz")
	if *update {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(onTwo(t, program)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, m := range summary(t, f).Remarks {
		if m.Topic == topic {
			text = m.Text
		}
	}
	return text
}
