package parsedperuse

import (
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// changes says how often the code of loaded packages may give a field another value, for each unit
// of work.
type changes struct {
	sets    float64 // lines that set it, or create an object that has it
	decoded float64 // calls that may create any number of such objects
	known   bool    // such code was seen, or no other package can have it
}

// counter counts the changes of a field in one package.
type counter struct {
	*changes
	pass  *rule.Pass
	place *gocode.Place
	field *types.Var
}

// changesOf returns the changes of a field in all loaded packages.
func changesOf(pass *rule.Pass, p *gocode.Place, field *types.Var) *changes {
	c := &changes{known: field.Pkg().Name() == "main"}
	have, _ := pass.Syntax.Packages()
	for _, name := range have {
		in, ok := pass.Syntax.Package(name)
		if !ok || in.Pkg != field.Pkg() && !imports(in.Pkg, field.Pkg()) {
			continue
		}
		count := &counter{changes: c, pass: pass, place: in, field: field}
		for _, f := range in.Files() {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Body != nil {
						ast.Inspect(d.Body, count.visit)
					}
				case *ast.GenDecl: // runs once
					ast.Inspect(d, func(n ast.Node) bool {
						c.known = c.known || count.creates(n)
						return true
					})
				}
			}
		}
	}
	return c
}

func imports(pkg, other *types.Package) bool {
	return slices.ContainsFunc(pkg.Imports(), func(i *types.Package) bool { return i.Path() == other.Path() })
}

func (c *counter) visit(n ast.Node) bool {
	switch {
	case n == nil:
	case c.creates(n) || c.sets(n):
		c.known = true
		c.changes.sets += c.runs(n)
	case c.decodes(n):
		c.known = true
		c.decoded += c.runs(n)
	}
	return true
}

// runs returns how often a node runs for each unit of work; any number where that is not known.
func (c *counter) runs(n ast.Node) float64 {
	if times, ok := evidence.ReachedAt(c.pass, c.place, n.Pos()); ok {
		return times
	}
	if e, ok := evidence.ExecutionsAt(c.pass, c.place, n.Pos()); ok {
		return e.PerUnit
	}
	if !c.pass.Counts.Ran(c.place.Pkg.Path(), c.place.Fset.Position(n.Pos()).Filename) {
		return 0
	}
	return math.Inf(1)
}

// sets reports whether a node sets the field or one of its elements, takes its address, or may
// write to its memory.
func (c *counter) sets(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, c.is) || memory(c.field.Type()) && slices.ContainsFunc(n.Rhs, c.is)
	case *ast.CallExpr:
		return c.writes(n)
	case *ast.IncDecStmt:
		return c.is(n.X)
	case *ast.UnaryExpr:
		return n.Op == token.AND && c.is(n.X)
	}
	return false
}

// is reports whether an expression is the field or an element of it.
func (c *counter) is(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			return same(c.place.Object(x.Sel), c.field)
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return false
		}
	}
}

// writes reports whether a call may write to the memory of the field: a buffer that it gets and
// that a Reader fills, a list that it sorts.
func (c *counter) writes(call *ast.CallExpr) bool {
	if !slices.ContainsFunc(call.Args, c.is) {
		return false
	}
	name := c.place.CalleeName(call)
	if _, conversion := c.place.Conversion(call); conversion || name == "len" || name == "cap" {
		return false
	}
	if name == "copy" || name == "clear" {
		return c.is(call.Args[0])
	}
	if !memory(c.field.Type()) {
		return strings.HasPrefix(name, "sort.") || strings.HasPrefix(name, "slices.Sort") || name == "slices.Reverse"
	}
	if funcname.Match(name, funcname.TypedAll(effects.DeterministicFuncs())...) {
		return false
	}
	fn := c.place.Callee(call)
	if fn != nil && decodes(fn) && !c.is(call.Args[1]) {
		return false // it reads the text
	}
	return fn == nil || !strings.HasPrefix(fn.Name(), "Write")
}

// memory reports whether a type is a list of bytes, which is a buffer as often as a text.
func memory(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return syntax.StringOrBytes(u)
	case *types.Array:
		return syntax.StringOrBytes(types.NewSlice(u.Elem()))
	}
	return false
}

// same reports whether two objects are the same field, maybe seen from different packages.
func same(a types.Object, b *types.Var) bool {
	if v, ok := a.(*types.Var); ok && v.IsField() && v.Name() == b.Name() && v.Pkg() != nil && v.Pkg().Path() == b.Pkg().Path() {
		return v == b || v.Pos() == b.Pos() || v.Pkg() != b.Pkg()
	}
	return false
}

// creates reports whether a node creates an object that has the field: with a value for it, or as a
// variable that is filled later.
func (c *counter) creates(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CompositeLit:
		return c.owner(c.place.TypeOf(n))
	case *ast.CallExpr:
		return c.place.CalleeName(n) == "new" && len(n.Args) == 1 && c.owner(c.place.TypeOf(n.Args[0]))
	case *ast.ValueSpec:
		return n.Type != nil && len(n.Values) == 0 && c.owner(c.place.TypeOf(n.Type))
	}
	return false
}

// owner reports whether a type is the struct that has the field.
func (c *counter) owner(t types.Type) bool {
	if t == nil {
		return false
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if same(f, c.field) {
			return true
		}
	}
	return false
}

// decodes reports whether a node passes a pointer to what has the field, in any depth, to a
// function that may fill it by reflection.
func (c *counter) decodes(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := c.place.Callee(call)
	if fn == nil {
		return false
	}
	return fills(c.place, call, deepestDecoder, func(arg ast.Expr) bool {
		ptr, ok := c.place.TypeOf(arg).(*types.Pointer)
		return ok && c.holds(ptr.Elem(), 4)
	}) || c.makes(call, fn)
}

// makes reports whether a call is of a generic function that decodes what it returns, with what has
// the field: decode[T any](r *http.Request) (T, error).
func (c *counter) makes(call *ast.CallExpr, fn *types.Func) bool {
	if r := fn.Signature().Results(); r.Len() == 0 || !generic(r.At(0).Type()) || !c.holds(c.place.TypeOf(call), 4) {
		return false
	}
	in, ok := c.pass.Syntax.Declared(fn)
	if !ok || in.Decl == nil || in.Decl.Body == nil {
		return false
	}
	found := false
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		inner, ok := n.(*ast.CallExpr)
		found = found || ok && fills(in, inner, deepestDecoder, func(arg ast.Expr) bool {
			ptr, ok := in.TypeOf(arg).(*types.Pointer)
			return ok && generic(ptr.Elem())
		})
		return !found
	})
	return found
}

// holds reports whether values of a type have the struct with the field in them.
func (c *counter) holds(t types.Type, depth int) bool {
	if depth == 0 || t == nil {
		return false
	}
	if c.owner(t) {
		return true
	}
	if results, ok := t.(*types.Tuple); ok {
		return results.Len() > 0 && c.holds(results.At(0).Type(), depth-1)
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return c.holds(u.Elem(), depth-1)
	case *types.Slice:
		return c.holds(u.Elem(), depth-1)
	case *types.Array:
		return c.holds(u.Elem(), depth-1)
	case *types.Map:
		return c.holds(u.Elem(), depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if c.holds(f.Type(), depth-1) {
				return true
			}
		}
	}
	return false
}
