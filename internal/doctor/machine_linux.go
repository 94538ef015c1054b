package doctor

import (
	"fmt"
	"os"
)

// readLoad reads proc_loadavg(5).
func readLoad() (l loadAverage) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return loadAverage{err: err}
	}
	if _, err := fmt.Sscan(string(text), &l.value); err != nil {
		return loadAverage{err: fmt.Errorf("/proc/loadavg: %w", err)}
	}
	return l
}

// readPorts reads ip(7), ip_local_port_range.
func readPorts() (p portRange) {
	const path = "/proc/sys/net/ipv4/ip_local_port_range"
	text, err := os.ReadFile(path)
	if err != nil {
		return portRange{err: err}
	}
	if _, err := fmt.Sscan(string(text), &p.first, &p.last); err != nil {
		return portRange{err: fmt.Errorf("%s: %w", path, err)}
	}
	return p
}
