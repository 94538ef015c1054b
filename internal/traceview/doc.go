// Package traceview reads an execution trace as often as a view of `hone trace` needs: once for nearly all of them,
// again for a path or a request that the first reading could not keep whole.
//
// The decision that shapes it: no view holds a trace in memory. What needs something that is long past when it is
// asked for (the path of a request back through wake-ups) reads the trace again for that alone, so memory does not
// grow with the trace's length. A trace that can be read only once (standard input, a service) gives what one
// reading gives.
package traceview
