package servers

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile/symbol"
)

// httpRoute returns the handlers among the frames, leaf first, that an HTTP server called. The
// result starts with middleware and ends with the innermost handler that the stack shows.
//
// Handlers wrap each other: a mux, middleware, a router, more middleware. Each calls the next
// through a dispatcher, a function that does nothing else, so a handler is what a dispatcher calls.
// A handler whose type distributes requests to methods is named by the method.
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

// isCalled reports whether next, which a dispatcher called, is a handler and not a helper of the
// dispatcher. A function of the standard library is a handler only if the dispatcher does nothing
// but call it.
func isCalled(dispatcher, next string) bool {
	if next == "" || isDispatcher(next) || strings.HasSuffix(next, ".ServeHTTP") || !isName(next) {
		return false // httpRoute adds a ServeHTTP itself
	}
	return dispatcher == "net/http.HandlerFunc.ServeHTTP" || !symbol.Standard(symbol.Package(next))
}

// isName reports whether a function may be a handler. Functions of the runtime and of a mux are
// not; nor are those without a package, which are written in assembly (memeqbody, which compares
// strings).
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

// isDispatcher reports whether a function does nothing but pass requests to a handler.
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

// isHandlerOf reports whether serve (T.ServeHTTP) passes requests to callee: callee is of the same
// package and its name says that it handles or serves.
func isHandlerOf(serve, callee string) bool {
	pkg := symbol.Package(serve)
	if symbol.Package(callee) != pkg {
		return false
	}
	method := callee[len(pkg):]
	if _, name, ok := strings.Cut(method, ")."); ok { // a type's name says so more often than a method's
		method = name
	}
	method = strings.ToLower(method)
	return strings.Contains(method, "handle") || strings.Contains(method, "serve")
}

// grpcRoute returns the method among the frames that (*Server).handleStream called. Generated code
// has a function per method, _Service_Method_Handler, which is in the stack of every call, with or
// without interceptors.
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

// ofGRPC reports whether a package belongs to gRPC or decodes its messages.
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

// IsUncertain reports whether the innermost handler of a stack may be a function that a handler
// called: where a function is interrupted, the frame of its caller may be missing (see
// [exectrace.Interrupted]), and with it those inlined into the caller. A handler of the standard
// library is uncertain only as the interrupted function itself.
func IsUncertain(frames []exectrace.Frame, innermost string) bool {
	at := exectrace.Interrupted(frames)
	if at < 0 {
		return false
	}
	last := at + exectrace.MostInlined
	if symbol.Standard(symbol.Package(innermost)) {
		last = at
	}
	for i := at; i <= min(last, len(frames)-1); i++ {
		if frames[i].Func == innermost {
			return true
		}
	}
	return false
}
