package profile

import (
	"syscall"
	"unsafe"
)

// hugePage is the usual size of a huge page, in bytes.
const hugePage = 2 << 20

// preferHuge asks the kernel to back fresh memory with huge pages: a fault for each 4 KiB of a column of a
// hundred megabytes costs some percent of decoding it. Advice that is not taken changes nothing.
func preferHuge(ids []int32) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(ids))), 4*cap(ids))
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) % hugePage; at != 0 {
		b = b[min(hugePage-int(at), len(b)):]
	}
	if b = b[:len(b)&^(hugePage-1)]; len(b) > 0 {
		syscall.Madvise(b, syscall.MADV_HUGEPAGE)
	}
}
