package unchangedwrite

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// sink is a call that writes a state: after it, something has the given values, whatever it had
// before.
type sink struct {
	call   *ast.CallExpr
	what   string     // what has the state
	values []ast.Expr // what is written
	key    []ast.Expr // expressions that say where
	sql    *statement // nil for other writes
	verb   string
}

// sinkOf returns what a call writes; nil if it writes no state, or may not.
func (s *search) sinkOf(p *gocode.Place, call *ast.CallExpr) *sink {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil {
		return nil
	}
	switch name := gocode.FullName(fn); {
	case name == "os.WriteFile" && len(call.Args) == 3:
		return s.file(p, call, call.Args[0], call.Args[1])
	case (name == "(*os.File).Write" || name == "(*os.File).WriteString") && len(call.Args) == 1:
		created, ok := syntax.Origin(p, syntax.Receiver(call)).(*ast.CallExpr)
		if ok && p.CalleeName(created) == "os.Create" {
			return s.file(p, call, created.Args[0], call.Args[0])
		}
	case name == "(*net/http.Client).Do" && len(call.Args) == 1:
		return put(p, call)
	case fn.Signature().Recv() != nil && keepsValues(fn.Pkg().Path()) && (fn.Name() == "Set" || fn.Name() == "Put" || fn.Name() == "HSet"):
		return set(p, call, fn)
	}
	return s.executed(p, call)
}

// file is sinkOf for a call that writes a whole file.
func (s *search) file(p *gocode.Place, call *ast.CallExpr, path, data ast.Expr) *sink {
	if text, ok := syntax.ConstString(p, path); ok && (strings.HasPrefix(text, "/dev/") || strings.HasPrefix(text, "/sys/") || strings.HasPrefix(text, "/proc/")) {
		return nil // a device: each write does something
	}
	if sign(p) {
		return nil
	}
	if s.runs("os.Remove") || s.runs("os.RemoveAll") {
		return nil // the file may be gone
	}
	return &sink{call: call, what: "the file", verb: "write it", values: []ast.Expr{data}, key: []ast.Expr{path}}
}

// sign reports whether the function's name says that it writes a sign of life.
func sign(p *gocode.Place) bool {
	return living(strings.ToLower(syntax.FuncName(p)))
}

// runs reports whether the main module calls a function more than seldom.
func (s *search) runs(name string) bool {
	return slices.ContainsFunc(s.pass.Syntax.CallsOf(name), func(p *gocode.Place) bool { return s.sql.Executions(p) > seldom*s.own })
}

// put is sinkOf for a request with the method PUT.
func put(p *gocode.Place, call *ast.CallExpr) *sink {
	made, ok := syntax.Origin(p, call.Args[0]).(*ast.CallExpr)
	if !ok || !strings.HasPrefix(p.CalleeName(made), "net/http.NewRequest") || len(made.Args) < 3 {
		return nil
	}
	args := made.Args[len(made.Args)-3:]
	if method, ok := syntax.ConstString(p, args[0]); !ok || method != "PUT" || sign(p) {
		return nil
	}
	return &sink{call: call, what: "the other side", verb: "send it", values: []ast.Expr{args[2]}, key: []ast.Expr{args[1]}}
}

// keepsValues reports whether a package is a client of a store of keys and values, or such a store.
func keepsValues(path string) bool {
	return slices.ContainsFunc([]string{"redis", "etcd", "badger", "bbolt", "memcache", "leveldb", "pebble", "nats.go", "consul"},
		func(word string) bool { return strings.Contains(path, word) })
}

// set is sinkOf for a call that sets a key to a value.
func set(p *gocode.Place, call *ast.CallExpr, fn *types.Func) *sink {
	args := call.Args
	if len(args) > 0 && syntax.TypeText(p, p.TypeOf(args[0])) == "context.Context" {
		args = args[1:]
	}
	if len(args) < 2 || call.Ellipsis.IsValid() {
		return nil
	}
	for _, arg := range args[2:] { // a time after which the key expires, or options
		v, ok := p.Const(arg)
		if id, named := ast.Unparen(arg).(*ast.Ident); named && id.Name == "nil" {
			continue
		}
		if fn.Name() != "HSet" && (!ok || v.Kind() != constant.Int || v.String() != "0") {
			return nil
		}
	}
	return &sink{call: call, what: "the key", verb: "write it", values: args, key: args[:1]}
}

// executed is sinkOf for a call that executes a SQL statement.
func (s *search) executed(p *gocode.Place, call *ast.CallExpr) *sink {
	sent := s.sql.Sent(p, call)
	if sent == nil || sent.Reads() || !sent.Dropped() {
		return nil // whoever asks how many rows changed may depend on the write
	}
	st := parse(sent.Text)
	if st == nil || s.sql.Written(st.table, sent.Text, call, seldom*s.own) {
		return nil
	}
	out := &sink{call: call, what: "the row of " + st.table, verb: "execute it", sql: st, values: sent.Args}
	for _, i := range st.keys {
		if i >= len(out.values) {
			return nil
		}
		out.key = append(out.key, out.values[i])
	}
	return out
}
