// Spin profiles itself for a moment and writes the profile to the file it is given.
package main

import (
	"os"
	"runtime/pprof"
	"syscall"
	"time"
)

// mix is inlined into work.
func mix(x uint64) uint64 {
	x = (x ^ x>>29) * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xbf58476d1ce4e5b9
	return x ^ x>>31
}

//go:noinline
func work(depth int, x uint64) uint64 {
	for range 3000 {
		x = mix(x)
	}
	if depth > 0 {
		x += work(depth-1, x)
	}
	return x
}

// spent is the CPU time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		panic(err)
	}
	x := uint64(1)
	// Enough CPU for some samples, also on a machine that is busy with other things.
	for start := time.Now(); spent() < 300*time.Millisecond && time.Since(start) < 10*time.Second; {
		x = work(3, x)
	}
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		panic(err)
	}
	println(x)
}
