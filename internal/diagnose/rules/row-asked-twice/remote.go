package rowaskedtwice

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Units of what a request is about: see access.unit.
const (
	resource = "resource" // of net/http, by its URL
	object   = "object"   // of an object store, by bucket and key
)

// remoteAccess returns the request for one resource or object that a call sends; nil for other
// calls, and for requests whose address the function does not show.
func remoteAccess(p *gocode.Place, call *ast.CallExpr) *access {
	name := p.CalleeName(call)
	if key, asks, ok := requested(p, call, name); ok {
		return keyed(p, call, []ast.Expr{key}, resource, asks)
	}
	if keys, asks, ok := stored(p, call, name); ok {
		return keyed(p, call, keys, object, asks)
	}
	return nil
}

// keyed returns an access by keys, of which one at least is not constant; nil for others.
func keyed(p *gocode.Place, call *ast.CallExpr, keys []ast.Expr, unit string, asks bool) *access {
	text, ok := notation(p, keys)
	if !ok {
		return nil
	}
	return &access{Access: &sqltext.Access{Verb: "select", Table: text + " " + unit, Sums: asks}, call: call, keys: keys, unit: unit, asks: asks}
}

// notation returns keys as text, with the variables that they are made of left out. It reports
// false if it does not know those.
func notation(p *gocode.Place, keys []ast.Expr) (string, bool) {
	out, some := make([]string, 0, len(keys)), false
	for _, key := range keys {
		made := syntax.Origin(p, key)
		v := root(p, made)
		if v == nil {
			if _, constant := syntax.ConstString(p, key); !constant && !field(p, key) {
				return "", false
			}
		}
		some = some || v != nil
		out = append(out, without(types.ExprString(made), v))
	}
	return strings.Join(out, " "), some
}

// field reports whether an expression is a field, such as the bucket of a store.
func field(p *gocode.Place, e ast.Expr) bool {
	v := syntax.Named(p, e)
	return v != nil && v.IsField()
}

// requested returns the URL of a request of net/http that reads, and whether it only asks for the
// head.
func requested(p *gocode.Place, call *ast.CallExpr, name string) (url ast.Expr, asks, ok bool) {
	switch name {
	case "net/http.Get", "(*net/http.Client).Get":
		return call.Args[0], false, true
	case "net/http.Head", "(*net/http.Client).Head":
		return call.Args[0], true, true
	case "(*net/http.Client).Do":
	default:
		return nil, false, false
	}
	made, isCall := syntax.Origin(p, call.Args[0]).(*ast.CallExpr)
	if !isCall {
		return nil, false, false
	}
	args := made.Args
	switch p.CalleeName(made) {
	case "net/http.NewRequestWithContext":
		args = args[1:]
	case "net/http.NewRequest":
	default:
		return nil, false, false
	}
	method, known := syntax.ConstString(p, args[0])
	return args[1], method == "HEAD", known && (method == "" || method == "GET" || method == "HEAD") && p.Info.Types[args[2]].IsNil()
}

// stored returns the bucket and the key of a request to an object store that reads one object, and
// whether it only asks for what is known about it.
func stored(p *gocode.Place, call *ast.CallExpr, name string) (keys []ast.Expr, asks, ok bool) {
	switch {
	case strings.HasPrefix(name, "(*github.com/minio/minio-go") && len(call.Args) >= 3:
		method := name[strings.LastIndexByte(name, '.')+1:]
		return call.Args[1:3], method == "StatObject", slices.Contains([]string{"StatObject", "GetObject"}, method)
	case strings.HasPrefix(name, "(*github.com/aws/aws-sdk-go"):
		method := strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "WithContext")
		if method != "HeadObject" && method != "GetObject" {
			return nil, false, false
		}
		for _, arg := range call.Args {
			if bucket, key := fieldOf(p, arg, "Bucket"), fieldOf(p, arg, "Key"); bucket != nil && key != nil {
				return []ast.Expr{bucket, key}, method == "HeadObject", true
			}
		}
	}
	return nil, false, false
}

// fieldOf returns the value of a field in &T{…}, without the call that makes a pointer to it; nil
// for none.
func fieldOf(p *gocode.Place, e ast.Expr, name string) ast.Expr {
	u, ok := syntax.Origin(p, e).(*ast.UnaryExpr)
	if !ok || u.Op != token.AND {
		return nil
	}
	lit, ok := u.X.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if id, ok := kv.Key.(*ast.Ident); !ok || id.Name != name {
			continue
		}
		if call, ok := ast.Unparen(kv.Value).(*ast.CallExpr); ok && len(call.Args) == 1 { // aws.String(key)
			return call.Args[0]
		}
		if u, ok := ast.Unparen(kv.Value).(*ast.UnaryExpr); ok && u.Op == token.AND {
			return u.X
		}
		return kv.Value
	}
	return nil
}

// asksIn reports whether a function that reads a resource or object only says whether there is one:
// it neither returns nor fills anything else.
func asksIn(fn *types.Func) bool {
	for v := range fn.Signature().Params().Variables() {
		switch t := v.Type().Underlying().(type) {
		case *types.Pointer:
			return false
		case *types.Interface:
			if t.Empty() {
				return false
			}
		}
	}
	results := fn.Signature().Results()
	for v := range results.Variables() {
		b, ok := v.Type().Underlying().(*types.Basic)
		if !syntax.IsError(v.Type()) && (!ok || b.Kind() != types.Bool) {
			return false
		}
	}
	return results.Len() > 0
}

// responds reports whether a use of a response only tests its status, or closes its body.
func responds(p *gocode.Place, id *ast.Ident) bool {
	sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch sel.Sel.Name {
	case "StatusCode":
		return tested(p, sel)
	case "Body":
		to, ok := syntax.Parent(p, sel).(*ast.SelectorExpr)
		return ok && to.Sel.Name == "Close"
	}
	return false
}

// response reports whether a type is that of responses of net/http.
func response(t types.Type) bool { return types.TypeString(t, nil) == "*net/http.Response" }

// composed returns the table of an access in terms of a caller, which passes keys: each ? of the
// function below stands for one of them.
func composed(p *gocode.Place, table string, given []ast.Expr) (string, bool) {
	parts := strings.Split(table, "?")
	if len(parts) != len(given)+1 {
		return table, len(given) > 0
	}
	var out strings.Builder
	out.WriteString(parts[0])
	for i, key := range given {
		text, ok := notation(p, []ast.Expr{key})
		if !ok {
			if _, constant := syntax.ConstString(p, key); !constant {
				return "", false
			}
			text = types.ExprString(key)
		}
		out.WriteString(text + parts[i+1])
	}
	return out.String(), true
}
