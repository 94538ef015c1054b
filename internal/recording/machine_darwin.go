package recording

import (
	"runtime"

	"golang.org/x/sys/unix"
)

func thisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU()}
	m.CPU, _ = unix.Sysctl("machdep.cpu.brand_string")
	m.Kernel, _ = unix.Sysctl("kern.osrelease")
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		m.MemoryBytes = int64(n)
	}
	return m
}

func machineCPU() (CPUTime, bool) { return CPUTime{}, false }

// throttled returns false: macOS has no CPU quotas.
func throttled() (float64, bool) { return 0, false }

func clocks() (Clocks, bool) { return Clocks{}, false }
