package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// The garbage collector's percentage while pages are served. A profile that stays in memory should
// not double the heap because of short-lived allocations. But with a small heap, the lowest
// percentage would cause hundreds of collections while a profile is read, a third of the CPU of its
// first flame graph.
const (
	serverHeadroom = 48 << 20 // bytes that may be allocated between two collections, if the bounds allow it
	leastServerGC  = 5
	mostServerGC   = 100
	largeServer    = 256 << 20 // live bytes from which on memory matters more than a few milliseconds per view
)

// releasing returns memory to the operating system after work on a large profile that allocated
// much: a copy of many samples. The next one would come on top of it.
func releasing(work func() error) error {
	const much = 40 << 20
	read := func(name string) uint64 {
		s := []metrics.Sample{{Name: name}}
		metrics.Read(s)
		if s[0].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return s[0].Value.Uint64()
	}
	before := read("/gc/heap/allocs:bytes")
	err := work()
	if read("/gc/heap/allocs:bytes")-before > much && read("/gc/heap/live:bytes") >= largeServer {
		debug.FreeOSMemory()
	}
	return err
}

// serverGC returns the percentage for a heap with that many live bytes.
func serverGC(live uint64) int {
	if live >= largeServer {
		return leastServerGC
	}
	return int(min(max(serverHeadroom*100/max(live, 1), leastServerGC), mostServerGC))
}

// serverCollector adapts the percentage after each collection, until it is stopped.
type serverCollector struct {
	mu      sync.Mutex
	before  int // the percentage to restore
	stopped bool
}

// adaptCollector sets the percentage now and after each collection. stop restores the previous one.
func adaptCollector() (stop func()) {
	c := &serverCollector{before: debug.SetGCPercent(mostServerGC)}
	c.watch()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stopped = true
		debug.SetGCPercent(c.before)
	}
}

// watch registers for the next collection, with an unreachable object.
func (c *serverCollector) watch() {
	runtime.AddCleanup(new([64]byte), func(c *serverCollector) { c.collected() }, c)
}

func (c *serverCollector) collected() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	if live[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(serverGC(live[0].Value.Uint64()))
	}
	c.watch()
}
