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
func Writes(p *gocode.Place, call *ast.CallExpr) bool { return sends(p, call, nil, levels).writes }

// OnlyReads reports whether a function visibly sends requests that read, itself or in functions of
// its package, and no others, as far as the code shows.
func OnlyReads(p *gocode.Place) bool {
	out := sent{}
	eachCall(p, func(call *ast.CallExpr) { out.add(sends(p, call, nil, levels-1)) })
	return out.reads && !out.writes
}

// sent is what calls send.
type sent struct{ reads, writes bool }

func (s *sent) add(o sent) { s.reads, s.writes = s.reads || o.reads, s.writes || o.writes }

// from is the call of the function around a place, in the function that calls it.
type from struct {
	place *gocode.Place
	call  *ast.CallExpr
	above *from
}

func eachCall(p *gocode.Place, visit func(*ast.CallExpr)) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			visit(call)
		}
		return true
	})
}

func sends(p *gocode.Place, call *ast.CallExpr, by *from, depth int) (out sent) {
	fn := p.Callee(call)
	if fn == nil {
		return out
	}
	switch name := fn.FullName(); {
	case strings.HasPrefix(name, "net/http.NewRequest"):
		method, known := methodOf(p, fn, call, by)
		reads := method == "" || method == "GET" || method == "HEAD"
		return sent{reads: known && reads, writes: known && !reads}
	case strings.HasPrefix(name, "net/http.Post"), strings.HasPrefix(name, "(*net/http.Client).Post"):
		return sent{writes: true}
	case slices.Contains([]string{"net/http.Get", "net/http.Head", "(*net/http.Client).Get", "(*net/http.Client).Head"}, name):
		return sent{reads: true}
	case fn.Pkg() != nil && fn.Pkg().Path() == "database/sql":
		if strings.HasPrefix(fn.Name(), "Exec") || strings.HasPrefix(fn.Name(), "Begin") || fn.Name() == "Commit" || statement(p, call) {
			return sent{writes: true}
		}
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || depth == 0 {
		return out
	}
	inner := p.Entry(decl)
	eachCall(inner, func(c *ast.CallExpr) { out.add(sends(inner, c, &from{p, call, by}, depth-1)) })
	return out
}

// methodOf returns the method of the request that a call of net/http creates: a constant there, or
// in the calls above it.
func methodOf(p *gocode.Place, fn *types.Func, call *ast.CallExpr, by *from) (method string, known bool) {
	for i := range fn.Signature().Params().Len() {
		if fn.Signature().Params().At(i).Name() != "method" || i >= len(call.Args) {
			continue
		}
		e := call.Args[i]
		for ; by != nil; by = by.above {
			v := syntax.LocalVar(p, e)
			if v == nil || len(syntax.Assigned(p, v)) > 0 {
				break
			}
			i := syntax.ParamIndex(syntax.SignatureOf(p), v)
			if i < 0 || i >= len(by.call.Args) {
				break
			}
			p, e = by.place, by.call.Args[i]
		}
		return syntax.ConstString(p, e)
	}
	return "", false
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
