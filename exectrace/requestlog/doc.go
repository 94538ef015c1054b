// Package requestlog holds package requests to account: a service whose listener is wrapped by [Listener]
// logs each read and write of its connections into its execution trace, and [Fold] tells
// from these logs alone how many requests were answered and how long each took.
//
// A request is from the first read of its connection after the answer before to the last write before the next
// read. That holds for HTTP/1 without pipelining.
package requestlog
