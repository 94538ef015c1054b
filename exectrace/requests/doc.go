// Package requests finds the requests that a Go server handled in its execution trace,
// without instrumentation, and says where their time went.
//
// A request is found by the stacks of its goroutine, never by its waits: a connection whose next
// request is there already does not wait, and one that waits may get nothing. One decision
// shapes the package: everything that is known about a request is kept on its goroutine
// while it runs, and becomes a few sums when it ends. So memory is bounded by live goroutines,
// different stacks and a fixed number of requests kept for questions: the slowest, and a
// random sample of each class of latency.
//
// What is a request:
//
//   - HTTP/1 (net/http, and github.com/valyala/fasthttp, which fiber serves by): from the last
//     read of the connection before the handler (from the wake-up by the network, when the
//     connection waited for it) to the return of the last write of the response. Reads of the
//     body and writes of the response are inside. Pipelined requests that come in with one read
//     begin when the one before is answered: nothing in the trace shows how long they waited for
//     it. Those that fasthttp answers with one write are one request.
//   - HTTP/2 (net/http, golang.org/x/net/http2) and gRPC (google.golang.org/grpc): the
//     life of the stream's goroutine. What happens on the connection's goroutines, before
//     and after, belongs to no stream. A call of gRPC that comes through net/http counts as one of gRPC.
//   - Below http.TimeoutHandler, of HTTP/1 and HTTP/2: the handler runs on a goroutine of its own, which names the
//     route.
//   - Elsewhere a user task (runtime/trace.NewTask): from its begin to its end, with
//     what the goroutine did that began it.
//
// Every request has three durations: its latency, as above; the time in which it was served,
// which leaves out the time until it was read, as a logger on its connection would; and the time in
// its handler, which is longer than what the handler could log by the few microseconds that the
// server takes around it. The parts of a request sum to its latency exactly. While it waits for
// a goroutine that it started itself, parts are what that one did: of several that it waits for, the one that let it
// go on. What others did at the same time is in no part; its [Path] follows all.
//
// The package refuses to guess: a request whose begin or end is not in the trace is counted but
// not measured, and a handler in which nothing happened that the tracer records has no name.
package requests
