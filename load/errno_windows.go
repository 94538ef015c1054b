package load

import (
	"syscall"

	"golang.org/x/sys/windows"
)

var errnos = []struct {
	errno syscall.Errno
	kind  ErrorKind
}{
	{windows.WSAECONNREFUSED, ErrRefused},
	{windows.WSAECONNRESET, ErrReset},
	{windows.WSAECONNABORTED, ErrReset},
	{windows.WSAETIMEDOUT, ErrTimeout},
	{windows.WSAEMFILE, ErrFiles},
	{windows.WSAEADDRNOTAVAIL, ErrPorts},
	{windows.WSAENOBUFS, ErrPorts},
	{windows.WSAEHOSTUNREACH, ErrUnreachable},
	{windows.WSAENETUNREACH, ErrUnreachable},
}
