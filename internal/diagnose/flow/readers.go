package flow

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// called follows a value that is an argument of a call.
func (r *Reading) called(p *gocode.Place, call *ast.CallExpr, e ast.Expr, part bool) {
	i := argument(call, e)
	if i < 0 {
		return // it is the function
	}
	if _, conversion := p.Conversion(call); conversion {
		r.value(p, call, part)
		return
	}
	fn := p.Callee(call)
	if fn == nil {
		r.builtin(p, call, i, part)
		return
	}
	name := fn.FullName()
	switch {
	case funcname.Match(name, "slices.Sort*", "slices.Reverse", "slices.Delete*", "slices.Compact*", "slices.Insert", "slices.Replace", "sort.*", "maps.DeleteFunc", "maps.Copy", "math/rand.Shuffle"):
		if name == "maps.Copy" && i == 1 {
			r.follow(p, call.Args[0], call, part)
		} else if part && !strings.HasPrefix(name, "slices.Sorted") && !strings.HasPrefix(name, "sort.Search") {
			r.other(p, call)
		} else {
			r.value(p, call, part)
		}
		return
	case fn.Pkg() != nil && (fn.Pkg().Path() == "slices" || fn.Pkg().Path() == "maps" || name == "cmp.Or"):
		r.value(p, call, part) // what it returns may be the value, or have it
		return
	}
	if decl, ok := r.declared(fn); ok {
		r.parameter(p, call, decl, i, part)
		return
	}
	if !reads(p, call, fn, nil) {
		r.other(p, call)
	}
}

func argument(call *ast.CallExpr, e ast.Expr) int {
	for i, a := range call.Args {
		if ast.Unparen(a) == ast.Unparen(e) {
			return i
		}
	}
	return -1
}

// parameter follows argument i of a call into the function's body.
func (r *Reading) parameter(p *gocode.Place, call *ast.CallExpr, decl *gocode.Place, i int, part bool) {
	sig := syntax.SignatureOf(decl)
	if sig == nil {
		r.other(p, call)
		return
	}
	if sig.Variadic() {
		i = min(i, sig.Params().Len()-1)
	}
	if i < sig.Params().Len() {
		r.into(p, call, decl, sig.Params().At(i), part)
	}
}

// builtin follows argument i of a builtin function, or of a function that a variable holds.
func (r *Reading) builtin(p *gocode.Place, call *ast.CallExpr, i int, part bool) {
	switch p.CalleeName(call) {
	case "append":
		if i > 0 || !part {
			r.value(p, call, part)
		} else {
			r.other(p, call) // it may write to the array
		}
		return
	case "copy":
		if i == 1 {
			r.follow(p, call.Args[0], call, part)
		} else if part {
			r.other(p, call)
		}
		return
	case "delete", "clear":
		if part && i == 0 {
			r.other(p, call)
		}
		return
	case "len", "cap", "min", "max", "print", "println", "panic":
		return
	}
	if v := syntax.LocalVar(p, call.Fun); v != nil {
		if stmt, _ := syntax.Declared(p, v); stmt == nil { // a parameter
			r.Given = append(r.Given, Callback{v, i})
			return
		}
		if lit, ok := syntax.Origin(p, call.Fun).(*ast.FuncLit); ok {
			r.Parameter(p, lit, i)
			return
		}
	}
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		r.Parameter(p, lit, i)
		return
	}
	if sig, ok := p.TypeOf(call.Fun).(*types.Signature); !ok || !computes(sig) {
		r.other(p, call)
	}
}

// computes reports whether a function whose body is not known seems to compute something: it
// returns numbers, strings or times.
func computes(sig *types.Signature) bool {
	for v := range sig.Results().Variables() {
		if !plain(v.Type()) || v.Type().String() == "error" {
			return false
		}
	}
	return sig.Results().Len() > 0
}

// stdReaders are functions that read their arguments and keep none of them, as source names them.
var stdReaders = []string{
	"strings.*", "bytes.Equal", "bytes.Contains*", "bytes.Index*", "bytes.HasPrefix", "bytes.HasSuffix", "bytes.Compare", "strconv.*", "fmt.*", "errors.*", "reflect.DeepEqual",
	"encoding/json.Marshal*", "encoding/xml.Marshal*", "(*encoding/json.Encoder).Encode", "(*encoding/xml.Encoder).Encode", "(*encoding/gob.Encoder).Encode", "(*encoding/csv.Writer).Write*",
	"encoding/binary.Write", "encoding/base64.*", "encoding/hex.*", "(*encoding/base64.Encoding).EncodeToString", "crypto/*.Sum*", "hash/*.Checksum*", "hash/maphash.*",
	"(io.Writer).Write", "io.WriteString", "(net/http.ResponseWriter).Write", "(*bytes.Buffer).Write*", "(*strings.Builder).Write*", "(*bufio.Writer).Write*", "(hash.Hash).Write",
	"(*text/template.Template).Execute*", "(*html/template.Template).Execute*", "log.*", "(*log.Logger).*", "log/slog.*", "(*log/slog.Logger).*", "net/http.Error",
	"sync/atomic.Load*", "unicode/utf8.*", "time.*", "math.*", "cmp.*", "path.*", "path/filepath.*", "regexp.*", "(*regexp.Regexp).*",
}

// encoders are the names of functions of other modules that write what they get.
var encoders = []string{"Marshal", "MarshalIndent", "Encode", "JSON", "JSONBlob", "IndentedJSON", "PureJSON", "XML", "YAML", "Execute", "ExecuteTemplate", "Render", "EncodeMsgpack"}

// reads reports whether a call of a function without source only reads its arguments and the value
// that it is a method of.
func reads(p *gocode.Place, call *ast.CallExpr, fn *types.Func, of types.Type) bool {
	if fn == nil {
		return false
	}
	if of != nil && plain(of) {
		return true
	}
	if of == nil && funcname.Match(fn.FullName(), stdReaders...) {
		return true
	}
	if of != nil {
		switch fn.Name() {
		case "String", "Error", "Len", "Equal", "Load", "Get", "Cmp", "Sign", "IsZero", "Bytes", "MarshalJSON", "MarshalText", "Size":
			return true
		}
	}
	for _, name := range encoders {
		if fn.Name() == name {
			return true
		}
	}
	sig := fn.Signature()
	if sig.Recv() != nil && types.IsInterface(sig.Recv().Type()) {
		return computes(sig)
	}
	return false
}
