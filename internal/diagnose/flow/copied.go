package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Copied reports whether the strings that all the calls return are only copied into buffers and
// writers, and returns how the first is.
func Copied(p *gocode.Place, calls []*ast.CallExpr) (string, bool) {
	var how string
	for _, call := range calls {
		f := text{place: p, seen: map[types.Object]bool{}}
		if !f.sinks(call) {
			return "", false
		}
		if how == "" && len(f.ways) > 0 {
			slices.Sort(f.ways)
			how = funcname.List(slices.Compact(f.ways))
		}
	}
	return how, how != ""
}

// CopiedFar is [Copied] that also follows the strings into local lists that are joined or ranged
// over, and to the callers of a function or function literal that returns them. far reports whether
// that was needed: functions that other code calls through an interface are not followed, but calls
// by reflection are not seen.
func CopiedFar(s *gocode.Syntax, p *gocode.Place, made []ast.Expr) (how string, far, ok bool) {
	var ways []string
	for _, e := range made {
		f := text{place: p.Outer(), seen: map[types.Object]bool{}, syntax: s, origin: e}
		if !f.sinks(e) {
			return "", false, false
		}
		ways = append(ways, f.ways...)
		far = far || f.far
	}
	slices.Sort(ways)
	return funcname.List(slices.Compact(ways)), far, len(ways) > 0
}

// text follows a string through a function.
type text struct {
	place *gocode.Place
	seen  map[types.Object]bool
	ways  []string // the sinks met
	depth int      // of the calls that it is followed into
	// syntax is set to follow the string into lists and to callers, too.
	syntax *gocode.Syntax
	far    bool     // that was done
	origin ast.Node // what makes the string in this function; nil: it is a parameter
}

// sinks reports whether the value of e is copied into something and has no other use.
func (f *text) sinks(e ast.Expr) bool {
	var child ast.Node = e
	for _, parent := range f.place.Enclosing(e) {
		switch n := parent.(type) {
		case *ast.ParenExpr:
		case *ast.BinaryExpr:
			if n.Op != token.ADD {
				return false
			}
			// A concatenation holds a copy: its uses decide whether the bytes could have been
			// written there directly.
		case *ast.CallExpr:
			done, ok := f.argument(n, child)
			if done {
				return ok
			}
		case *ast.AssignStmt:
			return f.assigned(n, child)
		case *ast.ValueSpec:
			for i, v := range n.Values {
				if v == child && len(n.Values) == len(n.Names) {
					return f.variable(n.Names[i])
				}
			}
			return false
		case *ast.CompositeLit, *ast.KeyValueExpr, *ast.ReturnStmt:
			return f.syntax != nil && f.leaves(parent, child)
		default:
			return false
		}
		child = parent
	}
	return false
}

// assigned follows a value into the variable that it is assigned to.
func (f *text) assigned(a *ast.AssignStmt, value ast.Node) bool {
	if len(a.Lhs) != len(a.Rhs) {
		return false
	}
	for i, rhs := range a.Rhs {
		if rhs == value {
			if at, element := ast.Unparen(a.Lhs[i]).(*ast.IndexExpr); element && f.syntax != nil {
				return f.element(at)
			}
			id, ok := ast.Unparen(a.Lhs[i]).(*ast.Ident)
			return ok && f.variable(id)
		}
	}
	return false
}

// variable reports whether a local variable is read only to be copied into a sink.
func (f *text) variable(id *ast.Ident) bool {
	v, ok := f.place.Object(id).(*types.Var)
	if !ok || v.IsField() || v.Parent() == f.place.Pkg.Scope() || f.place.Decl == nil {
		return false
	}
	if syntax.IsResult(f.place, v) {
		return false
	}
	if f.seen[v] {
		return true // s += x: the value goes back into s, whose uses are being examined
	}
	f.seen[v] = true
	reads := 0
	for _, use := range syntax.Uses(f.place, v) {
		if syntax.Defines(f.place, use) {
			continue
		}
		if f.again(use) || !f.sinks(use) {
			return false
		}
		reads++
	}
	return reads > 0
}

// argument examines a call with the value as an argument. ok: the call copies it into a buffer.
// done is false for a conversion, whose result must be followed.
func (f *text) argument(call *ast.CallExpr, value ast.Node) (done, ok bool) {
	p := f.place
	if call.Fun == value {
		return true, false
	}
	if t, isConversion := p.Conversion(call); isConversion {
		_, slice := t.Underlying().(*types.Slice)
		return false, slice || syntax.IsString(p, call)
	}
	name := p.CalleeName(call)
	switch {
	case name == "append" && f.syntax != nil && !call.Ellipsis.IsValid() && call.Args[0] != value:
		return true, f.list(call)
	case name == "append":
		f.ways = append(f.ways, "appended to a slice")
		return true, call.Ellipsis.IsValid() && call.Args[len(call.Args)-1] == value
	case name == "copy":
		f.ways = append(f.ways, "copied")
		return true, len(call.Args) == 2 && call.Args[1] == value
	case funcname.Match(name, "fmt.Fprint*"):
		f.ways = append(f.ways, "printed to a writer")
		return true, true
	case funcname.Match(name, "fmt.Sprint*", "fmt.Append*", "log.Print*", "(*log.Logger).Print*"):
		f.ways = append(f.ways, "formatted into a larger string")
		return true, true
	case name == "io.WriteString":
		f.ways = append(f.ways, "written out")
		return true, len(call.Args) == 2 && call.Args[1] == value
	case writesOut(p, call, name):
		f.ways = append(f.ways, "written to a buffer or writer")
		return true, true
	}
	return true, f.passed(call, value)
}

// deepest is the number of nested calls that a string is followed into.
const deepest = 2

// passed reports whether a function of the package that gets the value only copies it. The function
// must not be a method of a type that other code may replace by another.
func (f *text) passed(call *ast.CallExpr, value ast.Node) bool {
	fn := f.place.Callee(call)
	decl := f.place.Declaration(fn)
	i := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return ast.Node(e) == value })
	if decl == nil || decl.Body == nil || i < 0 || f.depth >= deepest || fn.Signature().Variadic() {
		return false
	}
	in := f.place.Entry(decl)
	param := fn.Signature().Params().At(i)
	if f.seen[param] {
		return true
	}
	f.seen[param] = true
	inner := text{place: in, seen: f.seen, depth: f.depth + 1, syntax: f.syntax}
	reads := syntax.Reads(in, param)
	for _, id := range reads {
		if inner.again(id) || !inner.sinks(id) {
			return false
		}
	}
	f.ways = append(f.ways, inner.ways...)
	f.far = f.far || inner.far
	return len(reads) > 0 && len(syntax.Assigned(in, param)) == 0
}

// writesOut reports whether a call is a Write or WriteString with the signature of io.Writer's.
func writesOut(p *gocode.Place, call *ast.CallExpr, name string) bool {
	if !strings.HasSuffix(name, ").Write") && !strings.HasSuffix(name, ").WriteString") {
		return false
	}
	sig, ok := p.TypeOf(call.Fun).(*types.Signature)
	return ok && sig.Params().Len() == 1 && sig.Results().Len() == 2 &&
		types.Identical(sig.Results().At(0).Type(), types.Typ[types.Int])
}
