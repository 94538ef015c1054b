//go:build unix

package main

import (
	"slices"

	"golang.org/x/sys/unix"
)

// closed reports whether nobody can read any more what is written to one of some descriptors.
func closed(fds ...int) bool {
	return slices.ContainsFunc(fds, func(fd int) bool {
		p := []unix.PollFd{{Fd: int32(fd)}}
		for {
			n, err := unix.Poll(p, 0)
			if err != unix.EINTR {
				return err == nil && n > 0 && p[0].Revents&unix.POLLERR != 0
			}
		}
	})
}
