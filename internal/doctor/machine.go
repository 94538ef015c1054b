package doctor

import (
	"fmt"
	"go/version"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/hone-go/hone/internal/recording"
)

func judgeSystem(m recording.Machine) Check {
	words := []string{strings.TrimSpace(runtime.GOOS + " " + m.Kernel), runtime.GOARCH}
	if m.CPU != "" {
		words = append(words, m.CPU)
	}
	if m.MemoryBytes > 0 {
		memory := fmt.Sprintf("%.1f GiB of memory", float64(m.MemoryBytes)/(1<<30))
		if m.CgroupBytes > 0 {
			memory += fmt.Sprintf(", limited to %.1f GiB", float64(m.CgroupBytes)/(1<<30))
		}
		words = append(words, memory)
	}
	return ok("system", strings.Join(words, ", "))
}

// readProc reads the figures of this process, in the same way as those of a target.
func readProc() error {
	_, err := os.ReadFile("/proc/self/stat")
	return err
}

func judgeProc(goos string, err error) Check {
	const name = "/proc"
	switch {
	case goos != "linux":
		return ok(name, "none on "+goos+": a program with hone's probe reports its own CPU time and largest memory; for a program without the probe, neither is known before it exits")
	case err != nil:
		return warn(name, fmt.Sprintf("%v: the memory of a running program cannot be read, nor the CPU time of one without hone's probe", err), "mount -t proc proc /proc")
	}
	return ok(name, "readable, so CPU time and memory of running programs are known")
}

// judgeCores checks the cores and the CPU quota. target is the Go version that builds targets, ""
// when unknown.
func judgeCores(m recording.Machine, maxprocs int, target string) Check {
	const name = "cores"
	detail := fmt.Sprintf("%d, GOMAXPROCS %d", m.Cores, maxprocs)
	usable := float64(m.Cores)
	if m.CgroupCPUs > 0 {
		detail += fmt.Sprintf(", quota %.3g CPUs", m.CgroupCPUs)
		usable = min(usable, m.CgroupCPUs)
	}
	// The runtime rounds a quota up, and not below 2.
	wanted := max(2, int(math.Ceil(usable)))
	switch {
	case maxprocs > wanted && usable < float64(m.Cores):
		return warn(name, detail+": more threads run than the quota allows, and all of them are stopped when it is used up",
			fmt.Sprintf("set GOMAXPROCS=%d", wanted))
	case usable < float64(m.Cores) && version.IsValid(target) && version.Compare(target, quotaAware) < 0:
		return warn(name, detail+fmt.Sprintf(": a program built by %s does not see the quota and starts %d threads", target, m.Cores),
			fmt.Sprintf("set GOMAXPROCS=%d for it, or build it with %s or newer", wanted, quotaAware))
	case usable < 2:
		return warn(name, detail+": load generator and program alternate; latencies include both",
			"give it two cores or more, or send the load from another machine to a running service")
	case usable < 4:
		return ok(name, detail+": load generator and program share them")
	}
	return ok(name, detail)
}

func judgeThrottling(during, total float64, known bool) Check {
	const name = "throttling"
	switch {
	case !known:
		return ok(name, "this system keeps no count of CPU throttling")
	case during > 0:
		return warn(name, fmt.Sprintf("throttled by the CPU quota for %.3g s during these checks", during),
			"raise the quota, or measure with a load that stays below it")
	case total > 0:
		return ok(name, fmt.Sprintf("none during these checks; %.3g s since the control group was created", total))
	}
	return ok(name, "none")
}

// loadAverage is the number of running and waiting threads, over a minute.
type loadAverage struct {
	value float64
	err   error
}

// judgeLoad warns from 0.3 threads per core on: with so many other threads, runs differ from each
// other by more than most changes of a program.
func judgeLoad(l loadAverage, cores int) Check {
	const name, busy = "other load", 0.3
	if l.err != nil {
		return ok(name, fmt.Sprintf("unknown: %v", l.err))
	}
	detail := fmt.Sprintf("load average %.2f on %d cores over the last minute", l.value, cores)
	if l.value > busy*float64(cores) {
		return warn(name, detail+": other programs share the cores, and figures will differ from run to run",
			"stop the other programs, or wait a minute if that was hone itself")
	}
	return ok(name, detail)
}
