package target

import (
	"os"
	"runtime"
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
	fresh := make([]byte, pages*os.Getpagesize())
	for i := 0; i < len(fresh); i += os.Getpagesize() {
		fresh[i] = 1
	}
	after, err := usageOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(fresh)
	if n := after.PageFaults - before.PageFaults; n < pages/600 { // a huge page is one fault for 512 pages
		t.Errorf("%d page faults for %d pages", n, pages)
	}
	if after.SystemSeconds > after.CPUSeconds || after.SystemSeconds < before.SystemSeconds {
		t.Errorf("%v s in the kernel of %v s, %v before", after.SystemSeconds, after.CPUSeconds, before.SystemSeconds)
	}
}
