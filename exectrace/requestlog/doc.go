// Package requestlog checks the results of package requests. A service whose listener is wrapped by
// [Listener] logs each read and write of its connections into its execution trace. From these logs
// alone, [Fold] computes how many requests were answered and how long each took.
//
// A request lasts from the first read of its connection after the previous response to the last
// write before the next read. That holds for HTTP/1 without pipelining.
package requestlog
