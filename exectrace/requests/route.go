package requests

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile"
)

// httpRoute names the handler in the frames that an HTTP server called, leaf first, and
// says how many dispatchers were passed to get there.
//
// Handlers are wrapped: mux, middleware, router, again middleware. Each passes the request on by a
// dispatcher, a function whose job that is, so the handler is what the last dispatcher called.
// A type that is a handler itself and splits its requests among methods is named by the method.
func httpRoute(frames []exectrace.Frame) (name string, depth uint8) {
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i].Func
		switch {
		case isDispatcher(f):
			if depth < 255 {
				depth++
			}
			if i == 0 {
				return name, depth
			}
			if next := frames[i-1].Func; !isDispatcher(next) && isName(next) {
				name = next
			}
		case strings.HasSuffix(f, ".ServeHTTP"):
			if depth < 255 {
				depth++
			}
			name = f
			if i > 0 && isHandlerOf(f, frames[i-1].Func) {
				name = frames[i-1].Func
			}
		case name == "" && isName(f):
			name = f
		}
	}
	return name, depth
}

// isName tells whether a function may be a handler: not the inside of a mux, nor the runtime's.
func isName(f string) bool {
	switch pkg := profile.PackageOf(f); pkg {
	case "runtime", "sync", "internal/sync", "context", "runtime/pprof", "runtime/trace":
		return false
	case "net/http":
		return !strings.HasPrefix(f, "net/http.(*ServeMux).") && !strings.Contains(f, ".runHandler.func")
	default:
		return !strings.HasSuffix(pkg, "/http2")
	}
}

// isDispatcher tells whether a function only passes requests on to a handler.
func isDispatcher(f string) bool {
	switch f {
	case "net/http.HandlerFunc.ServeHTTP", "net/http.(*ServeMux).ServeHTTP", "net/http.serverHandler.ServeHTTP",
		"net/http.initALPNRequest.ServeHTTP", "net/http.StripPrefix.func1", "net/http.MaxBytesHandler.func1",
		"net/http.AllowQuerySemicolons.func1", "net/http.(*CrossOriginProtection).Handler.func1":
		return true
	}
	pkg := profile.PackageOf(f)
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
	case strings.HasPrefix(pkg, "github.com/labstack/echo"):
		return strings.HasPrefix(method, ".(*Echo).") || method == ".(*Router).add.func1"
	}
	return false
}

// isHandlerOf tells whether callee is where the handler type of serve (T.ServeHTTP) sends requests: of the
// same package and named as one.
func isHandlerOf(serve, callee string) bool {
	pkg := profile.PackageOf(serve)
	if profile.PackageOf(callee) != pkg {
		return false
	}
	method := strings.ToLower(callee[len(pkg):])
	return strings.Contains(method, "handle") || strings.Contains(method, "serve")
}

// grpcRoute names the method in the frames that (*Server).handleStream called. Generated code has a
// function per method, _Service_Method_Handler, which every call passes, interceptors or not.
func grpcRoute(frames []exectrace.Frame) (name string, depth uint8) {
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i].Func
		pkg := profile.PackageOf(f)
		if strings.HasPrefix(pkg, "google.golang.org/grpc") || profile.StandardPackage(pkg) {
			continue
		}
		method := strings.TrimPrefix(f[len(pkg):], "._")
		if rest, ok := strings.CutSuffix(method, "_Handler"); ok && method != f[len(pkg):] {
			if service, call, ok := cutLast(rest, "_"); ok {
				return pkg + "." + service + "/" + call, 2
			}
		}
		if name == "" {
			name, depth = f, 1
		}
	}
	return name, depth
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
