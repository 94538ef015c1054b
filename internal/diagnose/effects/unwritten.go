package effects

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Made returns the expressions and declarations of a package that make a value of a type.
func Made(p *gocode.Place, t *types.Named) (all []ast.Node) {
	is := func(e ast.Expr) bool { return e != nil && isType(p.TypeOf(e), t) }
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if is(n) {
					all = append(all, n)
				}
			case *ast.CallExpr:
				if p.CalleeName(n) == "new" && is(n.Args[0]) {
					all = append(all, n)
				}
			case *ast.ValueSpec:
				if len(n.Values) == 0 && is(n.Type) {
					all = append(all, n)
				}
			}
			return true
		})
	}
	return all
}

// Unwritten reports whether values of a struct type of a package do not change after they were
// made: they refer to nothing that others write, no other package can write to them, and this one
// does so only in the functions that make them.
func Unwritten(p *gocode.Place, t *types.Named) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || t.Obj().Pkg() != p.Pkg || !holdsItself(s, 4) {
		return false
	}
	if p.Pkg.Name() != "main" && t.Obj().Exported() {
		for f := range s.Fields() {
			if f.Exported() {
				return false
			}
		}
	}
	w := &writing{Place: p, of: t}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && !fills(fn) {
				w.search(p.Entry(fn), fn)
			}
		}
	}
	return !w.found
}

// fills reports whether a function is a method that decoders call to make a value.
func fills(fn *ast.FuncDecl) bool {
	return fn.Recv != nil && (strings.HasPrefix(fn.Name.Name, "Unmarshal") || strings.HasPrefix(fn.Name.Name, "Decode") || fn.Name.Name == "Scan")
}

// holdsItself reports whether a type has all of its data: nobody can change it elsewhere. Lists and
// maps count as its own if they have such elements.
func holdsItself(t types.Type, levels int) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" {
		return true
	}
	if levels == 0 {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Array:
		return holdsItself(u.Elem(), levels-1)
	case *types.Slice:
		return holdsItself(u.Elem(), levels-1)
	case *types.Map:
		return holdsItself(u.Key(), levels-1) && holdsItself(u.Elem(), levels-1)
	case *types.Struct:
		for f := range u.Fields() {
			if !holdsItself(f.Type(), levels-1) {
				return false
			}
		}
		return true
	}
	return false
}

// writing looks for code that writes to values of a type.
type writing struct {
	*gocode.Place
	of    *types.Named
	found bool
}

func (w *writing) search(p *gocode.Place, fn *ast.FuncDecl) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				w.write(p, lhs)
			}
		case *ast.IncDecStmt:
			w.write(p, n.X)
		case *ast.RangeStmt:
			if n.Key != nil {
				w.write(p, n.Key)
			}
			if n.Value != nil {
				w.write(p, n.Value)
			}
		case *ast.CallExpr:
			if name := p.CalleeName(n); (name == "copy" || name == "clear" || name == "delete") && len(n.Args) > 0 {
				w.write(p, n.Args[0])
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && !givenToEncoder(p, n) {
				w.write(p, n.X)
			}
		}
		return !w.found
	})
}

// givenToEncoder reports whether an address is an argument of a function that reads what it gets,
// by its name.
func givenToEncoder(p *gocode.Place, n ast.Expr) bool {
	call, ok := syntax.Parent(p, n).(*ast.CallExpr)
	if !ok {
		return false
	}
	name := p.CalleeName(call)
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, word := range []string{"Marshal", "Encode", "Append", "Sum", "Hash", "Format", "Sprint", "Fprint", "Write"} {
		if strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}

// write notes a write to a part of a value of the type, or to all of it behind a pointer, unless
// the value is one that the function makes.
func (w *writing) write(p *gocode.Place, e ast.Expr) {
	root, _ := syntax.Var(p, e)
	if root != nil && w.makes(p, root) {
		return
	}
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return
		}
		t := p.TypeOf(e)
		if t == nil {
			return
		}
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if isType(t, w.of) {
			w.found = true
			return
		}
	}
}

// makes reports whether a function declares a variable with a new value of the type.
func (w *writing) makes(p *gocode.Place, v *types.Var) bool {
	stmt, value := syntax.Declared(p, v)
	if value == nil {
		_, spec := stmt.(*ast.ValueSpec)
		return spec && isType(v.Type(), w.of)
	}
	value = ast.Unparen(value)
	if u, ok := value.(*ast.UnaryExpr); ok && u.Op == token.AND {
		value = ast.Unparen(u.X)
	}
	switch x := value.(type) {
	case *ast.CompositeLit:
		return isType(p.TypeOf(x), w.of)
	case *ast.CallExpr:
		return p.CalleeName(x) == "new" && isType(p.TypeOf(x.Args[0]), w.of)
	}
	return false
}

func isType(t types.Type, of *types.Named) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj() == of.Obj()
}
