// Package tokenperrequest finds access tokens that are fetched again for each request.
package tokenperrequest

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastRuns is how often a token must be fetched for each unit of work.
	leastRuns = 0.3
	// fewest calls show that the question is always the same: one of few, for as many clients.
	fewest       = 50
	mostInputs   = 8
	leastRepeats = 0.9
)

// fraction of the fetches that a kept token saves: nearly all, as a token is valid for minutes or
// hours.
var fraction = rule.Fraction{Expect: 0.95, Low: 0.6, High: 1}

// ofClient is the share of a request and the fetch before it.
var ofClient = rule.Fraction{Expect: 0.5, Low: 0.2, High: 0.8}

// Rule is token-per-request.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "token-per-request",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedTrace, rule.NeedInputs},
		Title: "Access token fetched again instead of kept until it expires",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim:   rule.Claim{Fraction: fraction, Specificity: 2, Removes: true},
			Prepare: prepare,
		},
	}
}

const doc = `A client of another service fetches an access token before each call, although a
token is valid for minutes or hours. Each call then takes two round trips, and the
server of the tokens gets as many requests as the service itself; it may limit
them.

Keep the token with the time at which it expires, and fetch a new one shortly
before that. In golang.org/x/oauth2 the token source keeps the token, not the
Config: create the source, or the client, once and use it for all calls.
oauth2.ReuseTokenSource keeps the tokens of a source of your own, and is safe for
concurrent use.

It is fine to fetch a token for each user who logs in: the rule reports
functions that ask the same each time, as far as parameters and counted inputs
show. It knows golang.org/x/oauth2, and functions that send a request and decode
its answer into a struct with the field access_token.

Seen in the field: gofr-dev/gofr#4159 (a grant for each outgoing request),
grpc/grpc-go#1238, maximhq/bifrost#3206.`

// fetch is a line that fetches a token.
type fetch struct {
	runs    float64 // per unit of work
	library string  // what creates the source of tokens; "" for a function of the program
	client  bool    // the line sends a request with the token, too
	same    string  // what was counted about the inputs of the function; "" if nothing
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{p}
	lines := finder.Remember(p, s.look)
	judge := func(c *finder.Case) bool {
		found := lines.At(&c.Site.Frame)
		if found == nil {
			return false
		}
		found.describe(c)
		saves := fraction
		if found.client {
			saves = ofClient
		}
		c.Fraction = &saves
		awaited.Price(p, c.Match, saves, "tokens")
		return true
	}
	calls := func(f *fetch, function string) bool {
		return f.library == "" || funcname.Match(function, "golang.org/x/oauth2*", "net/http.*")
	}
	return finder.Line{Start: finder.Frames(lines.Calling(calls)), Judge: judge}
}

type search struct{ pass *rule.Pass }

// look returns the fetch of a token on a line; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *fetch {
	if f.Owner.Kind != gocode.Main {
		return nil
	}
	e, ok := evidence.Executions(s.pass, *f)
	if !ok || !evidence.Hot(s.pass, e) || e.PerUnit < leastRuns {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		if from := source(p, call); from != "" {
			return &fetch{runs: e.PerUnit, library: from, client: p.CalleeName(call) != tokenOf}
		}
	}
	calls := syntax.Calls(p)
	i := slices.IndexFunc(calls, func(c *ast.CallExpr) bool { return sends(p, c) })
	if i < 0 || !decodes(p) {
		return nil
	}
	if same, ok := s.asksTheSame(p); ok {
		return &fetch{runs: e.PerUnit, same: same}
	}
	if !slices.ContainsFunc(calls[i].Args, func(arg ast.Expr) bool { return depends(p, arg, deepest) }) {
		return &fetch{runs: e.PerUnit}
	}
	return nil
}

// sends reports whether a call sends a request: one of net/http, or one that gets the address of
// the token to fill.
func sends(p *gocode.Place, call *ast.CallExpr) bool {
	name := p.CalleeName(call)
	if slices.Contains([]string{"(*net/http.Client).Do", "(*net/http.Client).Post", "(*net/http.Client).PostForm", "(*net/http.Client).Get", "net/http.Post", "net/http.PostForm", "net/http.Get"}, name) {
		return true
	}
	fn := p.Callee(call)
	return fn != nil && fn.Pkg() != nil && fn.Pkg() == p.Pkg && slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return filled(p, arg) })
}

// decodes reports whether the function around a place decodes a token.
func decodes(p *gocode.Place) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return filled(p, arg) })
		return !found
	})
	return found
}

// filled reports whether an expression is the address of a struct with a field for a token.
func filled(p *gocode.Place, e ast.Expr) bool {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && u.Op == token.AND && holdsToken(p.TypeOf(u.X))
}

// holdsToken reports whether a type is a struct that JSON fills from access_token, the name that
// RFC 6749 gives the field.
func holdsToken(t types.Type) bool {
	if t == nil {
		return false
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range st.NumFields() {
		name, _, _ := strings.Cut(reflect.StructTag(st.Tag(i)).Get("json"), ",")
		if name == "access_token" {
			return true
		}
	}
	return false
}

// asksTheSame reports whether the function around a place asks the same each time: it was counted
// to get few inputs, or it gets none but a context.
func (s *search) asksTheSame(p *gocode.Place) (counted string, ok bool) {
	if s.pass.Inputs != nil {
		if in := s.pass.Inputs.Of(syntax.ProfileName(p)); in != nil && in.Calls >= fewest {
			return evidence.InputsOf(s.pass, in), same(in)
		}
	}
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return "", false
	}
	for v := range sig.Params().Variables() {
		if types.TypeString(v.Type(), nil) != "context.Context" {
			return "", false
		}
	}
	return "", true
}

// depends reports whether an expression may depend on what the function around it gets, other than
// a context, or on a list that it goes through.
func depends(p *gocode.Place, e ast.Node, depth int) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || found {
			return !found
		}
		v := syntax.LocalVar(p, id)
		switch {
		case v == nil || types.TypeString(v.Type(), nil) == "context.Context" || holdsToken(v.Type()):
		case p.Decl != nil && p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos()): // what the client is set to
		case syntax.Param(p, v) || depth == 0:
			found = true
		default:
			values := syntax.Assigned(p, v)
			if origin := syntax.Origin(p, id); len(values) == 0 && origin != ast.Expr(id) {
				values = []ast.Expr{origin} // the first of several results
			}
			found = len(values) == 0 || slices.ContainsFunc(values, func(value ast.Expr) bool { return depends(p, value, depth-1) })
		}
		return !found
	})
	return found
}

// same reports whether a function got few different inputs.
func same(in *inputs.Function) bool {
	different := in.Different
	if in.Stable > 0 && 2*in.Stable <= in.Calls { // not a receiver for each call
		different = max(different, in.Stable)
	}
	fixed := in.Identical == in.Different // pointers, such as a client, that are the same each time
	return (in.ByValue() || fixed) && different <= mostInputs && float64(different) <= (1-leastRepeats)*float64(in.Calls)
}

func (f *fetch) describe(c *finder.Case) {
	c.Confidence = rule.Likely
	unit := c.Pass.Manifest.Unit()
	name := syntax.FuncName(c.Place)
	if f.library != "" {
		c.Cause = fmt.Sprintf("%s creates a source of tokens with %s %s per %s: the source keeps its token until that expires, but it is dropped, so each one fetches a token of its own, a second round trip.", name, f.library, evidence.Times(f.runs), unit)
		c.Fix = "Create the source, or the client that has it, once, where the configuration is read, and use it for all calls: it fetches a new token when the last one expires."
	} else {
		c.Cause = fmt.Sprintf("%s fetches an access token %s per %s, for the same client each time, and nobody keeps it: a second round trip before each call, although a token stays valid for a while.", name, evidence.Times(f.runs), unit)
		c.Fix = fmt.Sprintf("Keep the token with the time at which it expires (expires_in) beside the client, under a mutex, and let %s fetch only when little of that is left. oauth2.ReuseTokenSource around a TokenSource does that.", name)
	}
	if f.same != "" {
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: name + " " + f.same})
	}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s per %s", units.Number(f.runs), unit)})
}
