// Package traceview reads an execution trace as often as a view of `hone trace` needs: once for
// nearly all of them, again for a path or a request that the first reading could not keep
// completely.
//
// The decision that shapes it: no view holds a trace in memory. A view that needs earlier events
// (the path of a request back through wake-ups) reads the trace again for them, so memory does not
// grow with the trace's length. For a trace that can be read only once (standard input, a service),
// views show the result of one reading.
package traceview
