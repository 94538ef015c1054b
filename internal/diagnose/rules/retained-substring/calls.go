package retainedsubstring

import (
	"cmp"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// argument follows a value into a call.
func (f *follower) argument(in *scope, call *ast.CallExpr, is func(ast.Expr) bool, v value, depth int) {
	p := in.place
	if to, conversion := p.Conversion(call); conversion {
		if from := p.TypeOf(call.Args[0]); from != nil && to != nil && !copied(from, to) {
			f.follow(in, call, v, depth+1)
		}
		return
	}
	at := -1
	for i, arg := range call.Args {
		if is(arg) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	name := p.CalleeName(call)
	switch {
	case name == "append":
		if at == 0 || !call.Ellipsis.IsValid() || carries(syntax.Elem(p.TypeOf(call.Args[at]))) {
			if at > 0 {
				v.among = cmp.Or(v.among, f.repeats(in, call))
			}
			f.follow(in, call, v, depth+1)
		}
	case f.split(in, call, name, v, depth):
	case copies(name) || inert(p, call, name) || buffered(p.TypeOf(call.Args[at])):
	default:
		f.enter(in, call, at, v, depth)
	}
}

// copied reports whether a conversion copies: from bytes to a string, or back.
func copied(from, to types.Type) bool {
	_, text := from.Underlying().(*types.Basic)
	_, other := to.Underlying().(*types.Basic)
	_, boxed := to.Underlying().(*types.Interface)
	return text != other && !boxed
}

// split follows the results of functions of the standard library that are parts of an argument, and
// reports whether the call is one.
func (f *follower) split(in *scope, call *ast.CallExpr, name string, v value, depth int) bool {
	piece := f.piece(in.place, call, v)
	switch {
	case funcname.Match(name, "strings.Cut", "bytes.Cut"):
		f.results(in, call, 0, piece, depth)
		if v.extent == part {
			v = piece
		}
		f.results(in, call, 1, v, depth)
	case funcname.Match(name, "strings.Trim*", "bytes.Trim*", "strings.CutPrefix", "strings.CutSuffix", "bytes.CutPrefix", "bytes.CutSuffix"):
		f.results(in, call, 0, v, depth)
	case funcname.Match(name, "strings.Split*", "strings.Fields*", "strings.Lines", "bytes.Split*", "bytes.Fields*", "bytes.Lines", "(*regexp.Regexp).FindAll*", "(*regexp.Regexp).Split"):
		if v.extent == entire {
			v.extent = each
		}
		f.results(in, call, 0, v, depth)
	case funcname.Match(name, "(*regexp.Regexp).FindString*", "(*regexp.Regexp).FindSubmatch", "(*regexp.Regexp).Find"):
		f.results(in, call, 0, piece, depth)
	default:
		return false
	}
	return true
}

// results follows one result of a call.
func (f *follower) results(in *scope, call *ast.CallExpr, i int, v value, depth int) {
	if t, ok := in.place.TypeOf(call).(*types.Tuple); ok {
		if i >= t.Len() || !carries(t.At(i).Type()) {
			return
		}
		switch n := syntax.Parent(in.place, call).(type) {
		case *ast.AssignStmt:
			if i < len(n.Lhs) {
				if v.cut != nil && v.cut.expr == ast.Expr(call) {
					v = f.piece(in.place, n.Lhs[i], v)
				}
				f.assigned(in, n.Lhs[i], n.Lhs[i], v, depth)
			}
		case *ast.ReturnStmt:
			if in.result != nil && len(n.Results) == 1 {
				in.result(i, v)
			}
		case *ast.ExprStmt:
		default:
			f.whole = f.whole || v.extent == entire
		}
		return
	}
	f.follow(in, call, v, depth+1)
}

// enter follows a value into the function that is called, as its argument at an index, or as its
// receiver if that is -1.
func (f *follower) enter(in *scope, call *ast.CallExpr, at int, v value, depth int) {
	callee := in.place.Callee(call)
	place, ok := f.pass.Syntax.Declared(callee)
	if !ok || in.depth > 6 {
		f.unknown(in, call, at, v)
		return
	}
	sig := signature(place)
	param := sig.Recv()
	if at >= 0 {
		if sig.Params().Len() == 0 {
			return
		}
		param = sig.Params().At(min(at, sig.Params().Len()-1))
	}
	if param == nil {
		return
	}
	below := &scope{place: place, depth: in.depth + 1, repeat: f.repeats(in, call)}
	below.result = func(i int, w value) { f.results(in, call, i, w, depth+1) }
	f.variable(below, param, v, depth+1)
}

// unknown judges a call of a function without source. One whose name says that it stores something
// does; of the others, those of the standard library that return nothing that could have the buffer
// keep nothing.
func (f *follower) unknown(in *scope, call *ast.CallExpr, at int, v value) {
	name := in.place.CalleeName(call)
	short := name[strings.LastIndexByte(name, '.')+1:]
	if at >= 0 && funcname.Match(short, "Add*", "Put*", "Set*", "Store*", "Push*", "Insert*", "LoadOrStore", "Swap") {
		f.store(in, call.Args[at], v)
		return
	}
	f.whole = f.whole || v.extent == entire && at >= 0
}

// readers are functions that keep nothing of their arguments: they read, copy or write them.
var readers = []string{
	"panic", "print", "println", "io.Copy*", "io.Read*", "io.WriteString", "log.*", "log/slog.*", "fmt.*",
	"strings.NewReader", "bytes.NewReader", "bytes.NewBuffer*", "strings.Join", "bytes.Join",
	"strings.To*", "strings.Replace*", "strings.Map", "strings.Repeat", "bytes.To*", "bytes.Replace*", "bytes.Map", "bytes.Repeat",
	"(*bufio.Writer).Write*", "(*os.File).*", "(io.Writer).Write", "(io.Reader).Read", "(net/http.ResponseWriter).Write", "(net.Conn).*",
	"(*compress/*", "(hash.Hash*", "(*hash/*", "encoding/binary.*", "(encoding/binary.*", "(*encoding/json.Encoder).Encode", "encoding/*.Unmarshal", "encoding/*.Decode*",
	"(*regexp.Regexp).Match*", "(*regexp.Regexp).Replace*", "(*regexp.Regexp).Find*Index",
	"slices.Sort*", "slices.Clone", "slices.Contains*", "slices.Index*", "slices.BinarySearch*", "sort.*",
}

// inert reports whether a call keeps nothing of its arguments: the function is of the standard
// library, has no receiver, and its results contain no pointers; or it is known to read or write.
func inert(p *gocode.Place, call *ast.CallExpr, name string) bool {
	if funcname.Match(name, readers...) {
		return true
	}
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() != nil || strings.Contains(fn.Pkg().Path(), ".") || fn.Pkg() == p.Pkg {
		return false
	}
	for r := range fn.Signature().Results().Variables() {
		if !types.Identical(r.Type(), types.Universe.Lookup("error").Type()) && syntax.HoldsPointers(r.Type()) {
			return false
		}
	}
	for v := range fn.Signature().Params().Variables() {
		if t, ok := v.Type().Underlying().(*types.Pointer); ok && carries(t.Elem()) {
			return false
		}
	}
	return true
}

// buffered reports whether a type is that of a buffer that functions write to.
func buffered(t types.Type) bool {
	if t == nil {
		return false
	}
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	name := types.TypeString(t, nil)
	return name == "bytes.Buffer" || name == "strings.Builder"
}

// method follows a value whose method is called.
func (f *follower) method(in *scope, call *ast.CallExpr, recv ast.Expr, v value, depth int) {
	name := in.place.CalleeName(call)
	switch {
	case funcname.Match(name, "(*strings.Builder).String", "(*bytes.Buffer).Bytes"):
		f.follow(in, call, v, depth+1)
	case buffered(in.place.TypeOf(recv)):
	default:
		f.enter(in, call, -1, v, depth)
	}
}
