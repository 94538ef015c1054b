package load

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
)

// ErrorKind is a kind of transport error: why a request got no response. Its text is for people and
// for JSON.
type ErrorKind string

// The kinds of transport errors.
const (
	ErrRefused     ErrorKind = "refused"             // no listener at the address
	ErrReset       ErrorKind = "reset"               // the peer reset the connection
	ErrTimeout     ErrorKind = "timeout"             // no connection or complete response within Options.Timeout
	ErrEOF         ErrorKind = "eof"                 // the peer closed the connection before the response was complete
	ErrMalformed   ErrorKind = "malformed"           // the response is not HTTP/1.x
	ErrFiles       ErrorKind = "too many open files" // this machine's limit
	ErrPorts       ErrorKind = "no free port"        // this machine's ephemeral ports are used up
	ErrUnreachable ErrorKind = "unreachable"         // no route to the host or network
	ErrDNS         ErrorKind = "dns"                 // the name does not resolve
	ErrTLS         ErrorKind = "tls"                 // handshake or certificate
	ErrTarget      ErrorKind = "bad target"          // a Targeter returned an invalid request
	ErrOther       ErrorKind = "other"
)

// kinds lists all kinds, so that workers can count them in an array.
var kinds = [...]ErrorKind{ErrRefused, ErrReset, ErrTimeout, ErrEOF, ErrMalformed,
	ErrFiles, ErrPorts, ErrUnreachable, ErrDNS, ErrTLS, ErrTarget, ErrOther}

// kindIndex returns the index into kinds of err's kind.
func kindIndex(err error) int { return slices.Index(kinds[:], kindOf(err)) }

// kindOf returns err's kind.
func kindOf(err error) ErrorKind {
	var (
		parse   malformed
		dns     *net.DNSError
		shake   tlsError
		alert   tls.AlertError
		timeout net.Error
		target  badTarget
	)
	for _, e := range errnos {
		if errors.Is(err, e.errno) {
			return e.kind
		}
	}
	switch {
	case errors.As(err, &parse):
		return ErrMalformed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return ErrEOF
	case errors.As(err, &target):
		return ErrTarget
	case errors.As(err, &dns):
		return ErrDNS
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrTimeout
	case errors.As(err, &shake), errors.As(err, &alert):
		return ErrTLS
	}
	return ErrOther
}

// advice returns what to do about a kind of error, or "".
func advice(kind ErrorKind) string {
	switch kind {
	case ErrRefused:
		return "nothing listens there: start the service, or check the port"
	case ErrTimeout:
		return "the service did not answer in time: a handler may hang; check the address, or allow more time with -timeout"
	case ErrEOF, ErrReset:
		return "the service closed the connection without an answer: a handler that panics does that; else check that it speaks HTTP on this port (https?)"
	case ErrMalformed:
		return "that is not HTTP/1.1: check the port (gRPC, a database?), or write https:// if it speaks TLS"
	case ErrFiles:
		return "raise the limit of open files (ulimit -n) or use fewer connections"
	case ErrPorts:
		return "this machine has no free port left: use fewer connections, or keep-alive on the service"
	case ErrUnreachable:
		return "there is no route to that host: check the network"
	case ErrDNS:
		return "check the host's name"
	case ErrTLS:
		return "check that the port speaks TLS and that its certificate is trusted (-ca, or -insecure for a test)"
	}
	return ""
}
