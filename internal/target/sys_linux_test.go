package target

import (
	"os"
	"syscall"
	"testing"
)

// TestFaultsAreWorkOfTheKernel: the first access to each page is a fault, and faults are work of
// the kernel.
func TestFaultsAreWorkOfTheKernel(t *testing.T) {
	before, err := usageOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	const pages = 5000
	// The heap can have pages that earlier tests accessed.
	fresh, err := syscall.Mmap(-1, 0, pages*os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(fresh)
	for i := 0; i < len(fresh); i += os.Getpagesize() {
		fresh[i] = 1
	}
	after, err := usageOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if n := after.PageFaults - before.PageFaults; n < pages/600 { // a huge page is one fault for 512 pages
		t.Errorf("%d page faults for %d pages", n, pages)
	}
	if after.SystemSeconds > after.CPUSeconds || after.SystemSeconds < before.SystemSeconds {
		t.Errorf("%v s in the kernel of %v s, %v before", after.SystemSeconds, after.CPUSeconds, before.SystemSeconds)
	}
}
