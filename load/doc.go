// Package load sends HTTP requests on a schedule and measures what comes back.
//
// Many load generators hide stalls of a server (coordinated omission): a fixed number of workers
// wait for the server, send nothing meanwhile, and report a 99th percentile that is far too low. In
// this package the time at which a request is due is a function of its number ([Schedule]), and
// latency counts from that time. Neither a late sender nor a stalled server can move it. A [Result]
// has Latency (done − due), Service (done − sent), Lag (sent − due), which is the generator's own
// error, and a Verdict that says whether the figures describe the service or the generator.
//
// Without a rate the load is a closed loop that sends as fast as the server answers. It measures
// only service times: Latency is nil.
//
// The hot path is a minimal HTTP/1.1 client over net.Conn. The bytes of a request are built once. A
// response is parsed for its status and framing and then discarded. Latencies go into histograms.
// So memory does not grow with the load, and most of the CPU time of a request is the kernel's.
//
// The package does not follow redirects, keep responses or retry failed requests (it counts them).
// Percentiles include requests that were due and not answered. It does not support HTTP/2 or
// proxies.
package load
