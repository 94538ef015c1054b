package awaited

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"unicode"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// levels is how many functions below a call are searched for what it changes.
const levels = 3

// Changes reports whether a call may change something that a later one sees, or decides whether the
// rest may run, by its name and by what the functions below it ask for.
func Changes(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil {
		return true // a function value, such as the next handler
	}
	if fn.FullName() != "(*net/http.Client).Do" && slices.ContainsFunc(Words(fn.Name()), order) {
		return true
	}
	return ReturnsNothing(fn) && !fills(call) || shared(fn) || Writes(p, call)
}

// order reports whether a word in the name of a function says that the time of the call matters.
func order(word string) bool {
	return slices.Contains([]string{
		"accept", "acquire", "add", "allow", "append", "audit", "auth", "authenticate", "authorize", "begin", "cancel", "charge", "check",
		"claim", "close", "commit", "confirm", "consume", "create", "delete", "do", "drop", "enqueue", "ensure", "exec", "flush", "handle", "handler",
		"incr", "increment", "init", "insert", "lock", "log", "login", "next", "notify", "pay", "post", "publish", "push", "put", "receive", "record",
		"recv", "register", "release", "remove", "reserve", "retry", "save", "send", "serve", "set", "sleep", "start", "store", "submit", "take",
		"touch", "track", "unlock", "update", "upsert", "validate", "verify", "wait", "write",
	}, word)
}

// Words returns the words of a name in lower case: "list", "open", "orders".
func Words(name string) (out []string) {
	start := 0
	for i, r := range name {
		if i > start && (unicode.IsUpper(r) || r == '_') {
			out = append(out, strings.ToLower(strings.Trim(name[start:i], "_")))
			start = i
		}
	}
	return append(out, strings.ToLower(strings.Trim(name[start:], "_")))
}

// ReturnsNothing reports whether a function returns at most an error: it is called for what it
// does.
func ReturnsNothing(fn *types.Func) bool {
	results := fn.Signature().Results()
	return results.Len() == 0 || results.Len() == 1 && syntax.IsError(results.At(0).Type())
}

// fills reports whether a call gets the address of something that it may fill.
func fills(call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		_, ok := ast.Unparen(arg).(*ast.UnaryExpr)
		return ok
	})
}

// shared reports whether a function is a method of a transaction or a connection, which serve one
// call at a time, or gets one.
func shared(fn *types.Func) bool {
	sig := fn.Signature()
	if sig.Recv() != nil && single(sig.Recv().Type()) {
		return true
	}
	for v := range sig.Params().Variables() {
		if single(v.Type()) {
			return true
		}
	}
	return false
}

func single(t types.Type) bool {
	name := strings.TrimPrefix(t.String(), "*")
	name = name[strings.LastIndexByte(name, '/')+1:]
	return slices.Contains([]string{"sql.Tx", "sql.Conn", "sqlx.Tx", "v5.Tx", "v4.Tx", "v5.Conn", "v4.Conn", "pgxpool.Conn", "redis.Conn"}, name)
}

// Writes reports whether a call, or a function of its package below it, visibly sends something
// that changes the other side: a request with another method than GET, a statement that is not a
// query.
func Writes(p *gocode.Place, call *ast.CallExpr) bool { return writes(p, call, levels) }

func writes(p *gocode.Place, call *ast.CallExpr, depth int) bool {
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	switch name := fn.FullName(); {
	case strings.HasPrefix(name, "net/http.NewRequest") || strings.HasPrefix(name, "net/http.Post"), strings.HasPrefix(name, "(*net/http.Client).Post"):
		return !gets(p, fn, call)
	case fn.Pkg() != nil && fn.Pkg().Path() == "database/sql":
		if strings.HasPrefix(fn.Name(), "Exec") || strings.HasPrefix(fn.Name(), "Begin") || fn.Name() == "Commit" || statement(p, call) {
			return true
		}
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || depth == 0 {
		return false
	}
	inner, found := p.Entry(decl), false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && !found {
			found = writes(inner, c, depth-1)
		}
		return !found
	})
	return found
}

// gets reports whether a call of net/http creates a request that reads: one with the method GET or
// HEAD, or one that the code does not show.
func gets(p *gocode.Place, fn *types.Func, call *ast.CallExpr) bool {
	if !strings.HasPrefix(fn.Name(), "NewRequest") {
		return false
	}
	for i := range fn.Signature().Params().Len() {
		if fn.Signature().Params().At(i).Name() == "method" && i < len(call.Args) {
			method, ok := syntax.ConstString(p, call.Args[i])
			return !ok || method == "" || method == "GET" || method == "HEAD"
		}
	}
	return true
}

// statement reports whether an argument of a call is a constant SQL statement that is not a query.
func statement(p *gocode.Place, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if sql, ok := syntax.ConstString(p, arg); ok {
			if f := strings.Fields(strings.ToLower(sql)); len(f) > 0 {
				return slices.Contains([]string{"insert", "update", "delete", "replace", "merge", "call", "begin", "commit", "lock"}, f[0])
			}
		}
	}
	return false
}
