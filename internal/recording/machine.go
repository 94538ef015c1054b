package recording

// ThisMachine reads what is known about the machine that this process runs on. What cannot be read
// stays zero and is left out of the manifest. The caller fills Throttled, as the difference of two
// readings of [Throttled].
func ThisMachine() Machine { return thisMachine() }

// Throttled returns the seconds for which the CPU quota held back the processes of this process's
// cgroup, since the cgroup was created. Only differences mean anything. It returns false where
// there is no such count: outside Linux, and without the cpu controller.
func Throttled() (seconds float64, ok bool) { return throttled() }

// CPUTime is how a machine's cores have spent their time since boot, all cores together, in
// seconds. Only differences mean anything.
type CPUTime struct {
	Busy   float64 // with everything that ran, and Stolen
	Stolen float64 // ready to run, while the hypervisor ran something else
}

// MachineCPU reads the machine's CPU time. It returns false where there is no such count: outside
// Linux.
func MachineCPU() (CPUTime, bool) { return machineCPU() }

// Clocks are the frequencies at which a machine's cores run at one moment, in MHz.
type Clocks struct {
	Low, High float64 // of the slowest and the fastest core
	Governor  string  // that chooses them: "performance", "powersave"; of the first core
}

// ReadClocks reads the frequencies. It returns false where the system does not report them: outside
// Linux, and in most virtual machines.
func ReadClocks() (Clocks, bool) { return clocks() }
