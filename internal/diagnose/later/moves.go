package later

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/gocode"
)

// texts are functions and methods of the standard library that only make a text, a list or a value
// of their arguments, as the type checker names them.
var texts = []string{
	"fmt.Sprint*", "fmt.Errorf", "errors.New", "strings.*", "(*strings.Replacer).*", "strconv.*", "bytes.*", "unicode*", "encoding/json.Marshal*", "encoding/xml.Marshal*",
	"(*encoding/base64.Encoding).EncodeToString", "encoding/hex.*", "encoding/hex.Dump", "net/http/httputil.Dump*", "path.*", "path/filepath.Join", "path/filepath.Base",
	"path/filepath.Dir", "path/filepath.Ext", "path/filepath.Clean", "maps.Clone", "maps.Keys", "maps.Values", "slices.Clone", "slices.Collect", "slices.Sorted*",
	"slices.Contains*", "slices.Index*", "(time.Time).*", "(time.Duration).*", "(*net/url.URL).*", "(net/url.Values).Encode", "(net/http.Header).Clone", "(net/http.Header).Get",
	"(net/http.Header).Values", "(*net/http.Request).UserAgent", "(*net/http.Request).Referer", "(net/netip.*).*", "(net.IP).String", "hash/crc32.Checksum*", "crypto/*.Sum*",
	"(*regexp.Regexp).Find*", "(*regexp.Regexp).Match*", "(*regexp.Regexp).Replace*", "reflect.TypeOf", "math.*", "html.*", "sort.Search*", "(*math/big.Int).String",
	"(reflect.Type).String", "runtime/debug.Stack", "runtime.FuncForPC", "(*runtime.Func).Name",
}

// Moves reports whether an expression can be computed elsewhere: it has no visible side effects,
// and what it creates belongs to the function.
func Moves(p *gocode.Place, value ast.Expr) bool {
	fine := true
	ast.Inspect(value, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			fine = false
		case *ast.UnaryExpr:
			fine = fine && n.Op != token.ARROW
		case *ast.CallExpr:
			fine = fine && Computes(p, n)
		}
		return fine
	})
	return fine
}

// Computes reports whether a call seems to do nothing but compute its result, by what the function
// does, or by its name where its source is not of the package.
func Computes(p *gocode.Place, call *ast.CallExpr) bool {
	if _, conversion := p.Conversion(call); conversion {
		return true
	}
	switch name := p.CalleeName(call); name {
	case "len", "cap", "make", "new", "min", "max":
		return true
	case "append":
		return fresh(p, call.Args[0])
	case "":
		return false
	default:
		if funcname.Match(name, texts...) || listed(name) {
			return true
		}
	}
	fn := p.Callee(call)
	if fn == nil || effects.Impure(fn) || effects.Changes(fn) {
		return false
	}
	for _, arg := range call.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			if _, literal := ast.Unparen(u.X).(*ast.CompositeLit); !literal {
				return false // the result is in the argument
			}
		}
	}
	if decl := p.Declaration(fn); decl != nil {
		return decl.Body != nil && effects.LooksPure(p.Entry(decl))
	}
	return fn.Signature().Results().Len() > 0 && named(fn.Name(), "Marshal", "Encode", "Format", "String", "Dump", "Render", "Describe", "Clone", "Copy", "DeepCopy",
		"Hash", "Sum", "Key", "Text", "JSON", "To", "As", "Name", "Path", "Label", "Attr", "Field", "Stack", "Sdump", "Sprint", "Join", "Error", "Keys", "Values")
}

// listed reports whether a function is one of those whose result depends on its arguments alone.
func listed(name string) bool {
	return funcname.Match(name, funcname.TypedAll(effects.DeterministicFuncs())...)
}

// fresh reports whether a slice to append to is not shared.
func fresh(p *gocode.Place, e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		_, conversion := p.Conversion(x)
		return conversion || p.CalleeName(x) == "make"
	}
	return false
}

// named reports whether a function's name starts with one of some words.
func named(name string, words ...string) bool {
	for _, w := range words {
		if rest, ok := strings.CutPrefix(name, w); ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
			return true
		}
	}
	return false
}

// reader reports whether a call only reads what it gets, as far as its source or its name shows.
func reader(p *gocode.Place, call *ast.CallExpr) bool {
	if Computes(p, call) {
		return true
	}
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
		return effects.ChangesNothing(p.Entry(decl))
	}
	return named(fn.Name(), "Is", "Has", "Get", "Enabled", "Len", "Can", "Should", "String", "Error", "Contains", "Value", "Err", "Equal", "Load", "Level", "V",
		"Before", "After", "Done", "Header", "Context", "FormValue", "PathValue", "Cookie", "Debug", "Query")
}
