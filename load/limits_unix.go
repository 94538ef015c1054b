//go:build unix

package load

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// openFiles returns how many files this process may have open. The soft limit is
// at the hard one already: package os raises it at start (Go 1.19), and lowers
// it again for children, which a call of Setrlimit here would undo.
func openFiles() (uint64, bool) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, false
	}
	return uint64(l.Cur), true
}

// ephemeralPorts returns how many local ports the kernel hands out by itself,
// which bounds the connections to one address and port. Only Linux tells.
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
