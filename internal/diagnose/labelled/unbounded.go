package labelled

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Unbounded is a label with as many values as clients send, or as there are events.
type Unbounded struct {
	Label string // in the call
	flow.Argument
}

// Unlimited returns those of some labels that visibly have values without limit: what a client
// sends in its request or its address, the text of an error, a new identifier, the time.
func Unlimited(s *gocode.Syntax, labels []flow.Argument) (many []Unbounded) {
	for _, l := range labels {
		if from := unlimited(s, l.Place, l.Value, deepest); from != nil {
			many = append(many, Unbounded{Label: syntax.Text(l.Value), Argument: *from})
		}
	}
	return many
}

// unlimited returns the expression that gives a value its many values; nil if it has few, or
// nothing shows that.
func unlimited(s *gocode.Syntax, p *gocode.Place, e ast.Expr, depth int) *flow.Argument {
	if depth == 0 || e == nil {
		return nil
	}
	e = ast.Unparen(e)
	if sent(p, e) {
		return &flow.Argument{Place: p, Value: e}
	}
	if v := syntax.Named(p, e); v != nil {
		for _, from := range flow.Sources(s, p, e) {
			if ast.Unparen(from.Value) == e {
				break
			}
			if found := unlimited(s, from.Place, from.Value, depth-1); found != nil {
				return found
			}
		}
		for _, set := range syntax.Assigned(p, v) {
			if found := unlimited(s, p, set, depth-1); found != nil {
				return found
			}
		}
		return nil
	}
	var parts []ast.Expr
	switch e := e.(type) {
	case *ast.BinaryExpr:
		parts = []ast.Expr{e.X, e.Y}
	case *ast.IndexExpr:
		parts = []ast.Expr{e.X}
	case *ast.SliceExpr:
		parts = []ast.Expr{e.X}
	case *ast.CallExpr:
		return called(s, p, e, depth)
	}
	for _, part := range parts {
		if found := unlimited(s, p, part, depth-1); found != nil {
			return found
		}
	}
	return nil
}

// called is unlimited for the result of a call: of a function of the program, what that returns;
// of one that passes texts on, its arguments. Functions whose name says that they leave few values
// are believed.
func called(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr, depth int) *flow.Argument {
	name := p.CalleeName(call)
	if t, ok := p.Conversion(call); ok && t != nil || passesOn(name) {
		args := call.Args
		if to := syntax.Receiver(call); to != nil {
			args = append([]ast.Expr{to}, args...)
		}
		for _, arg := range args {
			if found := unlimited(s, p, arg, depth-1); found != nil {
				return found
			}
		}
		return nil
	}
	if fn := p.Callee(call); fn == nil || limits(fn.Name()) {
		return nil
	}
	for _, r := range results(s, p, call) {
		if found := unlimited(s, r.Place, r.Value, depth-1); found != nil {
			return found
		}
	}
	return nil
}

// limits reports whether the name of a function says that its results are few.
func limits(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"normal", "canonic", "template", "pattern", "route", "bucket", "class", "kind", "group", "sanitize", "known", "mask", "redact", "family", "method", "status"},
		func(word string) bool { return strings.Contains(name, word) })
}

// passesOn reports whether a function returns a text with what is in its arguments.
func passesOn(name string) bool {
	return funcname.Match(name, "strings.Trim*", "strings.To*", "strings.Join", "strings.Replace*", "strings.Clone", "fmt.Sprint*", "path.*", "path/filepath.*",
		"net.SplitHostPort", "net.JoinHostPort", "strconv.Quote*", "net/url.*Escape", "(net/netip.Addr*).*", "(net.IP).String", "cmp.Or")
}

// sent reports whether an expression is something of which there are as many values as clients
// send, or a new one for each event.
func sent(p *gocode.Place, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		owner := p.TypeOf(e.X)
		if owner == nil {
			return false
		}
		of := strings.TrimPrefix(types.TypeString(owner, nil), "*")
		return of == "net/http.Request" && slices.Contains([]string{"RemoteAddr", "RequestURI", "Host"}, e.Sel.Name) ||
			of == "net/url.URL" && slices.Contains([]string{"Path", "RawPath", "RawQuery", "Host"}, e.Sel.Name) && !client(p, e)
	case *ast.CallExpr:
		return sentBy(p, e)
	case *ast.IndexExpr: // mux.Vars(r)["id"]
		call, ok := ast.Unparen(e.X).(*ast.CallExpr)
		return ok && funcname.Match(p.CalleeName(call), "github.com/gorilla/mux.Vars")
	}
	return false
}

// sentBy is sent for calls.
func sentBy(p *gocode.Place, call *ast.CallExpr) bool {
	name := p.CalleeName(call)
	if funcname.Match(name, "(*net/http.Request).PathValue", "(*net/http.Request).*FormValue", "(*net/http.Request).UserAgent", "(*net/http.Request).Referer",
		"(net/http.Header).Get", "(net/url.Values).Get", "(*net/url.URL).String", "(*net/url.URL).RequestURI", "(*net/url.URL).EscapedPath",
		"(net.Addr).String", "(*net.TCPAddr).String", "(*net.UDPAddr).String", "(error).Error", "(time.Time).Format", "(time.Time).String",
		"github.com/google/uuid.New*", "(github.com/google/uuid.UUID).String", "github.com/go-chi/chi*.URLParam", "(github.com/rs/xid.ID).String",
		"(*github.com/gin-gonic/gin.Context).Param", "(*github.com/gin-gonic/gin.Context).Query", "(*github.com/gin-gonic/gin.Context).ClientIP", "(*github.com/gin-gonic/gin.Context).GetHeader",
		"(github.com/labstack/echo*.Context).Param", "(github.com/labstack/echo*.Context).QueryParam", "(github.com/labstack/echo*.Context).RealIP") {
		return true
	}
	fn := p.Callee(call)
	return fn != nil && fn.Name() == "Error" && len(call.Args) == 0 && fn.Signature().Recv() != nil
}

// client reports whether a URL is of a request that the program sends: its hosts and paths are
// those of the services that it uses.
func client(p *gocode.Place, e ast.Expr) bool {
	for {
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			break
		}
		e = sel.X
	}
	call, ok := syntax.Origin(p, e).(*ast.CallExpr)
	return ok && funcname.Match(p.CalleeName(call), "net/http.NewRequest*", "net/url.Parse*")
}
