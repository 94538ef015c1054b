package tokenperrequest

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// tokenOf is the method of golang.org/x/oauth2 that fetches a token, or returns the last one.
const tokenOf = "(golang.org/x/oauth2.TokenSource).Token"

// deepest is how many functions and wrappers are searched for what creates a source.
const deepest = 4

// source returns what a call uses to fetch a token, if the function around it, or one below it,
// creates that for the call: a source of tokens that keeps none yet, or a client with one.
func source(p *gocode.Place, call *ast.CallExpr) string {
	name := p.CalleeName(call)
	if grants(name) {
		return grant(p, call)
	}
	if name != tokenOf && !strings.HasPrefix(name, "(*net/http.Client).") {
		return ""
	}
	if to := syntax.Receiver(call); to != nil {
		return made(p, to, deepest)
	}
	return ""
}

// grants reports whether a function of golang.org/x/oauth2 fetches a token each time.
func grants(name string) bool {
	return name == "(*golang.org/x/oauth2/clientcredentials.Config).Token" || name == "(*golang.org/x/oauth2.Config).PasswordCredentialsToken"
}

// grant returns the name of a call that fetches a token, or creates what does; "" if it gets
// something of the function's caller, such as the password of a user.
func grant(p *gocode.Place, call *ast.CallExpr) string {
	for _, arg := range call.Args {
		if v := syntax.LocalVar(p, arg); v != nil && syntax.Param(p, v) && types.TypeString(v.Type(), nil) != "context.Context" {
			return ""
		}
	}
	return syntax.Text(call.Fun)
}

// made returns what creates a source or a client; "" if something else does.
func made(p *gocode.Place, e ast.Expr, depth int) string {
	call, ok := syntax.Origin(p, e).(*ast.CallExpr)
	if !ok || depth == 0 {
		return ""
	}
	name := p.CalleeName(call)
	for _, config := range []string{"(*golang.org/x/oauth2/clientcredentials.Config).", "(*golang.org/x/oauth2/jwt.Config)."} {
		if method, ok := strings.CutPrefix(name, config); ok && (method == "TokenSource" || method == "Client") {
			return grant(p, call)
		}
	}
	switch name {
	case "golang.org/x/oauth2/google.DefaultTokenSource", "golang.org/x/oauth2/google.DefaultClient":
		return grant(p, call)
	case "golang.org/x/oauth2.NewClient":
		return made(p, call.Args[1], depth-1)
	case "golang.org/x/oauth2.ReuseTokenSource":
		if !p.Info.Types[call.Args[0]].IsNil() {
			return ""
		}
		return made(p, call.Args[1], depth-1)
	}
	if in, result := syntax.Returned(p, call); in != nil {
		return made(in, result, depth-1)
	}
	return ""
}
