// Command ablation does a fixed number of iterations of work that allocate at four
// places, each of which can be told to reuse memory instead. What the process
// then uses less of CPU is what the allocations of that place cost: the truth
// that a price by profile is held against.
package main

import (
	"flag"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// entry is a node of the live heap, a tree that stays for the whole run and that
// every collection marks.
type entry struct {
	less, more *entry
	key        uint64
	_          [3]uint64
}

func grow(depth int) *entry {
	e := &entry{key: uint64(depth)}
	if depth > 0 {
		e.less, e.more = grow(depth-1), grow(depth-1)
	}
	return e
}

// cell is a small object with pointers.
type cell struct {
	next *cell
	to   *entry
	body [4]uint64
}

// worker is what one goroutine makes in an iteration, kept until the next, and the
// memory that it uses again when told to.
type worker struct {
	chain *cell
	page  []byte
	names [8][]byte
	index []*cell

	oldChain [8]cell
	oldPage  [4096]byte
	oldNames [8][40]byte
	oldIndex [64]*cell
}

// reuse says which places reuse memory.
var reuse struct{ chain, page, names, index bool }

// chain makes eight objects of 48 bytes with pointers.
//
//go:noinline
func chain(w *worker, x uint64) {
	var head *cell
	for i := range w.oldChain {
		c := &w.oldChain[i]
		if !reuse.chain {
			c = new(cell)
		}
		c.next, c.body[i%4] = head, x
		head = c
	}
	w.chain = head
}

// page makes a buffer of 4 KiB without pointers.
//
//go:noinline
func page(w *worker, x uint64) {
	p := w.oldPage[:]
	if !reuse.page {
		p = make([]byte, 4096)
	}
	for i := 0; i < len(p); i += 64 {
		p[i] = byte(x)
	}
	w.page = p
}

// names makes eight objects of 40 bytes, 48 with the size class, without pointers.
//
//go:noinline
func names(w *worker, x uint64) {
	for i := range w.names {
		n := w.oldNames[i][:]
		if !reuse.names {
			n = make([]byte, 40)
		}
		n[i] = byte(x)
		w.names[i] = n
	}
}

// index makes one object of 512 bytes, all pointers.
//
//go:noinline
func index(w *worker, x uint64) {
	t := w.oldIndex[:]
	if !reuse.index {
		t = make([]*cell, 64)
	}
	t[x%64] = w.chain
	w.index = t
}

// compute is work that allocates nothing.
//
//go:noinline
func compute(x uint64, steps int) uint64 {
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

func main() {
	iterations := flag.Int64("iterations", 100_000, "iterations of work")
	depth := flag.Int("live", 18, "depth of the live tree, 2^(depth+1) objects of 48 bytes")
	steps := flag.Int("steps", 300, "plain work in an iteration, about 1 ns a step")
	without := flag.String("without", "", "places that reuse memory: chain,page,names,index")
	profiles := flag.String("profiles", "", "write profiles to this path with .cpu, .before and .after")
	flag.Parse()
	places := strings.Split(*without, ",")
	reuse.chain = slices.Contains(places, "chain")
	reuse.page = slices.Contains(places, "page")
	reuse.names = slices.Contains(places, "names")
	reuse.index = slices.Contains(places, "index")

	live := grow(*depth)
	if *profiles == "" {
		work(*iterations, *steps)
	} else {
		heap(*profiles + ".before")
		cpu := create(*profiles + ".cpu")
		check(pprof.StartCPUProfile(cpu))
		work(*iterations, *steps)
		pprof.StopCPUProfile()
		check(cpu.Close())
		heap(*profiles + ".after")
	}
	runtime.KeepAlive(live)
}

// work shares the iterations between as many goroutines as can run at once, so that
// none is left idle for free marking.
func work(iterations int64, steps int) {
	var done atomic.Int64
	var all sync.WaitGroup
	for i := range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			const batch = 100
			w, x := new(worker), uint64(i)+1
			for done.Add(batch) <= iterations {
				for range batch {
					x = compute(x, steps)
					chain(w, x)
					page(w, x)
					names(w, x)
					index(w, x)
				}
			}
		})
	}
	all.Wait()
}

// heap writes a heap profile that is up to date.
func heap(name string) {
	runtime.GC()
	f := create(name)
	check(pprof.Lookup("heap").WriteTo(f, 0))
	check(f.Close())
}

func create(name string) *os.File {
	f, err := os.Create(name)
	check(err)
	return f
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
