//go:build unix

package load

import "syscall"

var errnos = []struct {
	errno syscall.Errno
	kind  ErrorKind
}{
	{syscall.ECONNREFUSED, ErrRefused},
	{syscall.ECONNRESET, ErrReset},
	{syscall.EPIPE, ErrReset},
	{syscall.ECONNABORTED, ErrReset},
	{syscall.ETIMEDOUT, ErrTimeout},
	{syscall.EMFILE, ErrFiles},
	{syscall.ENFILE, ErrFiles},
	{syscall.EADDRNOTAVAIL, ErrPorts},
	{syscall.EHOSTUNREACH, ErrUnreachable},
	{syscall.ENETUNREACH, ErrUnreachable},
}
