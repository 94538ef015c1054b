package effects

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// quiet are packages of the standard library whose functions (not methods) write nothing but their
// results.
var quiet = []string{
	"math", "math/bits", "math/cmplx", "cmp", "unicode", "unicode/utf8", "unicode/utf16", "strconv", "strings",
	"bytes", "errors", "html", "path", "path/filepath", "hash/crc32", "crypto/sha1", "crypto/sha256", "crypto/sha512", "crypto/md5",
}

// inPlace are functions that write only their first argument.
var inPlace = []string{"sort.Ints", "sort.Strings", "sort.Float64s", "slices.Sort", "slices.Reverse", "slices.Grow"}

// call judges a call in an iteration.
func (r *iteration) call(call *ast.CallExpr) {
	if _, ok := r.Conversion(call); ok {
		return
	}
	name := r.CalleeName(call)
	switch name {
	case "len", "cap", "min", "max", "make", "new", "real", "imag", "complex", "panic", "append":
		return // the result of append is written where it is assigned
	case "copy", "clear", "delete":
		if !r.owned(call.Args[0]) {
			r.changes(call, "writes %s, which the iterations may share", syntax.Short(syntax.Text(call.Args[0])))
		}
		return
	case "":
		r.refuse(call, "calls a function that is known only at run time")
		return
	}
	if r.computes && r.repeatable(call, name) || r.locks(call) {
		return
	}
	fn := r.Callee(call)
	if fn == nil {
		r.refuse(call, "calls %s", name)
		return
	}
	if fn.Pkg() == r.Pkg {
		r.follow(call, fn)
		return
	}
	if r.visible && Changes(fn) {
		r.changes(call, "calls %s", syntax.Short(name))
	}
	if !r.harmless(call, fn, name) && !(r.trusts && r.trusted(call, fn)) {
		r.refuse(call, "calls %s, which may change what the iterations share", syntax.Short(name))
	}
}

// trusted reports whether a function of another package is assumed to be pure: its name suggests no
// side effect, and its receiver is not a package variable.
func (r *iteration) trusted(call *ast.CallExpr, fn *types.Func) bool {
	if Impure(fn) || ReadsFiles(fn) && !r.files {
		return false
	}
	if fn.Signature().Recv() == nil {
		return true
	}
	v, _ := syntax.Var(r.Place, syntax.Receiver(call))
	return v != nil && v.Parent() != r.Pkg.Scope()
}

// repeatable reports whether the result of a function depends only on its arguments, or whether it
// calls a function argument for elements that belong to the caller.
func (r *iteration) repeatable(call *ast.CallExpr, name string) bool {
	if funcname.Match(name, "sort.Slice", "sort.SliceStable", "slices.SortFunc", "slices.SortStableFunc") && len(call.Args) == 2 {
		return r.owned(call.Args[0])
	}
	if funcname.Match(name, "(*regexp.Regexp).Find*", "(*regexp.Regexp).Match*", "(*regexp.Regexp).Replace*", "(*regexp.Regexp).Split",
		"encoding/json.Marshal*", "encoding/hex.*", "sort.Search*", "slices.BinarySearch*", "maps.Clone", "maps.Keys", "slices.Collect", "slices.Sorted*") {
		return true
	}
	if funcname.Match(name, funcname.TypedAll(requestReaders())...) {
		return true
	}
	for _, pattern := range DeterministicFuncs() {
		if funcname.Match(name, funcname.Typed(pattern)) && syntax.Receiver(call) == nil {
			return true
		}
	}
	return false
}

// harmless reports whether a function of the standard library writes nothing that iterations share.
func (r *iteration) harmless(call *ast.CallExpr, fn *types.Func, name string) bool {
	if fn.Signature().Recv() == nil {
		return isPackage(name, quiet...) ||
			funcname.Match(name, "fmt.Sprint*", "fmt.Errorf", "fmt.Append*", "slices.Contains*", "slices.Index*", "slices.Max*", "slices.Min*", "image.Rect", "image.Pt", "image.New*") ||
			funcname.Match(name, inPlace...) && len(call.Args) > 0 && r.owned(call.Args[0])
	}
	to := syntax.Receiver(call)
	if to == nil {
		return false
	}
	if r.owned(to) && !types.IsInterface(r.TypeOf(to)) {
		return true // the iteration's own builder, buffer or hash
	}
	if !isReference(r.TypeOf(to)) && !isReference(fn.Signature().Recv().Type()) {
		return true // a method of a value cannot write to it
	}
	if pixel(name) && len(call.Args) > 1 {
		return r.picked(call.Args[0]) || r.picked(call.Args[1])
	}
	method := name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(name, "(*image.") && (method == "PixOffset" || method == "Bounds" || strings.HasSuffix(method, "At"))
}

// pixel reports whether a method sets one pixel, at its first two arguments.
func pixel(name string) bool {
	return strings.HasPrefix(name, "(*image.") && strings.Contains(name, ").Set")
}

// follow analyzes a function of the same package with the arguments of the call.
func (r *iteration) follow(call *ast.CallExpr, fn *types.Func) {
	if slices.Contains(r.calls, fn) {
		return // it is being analyzed
	}
	decl := r.Declaration(fn)
	if decl == nil || decl.Body == nil || len(r.calls) >= deepest {
		r.refuse(call, "calls %s, which cannot be analyzed", fn.Name())
		return
	}
	in := &iteration{
		Place: r.Place, mine: map[types.Object]bool{}, picks: map[types.Object]bool{}, own: map[types.Object]bool{},
		calls: append(slices.Clone(r.calls), fn), computes: r.computes, trusts: r.trusts, files: r.files, visible: r.visible, locked: r.locked, marks: r.marks,
	}
	if decl.Recv != nil && len(decl.Recv.List) == 1 && len(decl.Recv.List[0].Names) == 1 {
		if to := syntax.Receiver(call); to != nil {
			in.take(r, decl.Recv.List[0].Names[0], to)
		}
	}
	args := call.Args
	for _, field := range decl.Type.Params.List {
		for _, id := range field.Names {
			if _, rest := field.Type.(*ast.Ellipsis); rest || len(args) == 0 {
				in.mine[r.Object(id)] = true
				continue
			}
			in.take(r, id, args[0])
			args = args[1:]
		}
		if len(field.Names) == 0 && len(args) > 0 {
			args = args[1:]
		}
	}
	in.declare(decl.Body)
	if decl.Type.Results != nil {
		in.declare(decl.Type.Results)
	}
	in.walk(decl.Body)
	if in.why != "" && r.why == "" {
		r.why = in.why
	}
}

// take records what a parameter receives.
func (r *iteration) take(from *iteration, id *ast.Ident, arg ast.Expr) {
	obj := r.Object(id)
	r.mine[obj] = true
	r.picks[obj] = from.picked(arg)
	r.own[obj] = from.owned(arg) || from.fresh(arg)
}
