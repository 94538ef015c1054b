package tunegc

import (
	"os"
	"runtime"
	"slices"
	"syscall"
)

// touched is how much memory faultCost touches, in bytes.
const touched = 32 << 20

// faultCost measures what the first use of a page of fresh memory costs on this machine, in CPU
// seconds: the page fault and zeroing the page. It returns the median of several attempts. Some
// machines need 0.2 µs, some virtual ones 2 µs.
func faultCost() (seconds float64, ok bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var costs []float64
	for range 5 {
		memory, err := syscall.Mmap(-1, 0, touched, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return 0, false
		}
		began, ok := threadCPU()
		for i := 0; i < touched; i += os.Getpagesize() {
			memory[i] = 1
		}
		ended, ok2 := threadCPU()
		if err := syscall.Munmap(memory); err != nil || !ok || !ok2 {
			return 0, false
		}
		costs = append(costs, (ended-began)/float64(touched/os.Getpagesize()))
	}
	slices.Sort(costs)
	return costs[len(costs)/2], costs[len(costs)/2] > 0
}

// threadCPU returns the CPU time of the calling thread, in seconds.
func threadCPU() (float64, bool) {
	const rusageThread = 1 // RUSAGE_THREAD of getrusage(2)
	var ru syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &ru); err != nil {
		return 0, false
	}
	return float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e9, true
}
