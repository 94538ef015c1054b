package probe

import (
	hone0os "os"
	hone0syscall "syscall"
)

// hone0open takes the two pipes that the program inherited from hone.
func hone0open(in, out int) (*hone0os.File, *hone0os.File) {
	for _, h := range []int{in, out} {
		kind, err := hone0syscall.GetFileType(hone0syscall.Handle(h))
		if err != nil || kind != hone0syscall.FILE_TYPE_PIPE {
			return nil, nil
		}
		hone0syscall.SetHandleInformation(hone0syscall.Handle(h), hone0syscall.HANDLE_FLAG_INHERIT, 0)
	}
	return hone0os.NewFile(uintptr(in), "hone"), hone0os.NewFile(uintptr(out), "hone")
}

// hone0usage is the CPU time (ns) so far; the largest resident size is not known.
func hone0usage() (cpu, maxRSS int64) {
	self, err := hone0syscall.GetCurrentProcess()
	if err != nil {
		return 0, 0
	}
	var created, ended, kernel, user hone0syscall.Filetime
	if hone0syscall.GetProcessTimes(self, &created, &ended, &kernel, &user) != nil {
		return 0, 0
	}
	return hone0ticks(kernel) + hone0ticks(user), 0
}

// hone0peak does not know the largest resident size.
func hone0peak() int64 { return 0 }

// hone0account knows nothing: the kernel's account of the program has its children not in it.
func hone0account() (children, system, faults int64) { return 0, 0, 0 }

// hone0ticks is a length of time in a Filetime, in ns.
func hone0ticks(t hone0syscall.Filetime) int64 {
	return (int64(t.HighDateTime)<<32 | int64(t.LowDateTime)) * 100
}

// hone0die ends the program; its children go with hone's job object.
func hone0die() {
	if self, err := hone0syscall.GetCurrentProcess(); err == nil {
		hone0syscall.TerminateProcess(self, 1)
	}
}
