package servers

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile/symbol"
)

// Place is the step of serving a request at which a stack is.
type Place uint8

// The places.
const (
	Nowhere       Place = iota // the stack says nothing
	ReadHead                   // HTTP/1: reads a request's head, or waits for it
	ReadBody                   // fasthttp: reads the body of a request that expects 100-continue
	CallHandler                // HTTP/1: about to call the handler
	InHandler                  // in the handler or in what it calls, of any protocol
	WriteRest                  // HTTP/1: the handler has returned; writes the rest of the response
	AfterResponse              // HTTP/1: the response is written
	StreamDone                 // HTTP/2: the handler has returned
	CarriesGRPC                // HTTP/2: waits for a gRPC call, which has a goroutine of its own
	WorkerIdle                 // a worker waits for the next stream (gRPC) or connection (fasthttp)
)

// Role is what a goroutine does for requests.
type Role uint8

// The roles. The first three serve requests by a protocol.
const (
	NoRole   Role = iota
	HTTP1         // serves a connection by HTTP/1
	HTTP2         // serves a stream of HTTP/2
	GRPC          // serves a call of gRPC
	Started       // does the program's work, if a request's goroutine started it
	Delegate      // runs the handler below http.TimeoutHandler
)

// The functions by which a server's stacks are recognized. They are from net/http/server.go and
// h2_bundle.go (Go 1.22 to 1.26), golang.org/x/net/http2/server.go,
// google.golang.org/grpc/server.go, and server.go and workerpool.go of github.com/valyala/fasthttp.
const (
	h1Serve   = "net/http.(*conn).serve"
	h1Handler = "net/http.serverHandler.ServeHTTP"
	grpcRun   = "google.golang.org/grpc.(*Server).handleStream"
	grpcHTTP  = "google.golang.org/grpc.(*Server).ServeHTTP" // below a server of net/http
	grpcIdle  = "google.golang.org/grpc.(*Server).serverWorker"
	// The goroutine of a stream is a closure of serveStreams.
	grpcStream = "google.golang.org/grpc.(*Server).serveStreams.func"

	fastHTTP   = "github.com/valyala/fasthttp"
	fastServe  = fastHTTP + ".(*Server).serveConn"
	fastIdle   = fastHTTP + ".(*workerPool).workerFunc"
	fastWorker = fastHTTP + ".(*workerPool).getCh.func"
)

// TimeoutHandler starts a goroutine for the handler that it wraps (net/http/server.go).
const TimeoutHandler = "net/http.(*timeoutHandler).ServeHTTP"

// isDelegate reports whether a goroutine that starts with function runs the handler of the request
// that created it.
func isDelegate(function string) bool { return strings.HasPrefix(function, TimeoutHandler+".func") }

// isStarted reports whether a goroutine that starts with function does the program's work. Those of
// the standard library serve connections, timers and the like, except coroutines (iter.Pull).
func isStarted(function string) bool {
	return exectrace.IsWrapper(function) || function == "runtime.corostart" || !symbol.Standard(symbol.Package(function))
}

// isStream reports whether function is the first of an HTTP/2 stream's goroutine.
func isStream(function string) bool {
	return function == "net/http.(*http2serverConn).runHandler" ||
		strings.HasSuffix(function, "/http2.(*serverConn).runHandler")
}

// Classify returns the place of a stack, leaf first, the role of its goroutine, and the handlers
// that the server called, outermost first.
func Classify(frames []exectrace.Frame) (place Place, role Role, handlers []string) {
	for i := len(frames) - 1; i >= 0; i-- {
		switch f := frames[i].Func; {
		case f == h1Serve:
			place, handlers = classifyH1(frames[:i])
			return place, HTTP1, handlers
		case isStream(f):
			place, handlers = classifyStream(frames[:i])
			return place, HTTP2, handlers
		case f == fastServe:
			place, handlers = classifyFast(frames[:i])
			return place, HTTP1, handlers
		case f == fastIdle:
			if !Calls(frames[:i], fastServe) {
				return WorkerIdle, HTTP1, nil
			}
		case isDelegate(f):
			return InHandler, Delegate, httpRoute(frames[:i])
		case f == grpcRun:
			return InHandler, GRPC, grpcRoute(frames[:i])
		case f == grpcIdle:
			if !Calls(frames[:i], grpcRun) {
				return WorkerIdle, GRPC, nil
			}
		}
	}
	return Nowhere, NoRole, nil
}

// classifyH1 classifies what (*conn).serve called. A handler that reads its body calls
// (*connReader).Read too, so the outermost call decides.
func classifyH1(frames []exectrace.Frame) (Place, []string) {
	if len(frames) == 0 {
		return Nowhere, nil
	}
	switch next := frames[len(frames)-1].Func; next {
	case h1Handler:
		return InHandler, httpRoute(frames[:len(frames)-1])
	case "net/http.(*conn).readRequest", "bufio.(*Reader).Peek":
		return ReadHead, nil
	case "net/http.(*connReader).startBackgroundRead":
		return CallHandler, nil
	case "net/http.(*response).finishRequest":
		if Calls(frames, "net/http.(*connReader).abortPendingRead") {
			return AfterResponse, nil
		}
		return WriteRest, nil
	}
	return Nowhere, nil // the handshake, the states of the connection, and HTTP/2's own loop
}

// classifyFast classifies what (*Server).serveConn of fasthttp called: a server's function or a
// handler.
func classifyFast(frames []exectrace.Frame) (Place, []string) {
	if len(frames) == 0 {
		return Nowhere, nil
	}
	next := frames[len(frames)-1].Func
	own, isOwn := strings.CutPrefix(next, fastHTTP+".")
	switch {
	case next == "bufio.(*Reader).Peek", own == "acquireByteReader", strings.HasPrefix(own, "(*RequestHeader)."):
		return ReadHead, nil
	case strings.HasPrefix(own, "(*Request).ContinueReadBody"):
		return ReadBody, nil
	case next == "bufio.(*Writer).Flush", own == "writeResponse", own == "(*Server).writeErrorResponse":
		return WriteRest, nil
	case isOwn && !strings.Contains(own, "andler"), symbol.Standard(symbol.Package(next)):
		return Nowhere, nil
	}
	return InHandler, httpRoute(frames)
}

// classifyStream classifies what the first function of an HTTP/2 stream's goroutine called.
func classifyStream(frames []exectrace.Frame) (Place, []string) {
	for i := len(frames) - 1; i >= 0; i-- {
		switch f := frames[i].Func; {
		case f == h1Handler:
			if Calls(frames[:i], grpcHTTP) {
				return CarriesGRPC, nil
			}
			return InHandler, httpRoute(frames[:i])
		case strings.HasSuffix(f, ".handlerDone"), strings.HasSuffix(f, ".sendServeMsg"):
			return StreamDone, nil
		}
	}
	return InHandler, httpRoute(frames) // a server of golang.org/x/net may call the handler itself
}

// Calls reports whether function is in a stack.
func Calls(frames []exectrace.Frame, function string) bool {
	for i := range frames {
		if frames[i].Func == function {
			return true
		}
	}
	return false
}

// RoleOf returns the role of a goroutine that starts with function.
func RoleOf(function string) Role {
	switch {
	case function == h1Serve, strings.HasPrefix(function, fastWorker):
		return HTTP1
	case isStream(function):
		return HTTP2
	case strings.HasPrefix(function, grpcStream):
		return GRPC
	case isDelegate(function):
		return Delegate
	case isStarted(function):
		return Started
	}
	return NoRole
}
