package doctor

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// readLoad reads struct loadavg of <sys/resource.h>: three fixed-point
// averages and, after padding, their scale.
func readLoad() loadAverage {
	raw, err := unix.SysctlRaw("vm.loadavg")
	if err != nil {
		return loadAverage{err: fmt.Errorf("sysctl vm.loadavg: %w", err)}
	}
	if len(raw) < 24 {
		return loadAverage{err: fmt.Errorf("sysctl vm.loadavg: %d bytes, want 24", len(raw))}
	}
	scale := binary.LittleEndian.Uint64(raw[16:])
	if scale == 0 {
		return loadAverage{err: fmt.Errorf("sysctl vm.loadavg: scale 0")}
	}
	return loadAverage{value: float64(binary.LittleEndian.Uint32(raw)) / float64(scale)}
}

func readPorts() portRange {
	first, err := unix.SysctlUint32("net.inet.ip.portrange.first")
	if err != nil {
		return portRange{err: fmt.Errorf("sysctl net.inet.ip.portrange.first: %w", err)}
	}
	last, err := unix.SysctlUint32("net.inet.ip.portrange.last")
	if err != nil {
		return portRange{err: fmt.Errorf("sysctl net.inet.ip.portrange.last: %w", err)}
	}
	return portRange{first: int(first), last: int(last)}
}
