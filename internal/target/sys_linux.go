package target

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithHone makes the kernel kill the process when the thread that started it ends, which it does
// with hone, however hone exits. Children of the process are not covered.
func dieWithHone(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }

// residentSize is a process's resident memory in bytes, 0 when it cannot be read.
func residentSize(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// clockTick is the unit of CPU time in /proc: USER_HZ, 100 per second on every
// architecture that Go runs on.
const clockTick = 100

// usageOf reads a process's usage from /proc, in steps of 10 ms.
func usageOf(pid int) (Usage, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, &Missing{What: "CPU time", Why: err.Error()}
	}
	// The second field is the name in parentheses, which may contain anything.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	var n [5]int64 // minflt, utime, stime, cutime, cstime of proc_pid_stat(5)
	for i, at := range []int{7, 11, 12, 13, 14} {
		if at < len(fields) {
			n[i], err = strconv.ParseInt(fields[at], 10, 64)
		}
		if at >= len(fields) || err != nil {
			return Usage{}, &Missing{What: "CPU time", Why: fmt.Sprintf("/proc/%d/stat is not understood", pid)}
		}
	}
	return Usage{
		CPUSeconds:      float64(n[1]+n[2]) / clockTick,
		RSSBytes:        residentSize(pid),
		MaxRSS:          highWater(pid),
		SystemSeconds:   float64(n[2]) / clockTick,
		PageFaults:      n[0],
		ChildCPUSeconds: float64(n[3]+n[4]) / clockTick,
	}, nil
}

// highWater is the largest resident size so far in bytes, 0 when it cannot be read.
func highWater(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb * 1024
		}
	}
	return 0
}

// punchHole frees the blocks of n bytes of the file, which read as zeros then; its size stays.
func punchHole(f *os.File, from, n int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, n)
}
