// Package servers says what a stack tells about the request that its goroutine serves: how far the
// request has come, by which protocol it came and which handlers the server called. It depends on
// function names alone, and knows the servers of net/http, golang.org/x/net/http2,
// google.golang.org/grpc and github.com/valyala/fasthttp.
package servers
