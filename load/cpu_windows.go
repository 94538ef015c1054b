package load

import "golang.org/x/sys/windows"

// cpuSeconds returns the CPU time of this process, user and system.
func cpuSeconds() float64 {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	ticks := func(f windows.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return float64(ticks(kernel)+ticks(user)) / 1e7 // of 100 ns
}
