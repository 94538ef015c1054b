//go:build unix

package probe

import (
	hone0os "os"
	hone0runtime "runtime"
	hone0strconv "strconv"
	hone0strings "strings"
	hone0syscall "syscall"
)

// hone0open takes the socket that the program inherited from hone. It must not be inherited by
// the program's children, and it is read through the poller, which costs no thread.
func hone0open(in, out int) (*hone0os.File, *hone0os.File) {
	hone0syscall.CloseOnExec(in)
	if err := hone0syscall.SetNonblock(in, true); err != nil {
		return nil, nil
	}
	f := hone0os.NewFile(uintptr(in), "hone")
	st, err := f.Stat()
	if err != nil || st.Mode()&hone0os.ModeSocket == 0 || in != out {
		return nil, nil
	}
	return f, f
}

// hone0usage is the CPU time (ns) and the largest resident size (bytes) so far. On Linux, the size
// is at least that of the process that started this one, whose memory this one had until execve;
// see hone0peak.
func hone0usage() (cpu, maxRSS int64) {
	var ru hone0syscall.Rusage
	if hone0syscall.Getrusage(hone0syscall.RUSAGE_SELF, &ru) != nil {
		return 0, 0
	}
	maxRSS = int64(ru.Maxrss)
	if hone0runtime.GOOS != "darwin" && hone0runtime.GOOS != "ios" {
		maxRSS *= 1024 // kilobytes everywhere but there
	}
	return ru.Utime.Nano() + ru.Stime.Nano(), maxRSS
}

// hone0peak returns the largest resident size (bytes) so far of this program alone; 0 if unknown.
func hone0peak() int64 {
	if hone0runtime.GOOS != "linux" {
		_, size := hone0usage()
		return size
	}
	text, err := hone0os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range hone0strings.Split(string(text), "\n") {
		if words := hone0strings.Fields(line); len(words) == 3 && words[0] == "VmHWM:" {
			kilobytes, _ := hone0strconv.ParseInt(words[1], 10, 64)
			return kilobytes * 1024
		}
	}
	return 0
}

// hone0account returns the CPU time (ns) of the children that the program has waited for, its own
// in the kernel (ns), and its page faults that read nothing from a disk.
func hone0account() (children, system, faults int64) {
	var self, waited hone0syscall.Rusage
	if hone0syscall.Getrusage(hone0syscall.RUSAGE_SELF, &self) != nil ||
		hone0syscall.Getrusage(hone0syscall.RUSAGE_CHILDREN, &waited) != nil {
		return 0, 0, 0
	}
	return waited.Utime.Nano() + waited.Stime.Nano(), self.Stime.Nano(), int64(self.Minflt)
}

// hone0die ends the program and, as it leads the process group that hone made for
// it, its children.
func hone0die() {
	pid := hone0syscall.Getpid()
	if hone0syscall.Getpgrp() == pid {
		hone0syscall.Kill(-pid, hone0syscall.SIGKILL)
	}
	hone0syscall.Kill(pid, hone0syscall.SIGKILL)
}
