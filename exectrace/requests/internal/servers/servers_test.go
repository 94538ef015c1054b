package servers

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile/symbol"
)

// frames are functions, leaf first.
func frames(text string) (out []exectrace.Frame) {
	for _, f := range strings.Split(text, " < ") {
		out = append(out, exectrace.Frame{Func: f, File: "/src/" + symbol.Package(f) + "/x.go"})
	}
	return out
}

func TestHandlersHaveNames(t *testing.T) {
	const root = " < net/http.serverHandler.ServeHTTP < net/http.(*conn).serve"
	const mux = " < net/http.(*ServeMux).ServeHTTP"
	const fn = " < net/http.HandlerFunc.ServeHTTP"
	const fast = " < github.com/valyala/fasthttp.(*Server).serveConn < github.com/valyala/fasthttp.(*workerPool).workerFunc"
	for _, c := range []struct{ name, stack, want string }{
		{"a function in a mux", "runtime.chanrecv1 < main.load < main.search" + fn + mux + root, "main.search"},
		{"a method value", "main.(*API).search-fm" + fn + root, "main.(*API).search-fm"},
		{"middleware", "os.(*File).Write < main.logged.func1" + fn + mux + root, "main.logged.func1"},
		{"in middleware", "os.(*File).Write < main.search" + fn + " < main.logged.func1" + fn + mux + root, "main.logged.func1 main.search"},
		{"a handler type", "main.load < main.(*API).ServeHTTP" + root, "main.(*API).ServeHTTP"},
		{"its methods", "main.load < main.(*API).handleSearch < main.(*API).ServeHTTP" + root, "main.(*API).ServeHTTP main.(*API).handleSearch"},
		{"its methods that are no handlers", "os.Open < shop.(*FileServer).openFile < shop.(*FileServer).ServeHTTP" + root, "shop.(*FileServer).ServeHTTP"},
		{"a method that is", "os.Open < shop.(*FileServer).serveBrowse < shop.(*FileServer).ServeHTTP" + root, "shop.(*FileServer).ServeHTTP shop.(*FileServer).serveBrowse"},
		{"a router", "shop.put < github.com/go-chi/chi/v5.(*Mux).routeHTTP" + fn + " < github.com/go-chi/chi/v5.(*Mux).ServeHTTP" + root, "shop.put"},
		{"gin", "shop.put < github.com/gin-gonic/gin.(*Context).Next < github.com/gin-gonic/gin.LoggerWithConfig.func1 < github.com/gin-gonic/gin.(*Context).Next < github.com/gin-gonic/gin.(*Engine).handleHTTPRequest < github.com/gin-gonic/gin.(*Engine).ServeHTTP" + root, "github.com/gin-gonic/gin.LoggerWithConfig.func1 shop.put"},
		{"files", "os.(*File).Read < net/http.serveFile < net/http.(*fileHandler).ServeHTTP < net/http.StripPrefix.func1" + fn + mux + root, "net/http.(*fileHandler).ServeHTTP net/http.serveFile"},
		{"inside the mux", "sync.(*RWMutex).RLock < net/http.(*ServeMux).findHandler" + mux + root, ""},
		{"inside the mux, in assembly", "memeqbody < net/http.(*mapping[...]).find < net/http.(*routingNode).match < net/http.(*ServeMux).findHandler" + mux + root, ""},
		{"called by the mux, in assembly", "memeqbody" + mux + root, ""},
		{"in the server", "runtime.asyncPreempt" + root, ""},
		{"a helper of the server", "strings.IndexByte < strings.Contains" + root, ""},
		{"a helper of the mux", "net/url.unescape < net/url.PathUnescape" + mux + root, ""},
		{"a handler of net/http/pprof", "runtime/pprof.writeHeap < net/http/pprof.Index" + fn + mux + root, "net/http/pprof.Index"},
		{"a handler of fasthttp", "main.load < main.route" + fast, "main.route"},
		{"a wrapped handler of fasthttp", "main.route < github.com/valyala/fasthttp.CompressHandlerLevel.func1" + fast, "main.route"},
		{"in fasthttp's wrapper", "compress/gzip.(*Writer).Write < github.com/valyala/fasthttp.CompressHandlerLevel.func1" + fast, ""},
		{"below the wrapper's handler", "main.stream < github.com/valyala/fasthttp.(*RequestCtx).SetBodyStreamWriter < main.route" + fast, "main.route"},
		{"a router of fasthttp", "shop.put < github.com/fasthttp/router.(*Router).Handler" + fast, "shop.put"},
		{"fiber", "shop.put < github.com/gofiber/fiber/v2.(*App).next < github.com/gofiber/fiber/v2.(*Ctx).Next < shop.log < github.com/gofiber/fiber/v2.(*App).next < github.com/gofiber/fiber/v2.(*App).handler" + fast, "shop.log shop.put"},
		{"generic", "main.run < main.Handle[go.shape.struct { a.b/c.D }].func1" + fn + root, "main.Handle[go.shape.struct { a.b/c.D }].func1"},
	} {
		p, proto, chain := Classify(frames(c.stack))
		if p != InHandler || proto != HTTP1 {
			t.Errorf("%s: %v of %v", c.name, p, proto)
		}
		if got := strings.Join(chain, " "); got != c.want {
			t.Errorf("%s: handlers are %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMethodsHaveNames(t *testing.T) {
	const root = " < google.golang.org/grpc.(*Server).handleStream < google.golang.org/grpc.(*Server).serveStreams.func2.1"
	const unary = " < google.golang.org/grpc.(*Server).processUnaryRPC" + root
	for _, c := range []struct{ name, stack, want string }{
		{"generated code", "shop/store.(*Server).Put < shop/pb._Store_Put_Handler" + unary, "shop/pb.Store/Put"},
		{"generated code below an interceptor", "main.log.func1 < shop/pb._Store_Put_Handler" + unary, "shop/pb.Store/Put"},
		{"generated code in the module of gRPC", "main.(*S).Check < google.golang.org/grpc/health/grpc_health_v1._Health_Check_Handler" + unary, "google.golang.org/grpc/health/grpc_health_v1.Health/Check"},
		{"messages are decoded", "google.golang.org/protobuf/proto.Unmarshal < google.golang.org/grpc/encoding/proto.(*codecV2).Unmarshal" + unary, ""},
		{"none", "runtime.chanrecv1 < main.(*S).load < main.(*S).Put" + root, "main.(*S).Put"},
		{"a helper of the server", "strings.Cut" + root, ""},
		{"a helper in assembly", "memeqbody" + root, ""},
	} {
		p, proto, chain := Classify(frames(c.stack))
		if p != InHandler || proto != GRPC {
			t.Errorf("%s: %v of %v", c.name, p, proto)
		}
		if got := strings.Join(chain, " "); got != c.want {
			t.Errorf("%s: the method is %q, want %q", c.name, got, c.want)
		}
	}
}

// Stacks of servers, leaf first.
const (
	serve      = " < net/http.(*conn).serve"
	peek       = "syscall.Read < net.(*conn).Read < net/http.(*connReader).Read < bufio.(*Reader).Peek" + serve
	firstRead  = "syscall.Read < net.(*conn).Read < net/http.(*connReader).Read < net/http.(*conn).readRequest" + serve
	background = "net/http.(*connReader).startBackgroundRead" + serve
	flush      = "syscall.Write < net.(*conn).Write < bufio.(*Writer).Flush < net/http.(*response).finishRequest" + serve
	abort      = "sync.(*Cond).Wait < net/http.(*connReader).abortPendingRead < net/http.(*response).finishRequest" + serve
	carries    = "runtime.selectgo < google.golang.org/grpc/internal/transport.(*serverHandlerTransport).runStream < google.golang.org/grpc.(*Server).serveStreams < google.golang.org/grpc.(*Server).ServeHTTP < net/http.(*ServeMux).ServeHTTP < net/http.serverHandler.ServeHTTP < net/http.(*http2serverConn).runHandler"

	serveFast = " < github.com/valyala/fasthttp.(*Server).serveConn < github.com/valyala/fasthttp.(*workerPool).workerFunc < github.com/valyala/fasthttp.(*workerPool).getCh.func1"
	fastPeek  = "syscall.Read < net.(*conn).Read < bufio.(*Reader).Peek" + serveFast
	fastBody  = "syscall.Read < net.(*conn).Read < github.com/valyala/fasthttp.(*Request).ContinueReadBody" + serveFast
	fastFlush = "syscall.Write < net.(*conn).Write < bufio.(*Writer).Flush" + serveFast
	fastIdles = "runtime.chanrecv < github.com/valyala/fasthttp.(*workerPool).workerFunc < github.com/valyala/fasthttp.(*workerPool).getCh.func1"
)

func TestPlacesInTheServer(t *testing.T) {
	for _, c := range []struct {
		stack string
		Place Place
		proto Role
	}{
		{peek, ReadHead, HTTP1},
		{firstRead, ReadHead, HTTP1},
		{"syscall.Read < crypto/tls.(*Conn).Read < net/http.(*connReader).Read < bufio.(*Reader).Peek" + serve, ReadHead, HTTP1},
		{"syscall.Read < crypto/tls.(*Conn).HandshakeContext" + serve, Nowhere, HTTP1},
		{"syscall.Read < net/http.(*http2serverConn).serve < net/http.(*http2Server).ServeConn < net/http.(*conn).serve", Nowhere, HTTP1},
		{"syscall.Read < net/http.(*connReader).backgroundRead", Nowhere, 0},
		{background, CallHandler, HTTP1},
		{flush, WriteRest, HTTP1},
		{abort, AfterResponse, HTTP1},
		{"runtime.chanrecv1 < google.golang.org/grpc.(*Server).serverWorker", WorkerIdle, GRPC},
		{"main.(*S).Put < google.golang.org/grpc.(*Server).handleStream < google.golang.org/grpc.(*Server).serverWorker", InHandler, GRPC},
		{carries, CarriesGRPC, HTTP2},
		{"main.h < golang.org/x/net/http2.(*serverConn).runHandler", InHandler, HTTP2},
		{fastPeek, ReadHead, HTTP1},
		{"syscall.Read < net.(*conn).Read < bufio.(*Reader).Peek < github.com/valyala/fasthttp.(*RequestHeader).tryRead < github.com/valyala/fasthttp.(*RequestHeader).Read" + serveFast, ReadHead, HTTP1},
		{"syscall.Read < net.(*conn).Read < github.com/valyala/fasthttp.(*Request).readLimitBody" + serveFast, Nowhere, HTTP1},
		{fastBody, ReadBody, HTTP1},
		{fastFlush, WriteRest, HTTP1},
		{"net.(*conn).SetReadDeadline" + serveFast, Nowhere, HTTP1},
		{fastIdles, WorkerIdle, HTTP1},
		{"main.main", Nowhere, 0},
	} {
		if p, proto, _ := Classify(frames(c.stack)); p != c.Place || proto != c.proto {
			t.Errorf("%s: place %d of %v, want %d of %v", c.stack, p, proto, c.Place, c.proto)
		}
	}
}
