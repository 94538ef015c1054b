// Package requests finds the requests that a Go server handled in its execution trace, without
// instrumentation, and says where their time went.
//
// A request is found by the stacks of its goroutine, never by its waits: a connection whose next
// request is already there does not wait, and one that waits may receive nothing. One decision
// shapes the package: all state of a request is kept on its goroutine while it runs, and is reduced
// to a few sums when it ends. So memory is bounded by live goroutines, distinct stacks and a fixed
// number of requests that are kept: the slowest, and a random sample of each class of latency.
//
// What is a request:
//
//   - HTTP/1 (net/http, and github.com/valyala/fasthttp, which fiber uses): from the last read
//     of the connection before the handler (from the wake-up by the network, if the connection
//     waited for it) to the return of the last write of the response. Reads of the body and
//     writes of the response are inside. Pipelined requests that arrive with one read begin
//     when the one before is answered: nothing in the trace shows how long they waited for it.
//     Those that fasthttp answers with one write are one request.
//   - HTTP/2 (net/http, golang.org/x/net/http2) and gRPC (google.golang.org/grpc): the life of
//     the stream's goroutine. What the connection's goroutines do before and after belongs to
//     no stream. A gRPC call that arrives through net/http counts as gRPC.
//   - Below http.TimeoutHandler, with HTTP/1 and HTTP/2: the handler runs on a goroutine of its
//     own, which names the route.
//   - Otherwise a user task (runtime/trace.NewTask): from its start to its end, with what the
//     goroutine did that started it.
//
// Each request has three durations: its latency, as above; the time in which it was served, which
// excludes the time until it was read, as a logger on its connection would; and the time in its
// handler, which includes the few microseconds that the server needs around the handler. The parts
// of a request sum exactly to its latency. While it waits for a goroutine that it started, its
// parts are what that goroutine did; of several, the one that ended the wait. What others did at
// the same time is in no part; a [Path] follows all of them.
//
// The package refuses to guess: a request whose start or end is not in the trace is counted but not
// measured, and a handler in which nothing happened that the tracer records has no name.
package requests
