package requests

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile/symbol"
)

// httpRoute names the handlers in the frames that an HTTP server called, leaf first: those that
// wrap others first, the route's own last, as far as the stack goes.
//
// Handlers are wrapped: mux, middleware, router, again middleware. Each passes the request on by a
// dispatcher, a function whose job that is, so a handler is what a dispatcher called. A type
// that is a handler itself and splits its requests among methods is named by the method.
func httpRoute(frames []exectrace.Frame) (chain []string) {
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i].Func
		next := ""
		if i > 0 {
			next = frames[i-1].Func
		}
		switch {
		case isDispatcher(f):
			if isCalled(f, next) {
				chain = append(chain, next)
			}
		case strings.HasSuffix(f, ".ServeHTTP"):
			chain = append(chain, f)
			if isHandlerOf(f, next) {
				chain = append(chain, next)
			}
		case len(chain) == 0 && !symbol.Standard(symbol.Package(f)) && isName(f):
			chain = append(chain, f)
		}
	}
	return chain
}

// isCalled reports whether next is a handler that a dispatcher called, not a function that helps it. One
// of the standard library is, when the dispatcher does nothing but call it.
func isCalled(dispatcher, next string) bool {
	if next == "" || isDispatcher(next) || strings.HasSuffix(next, ".ServeHTTP") || !isName(next) {
		return false // the last kind adds itself
	}
	return dispatcher == "net/http.HandlerFunc.ServeHTTP" || !symbol.Standard(symbol.Package(next))
}

// isName reports whether a function may be a handler: not the inside of a mux, nor the runtime's, nor one without
// a package, which is written in assembly (memeqbody, below each comparison of strings).
func isName(f string) bool {
	switch pkg := symbol.Package(f); pkg {
	case f, "runtime", "sync", "internal/sync", "context", "runtime/pprof", "runtime/trace":
		return false
	case "net/http":
		return !strings.HasPrefix(f, "net/http.(*ServeMux).") && !strings.Contains(f, ".runHandler.func")
	default:
		return !strings.HasSuffix(pkg, "/http2")
	}
}

// isDispatcher reports whether a function only passes requests on to a handler.
func isDispatcher(f string) bool {
	switch f {
	case "net/http.HandlerFunc.ServeHTTP", "net/http.(*ServeMux).ServeHTTP", "net/http.serverHandler.ServeHTTP",
		"net/http.initALPNRequest.ServeHTTP", "net/http.StripPrefix.func1", "net/http.MaxBytesHandler.func1",
		"net/http.AllowQuerySemicolons.func1", "net/http.(*CrossOriginProtection).Handler.func1":
		return true
	}
	pkg := symbol.Package(f)
	method := f[len(pkg):]
	switch {
	case strings.HasPrefix(pkg, "github.com/go-chi/chi"):
		return strings.HasPrefix(method, ".(*Mux).") || strings.HasPrefix(method, ".(*ChainHandler).")
	case pkg == "github.com/gorilla/mux":
		return method == ".(*Router).ServeHTTP"
	case pkg == "github.com/julienschmidt/httprouter":
		return method == ".(*Router).ServeHTTP"
	case pkg == "github.com/gin-gonic/gin":
		return strings.HasPrefix(method, ".(*Engine).") || method == ".(*Context).Next"
	case pkg == fastHTTP:
		return strings.Contains(method, "Handler")
	case strings.HasPrefix(pkg, "github.com/gofiber/fiber"):
		return strings.HasPrefix(method, ".(*App).") || method == ".(*Ctx).Next" || method == ".(*DefaultCtx).Next"
	case pkg == "github.com/fasthttp/router":
		return strings.HasPrefix(method, ".(*Router).")
	case strings.HasPrefix(pkg, "github.com/labstack/echo"):
		return strings.HasPrefix(method, ".(*Echo).") || method == ".(*Router).add.func1"
	}
	return false
}

// isHandlerOf reports whether callee is where the handler type of serve (T.ServeHTTP) sends requests: of the
// same package and named as one.
func isHandlerOf(serve, callee string) bool {
	pkg := symbol.Package(serve)
	if symbol.Package(callee) != pkg {
		return false
	}
	method := callee[len(pkg):]
	if _, name, ok := strings.Cut(method, ")."); ok { // the type is called so more often than its methods are
		method = name
	}
	method = strings.ToLower(method)
	return strings.Contains(method, "handle") || strings.Contains(method, "serve")
}

// grpcRoute names the method in the frames that (*Server).handleStream called. Generated code has a
// function per method, _Service_Method_Handler, which every call passes, interceptors or not.
func grpcRoute(frames []exectrace.Frame) (chain []string) {
	first := ""
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i].Func
		pkg := symbol.Package(f)
		method := strings.TrimPrefix(f[len(pkg):], "._")
		if rest, ok := strings.CutSuffix(method, "_Handler"); ok && method != f[len(pkg):] {
			if service, call, ok := cutLast(rest, "_"); ok {
				return []string{pkg + "." + service + "/" + call}
			}
		}
		if first == "" && isName(f) && !symbol.Standard(pkg) && !ofGRPC(pkg) {
			first = f
		}
	}
	if first == "" {
		return nil
	}
	return []string{first}
}

// ofGRPC reports whether a package is of gRPC or decodes its messages.
func ofGRPC(pkg string) bool {
	return strings.HasPrefix(pkg, "google.golang.org/grpc") || strings.HasPrefix(pkg, "google.golang.org/protobuf") || strings.HasPrefix(pkg, "github.com/golang/protobuf")
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// routeKey is what routes are distinguished by: the name is a place in Fold.names.
type routeKey struct {
	protocol Protocol
	name     uint16
}

// noteChain remembers which handler wraps which, and returns the name of the innermost. Of which protocol a delegate's
// request is, its stack does not tell.
func (f *Fold) noteChain(p Protocol, chain []string) uint16 {
	if p != delegated {
		return f.noteBelow(routeKey{p, 0}, chain)
	}
	outer := f.nameID(timeoutHandler)
	f.noteBelow(routeKey{HTTP2, outer}, chain)
	return f.noteBelow(routeKey{HTTP1, outer}, chain)
}

func (f *Fold) noteBelow(outer routeKey, chain []string) uint16 {
	for _, name := range chain {
		id := f.nameID(name)
		if id == 0 || id == outer.name {
			continue
		}
		if f.inner[outer] == nil {
			f.inner[outer] = map[uint16]bool{}
		}
		f.inner[outer][id] = true
		outer.name = id
	}
	return outer.name
}

// innermost returns the handler that the requests reached of which no more than k is known: as
// long as all that went further went to one and the same, and some of them showed there by chance.
func (f *Fold) innermost(k routeKey) routeKey {
	k = f.settled(k)
	for range 32 { // a handler may come to itself again
		if len(f.inner[k]) != 1 {
			break
		}
		next := routeKey{k.protocol, only(f.inner[k])}
		if !f.chances[f.settled(next)] {
			break
		}
		k = next
	}
	return k
}
