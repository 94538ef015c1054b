package requests

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile/symbol"
)

// place is where in the life of a request a stack stands.
type place uint8

const (
	nowhere     place = iota // no information
	h1Read                   // the connection's goroutine reads a request's head, or waits for it
	h1Body                   // fasthttp: reads the body that a client sends once it was asked to
	h1Start                  // about to call the handler
	inHandler                // below the handler, of whatever protocol
	h1Finish                 // writes what is left of the response
	h1After                  // the response is written: tidies up
	streamDone               // HTTP/2: the handler has returned
	carriesGRPC              // HTTP/2: waits for a call of gRPC, which has a goroutine of its own
	workerIdle               // a worker waits for the next stream (gRPC) or connection (fasthttp)
)

// class is what a stack says about the request of its goroutine. Stacks are classed once.
type class struct {
	place place
	depth uint8  // inHandler: twice how many handlers wrap each other, less one in doubt; the deepest names the route best
	name  uint16 // inHandler: the route, a place in Fold.names; 0 when the stack does not tell
	gc    bool   // in the collector, which locks like others do
}

// The frames that requests are found by, all from the root towards the leaf. Read in
// net/http/server.go and h2_bundle.go (Go 1.22 to 1.26), golang.org/x/net/http2/server.go,
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

// isStream reports whether a function is the first of an HTTP/2 stream's goroutine.
func isStream(function string) bool {
	return function == "net/http.(*http2serverConn).runHandler" ||
		strings.HasSuffix(function, "/http2.(*serverConn).runHandler")
}

// classify says what a stack tells, leaf first, of which protocol the request is that it
// stands in, and the chain of handlers.
func classify(frames []exectrace.Frame) (pl place, p Protocol, chain []string) {
	for i := len(frames) - 1; i >= 0; i-- {
		switch f := frames[i].Func; {
		case f == h1Serve:
			pl, chain = classifyH1(frames[:i])
			return pl, HTTP1, chain
		case isStream(f):
			pl, chain = classifyStream(frames[:i])
			return pl, HTTP2, chain
		case f == fastServe:
			pl, chain = classifyFast(frames[:i])
			return pl, HTTP1, chain
		case f == fastIdle:
			if !contains(frames[:i], fastServe) {
				return workerIdle, HTTP1, nil
			}
		case isDelegate(f):
			return inHandler, delegated, httpRoute(frames[:i])
		case f == grpcRun:
			return inHandler, GRPC, grpcRoute(frames[:i])
		case f == grpcIdle:
			if !contains(frames[:i], grpcRun) {
				return workerIdle, GRPC, nil
			}
		}
	}
	return nowhere, 0, nil
}

// classifyH1 classes what (*conn).serve called. A handler that reads its body passes
// (*connReader).Read too, so it is the first call that counts.
func classifyH1(frames []exectrace.Frame) (place, []string) {
	if len(frames) == 0 {
		return nowhere, nil
	}
	switch next := frames[len(frames)-1].Func; next {
	case h1Handler:
		return inHandler, httpRoute(frames[:len(frames)-1])
	case "net/http.(*conn).readRequest", "bufio.(*Reader).Peek":
		return h1Read, nil
	case "net/http.(*connReader).startBackgroundRead":
		return h1Start, nil
	case "net/http.(*response).finishRequest":
		if contains(frames, "net/http.(*connReader).abortPendingRead") {
			return h1After, nil
		}
		return h1Finish, nil
	}
	return nowhere, nil // the handshake, the states of the connection, and HTTP/2's own loop
}

// classifyFast classes what (*Server).serveConn of fasthttp called: all of its server's own, or a handler.
func classifyFast(frames []exectrace.Frame) (place, []string) {
	if len(frames) == 0 {
		return nowhere, nil
	}
	next := frames[len(frames)-1].Func
	own, isOwn := strings.CutPrefix(next, fastHTTP+".")
	switch {
	case next == "bufio.(*Reader).Peek", own == "acquireByteReader", strings.HasPrefix(own, "(*RequestHeader)."):
		return h1Read, nil
	case strings.HasPrefix(own, "(*Request).ContinueReadBody"):
		return h1Body, nil
	case next == "bufio.(*Writer).Flush", own == "writeResponse", own == "(*Server).writeErrorResponse":
		return h1Finish, nil
	case isOwn && !strings.Contains(own, "andler"), symbol.Standard(symbol.Package(next)):
		return nowhere, nil
	}
	return inHandler, httpRoute(frames)
}

func classifyStream(frames []exectrace.Frame) (place, []string) {
	for i := len(frames) - 1; i >= 0; i-- {
		switch f := frames[i].Func; {
		case f == h1Handler:
			if contains(frames[:i], grpcHTTP) {
				return carriesGRPC, nil
			}
			return inHandler, httpRoute(frames[:i])
		case strings.HasSuffix(f, ".handlerDone"), strings.HasSuffix(f, ".sendServeMsg"):
			return streamDone, nil
		}
	}
	return inHandler, httpRoute(frames) // a server of golang.org/x/net may call the handler itself
}

func contains(frames []exectrace.Frame, function string) bool {
	for i := range frames {
		if frames[i].Func == function {
			return true
		}
	}
	return false
}

// classify classes the stacks that are new.
func (f *Fold) classify(stacks int) {
	for id := len(f.classes); id < stacks; id++ {
		frames := f.src.Frames(exectrace.StackID(id))
		pl, p, chain := classify(frames)
		c := class{place: pl, gc: exectrace.InCollector(frames)}
		switch {
		case len(chain) == 0:
		case inDoubt(frames, chain[len(chain)-1]):
			c.name, c.depth = f.noteDoubt(p, chain), uint8(min(2*len(chain), delegateDepth)-1)
		default:
			c.name, c.depth = f.noteChain(p, chain), uint8(min(2*len(chain), delegateDepth-1))
		}
		f.classes = append(f.classes, c)
		var tells concern
		if c.place != nowhere {
			tells = placed
		}
		f.tells = append(f.tells, tells)
		var entry Protocol
		if len(frames) > 0 {
			entry = entryProtocol(frames[len(frames)-1].Func)
		}
		f.entries = append(f.entries, entry)
	}
}

// nameID returns the place of a route's name in f.names. Names beyond the last place are lost:
// no program has that many handlers.
func (f *Fold) nameID(route string) uint16 {
	id, ok := f.nameIDs[route]
	if !ok && len(f.names) < 1<<16-1 {
		id = uint16(len(f.names))
		f.names = append(f.names, route)
		f.nameIDs[route] = id
	}
	return id
}

// entryProtocol returns the protocol of the requests of a goroutine that starts with a function, or whether it is
// followed when a request starts it.
func entryProtocol(function string) Protocol {
	switch {
	case function == h1Serve, strings.HasPrefix(function, fastWorker):
		return HTTP1
	case isStream(function):
		return HTTP2
	case strings.HasPrefix(function, grpcStream):
		return GRPC
	case isDelegate(function):
		return delegated
	case isStarted(function):
		return started
	}
	return 0
}
