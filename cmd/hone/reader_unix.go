//go:build unix

package main

import (
	"slices"

	"golang.org/x/sys/unix"
)

// closed reports whether the reader of one of the descriptors has closed its end.
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
