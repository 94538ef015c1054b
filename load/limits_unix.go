//go:build unix

package load

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// openFiles returns the limit of open files of this process. Package os raises the soft limit to
// the hard limit at start (since Go 1.19) and restores it for child processes, which a call of
// Setrlimit here would prevent.
func openFiles() (uint64, bool) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, false
	}
	return uint64(l.Cur), true
}

// ephemeralPorts returns the number of ephemeral ports, which limits the connections to one address
// and port. It is known only on Linux.
func ephemeralPorts() (int, bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, false
	}
	var low, high int
	if _, err := fmt.Fscan(bytes.NewReader(text), &low, &high); err != nil || high < low {
		return 0, false
	}
	return high - low + 1, true
}
