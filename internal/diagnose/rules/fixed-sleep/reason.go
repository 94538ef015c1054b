package fixedsleep

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// reason is what a pause follows.
type reason struct {
	loop  *ast.RangeStmt // over elements; nil for none
	after string         // the action before it: "the send on r.feed"
	name  string         // the same in short
	where string
}

// helpers is how many functions that do nothing but pause may lie between the pause and what it
// follows.
const helpers = 2

// reasonOf returns what a pause follows: an action before it in the function, or in the one that
// calls a function which only pauses; nil for none, in loops that ask again and again, and where
// the time itself is the point.
func reasonOf(pass *rule.Pass, p *gocode.Place, node ast.Node) *reason {
	for range helpers + 1 {
		p = p.Outer()
		if p.Decl == nil || deliberate(p) {
			return nil
		}
		if loop := p.LoopAround(node); loop != nil {
			r, ok := loop.(*ast.RangeStmt)
			if !ok || !elements(p, r) || !acts(p, r.Body, node) {
				return nil
			}
			return &reason{loop: r}
		}
		if r := before(p, node); r != nil {
			return r
		}
		if !only(p, node) {
			return nil
		}
		above, call := flow.RunningCall(pass, p)
		if call == nil {
			return nil
		}
		p, node = above, call
	}
	return nil
}

// deliberate reports whether a function pauses on purpose, as its name or that of its type says.
func deliberate(p *gocode.Place) bool {
	return slices.ContainsFunc(awaited.Words(strings.NewReplacer("(", "", ")", "", "*", "", ".", "_").Replace(syntax.FuncName(p))+"_"+receiver(p)), func(w string) bool {
		return slices.Contains([]string{
			"auth", "login", "signin", "password", "verify", "captcha", "throttle", "tarpit", "limit", "limiter", "penalty", "jitter", "backoff", "retry",
			"simulate", "simulated", "fake", "mock", "stub", "dummy", "latency", "slow", "chaos", "fault", "remote", "upstream",
		}, w)
	})
}

// receiver returns the name of the type of a method; "" for a function.
func receiver(p *gocode.Place) string {
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return ""
	}
	t := types.TypeString(fn.Signature().Recv().Type(), nil)
	return t[strings.LastIndexByte(t, '.')+1:]
}

// elements reports whether a loop ranges over the elements of a list or a map.
func elements(p *gocode.Place, r *ast.RangeStmt) bool {
	t := p.TypeOf(r.X)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map:
		return true
	}
	return false
}

// acts reports whether statements other than the pause do something with others.
func acts(p *gocode.Place, body *ast.BlockStmt, pause ast.Node) bool {
	return slices.ContainsFunc(body.List, func(s ast.Stmt) bool {
		return !syntax.Inside(s, pause.Pos()) && action(p, s) != nil
	})
}

// before returns the last action before a pause on the way to it; nil for none.
func before(p *gocode.Place, pause ast.Node) *reason {
	var found ast.Node
	for _, up := range p.Enclosing(pause) {
		var list []ast.Stmt
		switch up := up.(type) {
		case *ast.BlockStmt:
			list = up.List
		case *ast.CaseClause:
			list = up.Body
		case *ast.FuncLit:
			if found == nil {
				return nil // what is before a function literal may be long ago
			}
		}
		for _, s := range list {
			if s.Pos() >= pause.Pos() {
				break
			}
			if n := action(p, s); n != nil && !syntax.Inside(s, pause.Pos()) {
				found = n
			}
		}
		if found != nil {
			return described(p, found)
		}
	}
	return nil
}

// described puts an action into words.
func described(p *gocode.Place, n ast.Node) *reason {
	r := &reason{where: syntax.Where(p, n.Pos())}
	switch n := n.(type) {
	case *ast.SendStmt:
		r.after = "the send on " + syntax.Text(n.Chan)
		r.name = "the send"
	case *ast.GoStmt:
		r.after, r.name = "the start of a goroutine", "the goroutine"
	case *ast.CallExpr:
		r.name = syntax.Text(n.Fun)
		r.after = "the call of " + r.name
	}
	return r
}

// action returns the last node of a statement that sends, starts or changes something outside of
// the function; nil for none. What a branch does that leaves is not followed by anything.
func action(p *gocode.Place, s ast.Stmt) (found ast.Node) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			if len(n.List) > 0 && syntax.Departs(n.List[len(n.List)-1], false) {
				return false
			}
		case *ast.CaseClause:
			if len(n.Body) > 0 && syntax.Departs(n.Body[len(n.Body)-1], false) {
				return false
			}
		case *ast.FuncLit, *ast.DeferStmt:
			return false
		case *ast.GoStmt:
			found = n
			return false
		case *ast.SendStmt:
			found = n
		case *ast.CallExpr:
			if fn := p.Callee(n); fn != nil && fn.Pkg() != nil && !harmless(fn) && awaited.Changes(p, n) {
				found = n
			}
		}
		return true
	})
	return found
}

// harmless reports whether a function only computes, logs, measures or guards something.
func harmless(fn *types.Func) bool {
	if funcname.Match(fn.FullName(), "(net/http.ResponseWriter).*", "(net/http.Header).*", "net/http.Error", "net/http.NotFound", "net/http.Redirect", "(*net/http.ServeMux).*") {
		return true
	}
	path := fn.Pkg().Path()
	if slices.ContainsFunc([]string{"log", "zap", "zerolog", "logrus", "prometheus", "metrics", "slog", "otel", "trace"}, func(w string) bool {
		return strings.Contains(path, w)
	}) {
		return true
	}
	root, _, _ := strings.Cut(path, "/")
	return slices.Contains([]string{
		"sync", "time", "fmt", "errors", "strings", "strconv", "bytes", "context", "encoding", "math", "sort", "slices", "maps", "unicode", "runtime",
		"hash", "crypto", "testing", "regexp", "html", "text", "bufio", "container", "iter", "unsafe", "reflect",
	}, root)
}

// only reports whether a function does nothing but pause: log, return, and end with a context.
func only(p *gocode.Place, pause ast.Node) bool {
	return !slices.ContainsFunc(p.Decl.Body.List, func(s ast.Stmt) bool {
		switch s.(type) {
		case *ast.ReturnStmt, *ast.AssignStmt, *ast.DeferStmt, *ast.IfStmt:
			return action(p, s) != nil
		case *ast.ExprStmt, *ast.SelectStmt:
			return !syntax.Inside(s, pause.Pos()) && action(p, s) != nil
		}
		return true
	})
}
