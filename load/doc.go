// Package load sends HTTP requests on a schedule and measures what comes back.
//
// It exists because most load generators flatter a server that stalls: a fixed
// number of workers wait with the server, send nothing meanwhile, and so report
// a 99th percentile that is tens of times too low. The one decision that
// shapes this package: by schedule, the time at which a request is due is a pure
// function of its number (Schedule), and latency counts from there. Neither a
// late sender nor a stalled server can move it. Beside Latency (done − due) stand
// Service (done − sent) and Lag (sent − due), the generator's own error, and a
// Verdict in words on whether the figures describe the service or the generator.
//
// Without a rate the load is a closed loop, flat out. It then knows service
// times only and says so: Latency is nil.
//
// The hot path is an HTTP/1.1 client of its own over net.Conn: a request is
// bytes built once, an answer is parsed for its status and its framing and
// then forgotten; latencies go into histograms. So memory does not grow with the
// load, and a request costs about what the kernel takes for it.
//
// It refuses to follow redirects, to keep answers, to retry what failed (it
// counts it), to leave out of a percentile what was due and not answered, and to
// speak HTTP/2 or through proxies.
package load
