package profiletest

import (
	"bytes"
	"context"
	google "github.com/google/pprof/profile"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
	"time"
)

// mix is small enough to be inlined into its callers.
func mix(x uint64) uint64 { return (x ^ x>>29) * 0x9e3779b97f4a7c15 }

//go:noinline
func recurse(depth int, x uint64) uint64 {
	for range 2000 {
		x = mix(x)
	}
	if depth == 0 {
		return x
	}
	return recurse(depth-1, x) + 1
}

// spin takes about 16 µs of CPU per turn. A limit by the clock would leave a busy machine's
// profiles without samples.
//
//go:noinline
func spin(turns int) (x uint64) {
	for range turns {
		x += recurse(3, x)
		for range 5000 {
			x = mix(x)
		}
	}
	return x
}

var sink struct {
	sync.Mutex
	x     uint64
	bytes [][]byte
}

//go:noinline
func allocate(n int) {
	for range n {
		sink.bytes = append(sink.bytes, make([]byte, 4096))
	}
}

// Record makes one profile of each kind of this process: CPU with inlining and
// labels, heap with four values, mutex, goroutine with labels.
var Record = sync.OnceValue(func() map[string][]byte {
	out := map[string][]byte{}
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err == nil { // it fails under go test -cpuprofile
		pprof.Do(context.Background(), pprof.Labels("tenant", "a", "shard", "1"), func(context.Context) { sink.x += spin(15_000) })
		pprof.StopCPUProfile()
		out["cpu"] = cpu.Bytes()
	}
	before := runtime.MemProfileRate
	runtime.MemProfileRate = 16 << 10
	allocate(2000)
	sink.bytes = sink.bytes[:500]
	runtime.GC()
	runtime.MemProfileRate = before

	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 50 {
				sink.Lock()
				time.Sleep(10 * time.Microsecond)
				sink.Unlock()
			}
		})
	}
	workers.Wait()

	stop := make(chan struct{})
	defer close(stop)
	for _, tenant := range []string{"a", "b", "b"} {
		go pprof.Do(context.Background(), pprof.Labels("tenant", tenant), func(context.Context) { <-stop })
	}
	time.Sleep(5 * time.Millisecond)
	for _, name := range []string{"heap", "mutex", "goroutine", "threadcreate"} {
		var b bytes.Buffer
		if err := pprof.Lookup(name).WriteTo(&b, 0); err == nil {
			out[name] = b.Bytes()
		}
	}
	return out
})

// Recorded returns the recorded profiles as google/pprof reads them.
func Recorded(t testing.TB) map[string]*google.Profile {
	t.Helper()
	out := map[string]*google.Profile{}
	for name, data := range Record() {
		g, err := google.ParseData(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = g
	}
	return out
}
