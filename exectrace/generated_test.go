package exectrace_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/wire"
	"github.com/hone-go/hone/internal/live"
)

// TestGenerated reads traces of a program that does a bit of everything, on one processor and on
// several, and compares every event with golang.org/x/exp/trace.
func TestGenerated(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			data := record(t, procs, 2)
			tr := compare(t, data, &consistent{t: t})
			info := tr.Info()
			if info.Procs != procs || info.Goroutines < 100 || info.Stacks < 50 || info.Generations < 1 {
				t.Errorf("Info = %+v", info)
			}
			if d := time.Since(info.Start); d < 0 || d > time.Minute {
				t.Errorf("the trace began %v ago, at %v", d, info.Start)
			}
			if info.Bytes != int64(len(data)) {
				t.Errorf("%d bytes of %d", info.Bytes, len(data))
			}
		})
	}
}

// TestClocks reads a trace as if its clock had another frequency.
func TestClocks(t *testing.T) {
	frequency := func(perSecond uint64) []byte {
		return binary.AppendUvarint([]byte{byte(wire.Frequency)}, perSecond)
	}
	recorded := frequency(1e9 / 64) // runtime.traceTimeDiv
	data := record(t, 2, 1)
	if !bytes.Contains(data, recorded) {
		t.Skip("no clock of 64 ns on", runtime.GOOS)
	}
	for _, perSecond := range []uint64{
		200_000_000, // 5 ns
		3_000_000,   // 333.33 ns
		1e9/64 + 1,  // slightly less than 64 ns
		1<<28 - 1,   // 3.7 ns
		4_000_000,   // 250 ns
	} {
		t.Run(fmt.Sprint(perSecond), func(t *testing.T) {
			compare(t, bytes.Replace(data, recorded, frequency(perSecond), -1), &consistent{t: t})
		})
	}
}

// record traces the busy program.
func record(t testing.TB, procs, iterations int) []byte {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	// A trace has samples while a CPU profile runs; another test may run one already.
	if err := pprof.StartCPUProfile(io.Discard); err == nil {
		defer pprof.StopCPUProfile()
	}
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip("a trace is being taken already:", err)
	}
	for range iterations {
		busy(t)
	}
	trace.Stop()
	return b.Bytes()
}

// busy does everything that a tracer records.
func busy(t testing.TB) {
	ctx, task := trace.NewTask(context.Background(), "busy")
	defer task.End()
	for name, f := range map[string]func(testing.TB, context.Context){
		"locks": locks, "channels": channels, "loopback": loopback, "garbage": garbage,
		"coroutines": coroutines, "syscalls": syscalls, "notes": notes,
	} {
		trace.WithRegion(ctx, name, func() { f(t, ctx) })
	}
}

func locks(testing.TB, context.Context) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 20 {
				mu.Lock()
				runtime.Gosched()
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func channels(testing.TB, context.Context) {
	c, done := make(chan int), make(chan bool)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-c:
				case <-done:
					return
				}
			}
		})
	}
	for i := range 300 {
		c <- i
	}
	close(done)
	wg.Wait()
	time.Sleep(time.Millisecond)
}

// loopback sends bytes to itself.
func loopback(t testing.TB, _ context.Context) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Log("no loopback:", err)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		io.Copy(c, c)
	})
	c, err := net.Dial("tcp", l.Addr().String())
	if err == nil {
		b := make([]byte, 64)
		for range 50 {
			c.Write(b)
			io.ReadFull(c, b)
		}
		c.Close()
	}
	l.Close()
	wg.Wait()
}

var sink []byte

func garbage(testing.TB, context.Context) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var keep [][]byte
			for range 200 {
				keep = append(keep, make([]byte, 8<<10))
			}
			runtime.KeepAlive(keep)
		})
	}
	runtime.GC()
	wg.Wait()
	var m runtime.MemStats
	runtime.ReadMemStats(&m) // stops the world
	sink = make([]byte, 1<<20)
}

func coroutines(testing.TB, context.Context) {
	for range 5 {
		next, stop := iter.Pull(func(yield func(int) bool) {
			for i := 0; yield(i); i++ {
			}
		})
		for range 20 {
			next()
		}
		stop()
	}
}

// syscalls makes quick system calls, and one that lasts long enough to lose its processor.
func syscalls(t testing.TB, _ context.Context) {
	for range 50 {
		if f, err := os.Open(os.DevNull); err == nil {
			f.Close()
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	var wg sync.WaitGroup
	wg.Go(func() { io.ReadAll(r) })
	time.Sleep(2 * time.Millisecond)
	w.Close()
	wg.Wait()
}

func notes(_ testing.TB, ctx context.Context) {
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			ctx, task := trace.NewTask(ctx, "note")
			defer task.End()
			trace.Logf(ctx, "count", "number %d", i)
			defer trace.StartRegion(ctx, "outer").End()
			trace.WithRegion(ctx, "inner", runtime.Gosched)
		})
	}
	wg.Wait()
}

// TestManyGenerations reads a trace with short generations, so that long states span several.
func TestManyGenerations(t *testing.T) {
	live.Only(t)
	stop := make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() { <-stop })
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err)
	}
	for begin := time.Now(); time.Since(begin) < 2200*time.Millisecond; {
		notes(t, context.Background())
		time.Sleep(20 * time.Millisecond)
	}
	trace.Stop()
	close(stop)
	wg.Wait()
	tr := compare(t, b.Bytes(), &consistent{t: t})
	if n := tr.Info().Generations; n < 2 {
		t.Errorf("%d generations", n)
	}
}

// TestCancel cancels a reading in the middle.
func TestCancel(t *testing.T) {
	data := record(t, 2, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tr, err := exectrace.Read(ctx, bytes.NewReader(data), exectrace.Options{}, cancelFold{cancel})
	if tr != nil || err == nil || ctx.Err() == nil {
		t.Errorf("Read = %v, %v after cancel", tr, err)
	}
}

// TestCancelBetween cancels between two generations, and gives the reader time to finish.
func TestCancelBetween(t *testing.T) {
	data := record(t, 2, 1)
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		stop := func(int64) {
			cancel()
			time.Sleep(2 * time.Millisecond)
		}
		tr, err := exectrace.Read(ctx, bytes.NewReader(data), exectrace.Options{Progress: stop})
		if tr != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("Read = %v, %v after cancel", tr, err)
		}
	}
}

// cancelFold cancels at the first block.
type cancelFold struct{ cancel func() }

func (f cancelFold) Events(*exectrace.Trace, *exectrace.Block) { f.cancel() }
func (f cancelFold) End(*exectrace.Trace)                      {}
