package resetdropsbuffer

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// creations returns how many objects of a type the program creates for each unit of work: in the
// type's package, and in those that lead to some rows. It reports false if that is not known.
func creations(pass *rule.Pass, p *gocode.Place, t *types.Named, rows []*site.Row) (times float64, known bool) {
	c := creating{pass: pass, full: t.Obj().Pkg().Path() + "." + t.Obj().Name(), counted: true}
	c.in(p)
	done := map[*types.Package]bool{p.Pkg: true}
	for _, r := range rows {
		for _, f := range r.Stack {
			if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
				continue
			}
			if at := pass.Place(&site.Site{Frame: *f}); at != nil && !done[at.Pkg] {
				done[at.Pkg] = true
				c.in(at)
			}
		}
	}
	return c.times, c.found && c.counted
}

// creating adds up how often objects of a type are created.
type creating struct {
	pass    *rule.Pass
	full    string // the type's name
	times   float64
	found   bool
	counted bool // all of them
}

// in adds what a package creates.
func (c *creating) in(p *gocode.Place) {
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, function := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				if n == nil || !c.creates(p, n) {
					return true
				}
				c.found = true
				if function {
					e, ok := evidence.ExecutionsAt(c.pass, p, n.Pos())
					c.times += e.PerUnit
					c.counted = c.counted && ok && decl.Body != nil
				}
				return true
			})
		}
	}
}

// creates reports whether a node creates an object of the type, or one that contains it. A literal
// that replaces the content of an object does not.
func (c *creating) creates(p *gocode.Place, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CompositeLit:
		return c.contains(p.TypeOf(n)) && !replaces(p, n)
	case *ast.CallExpr:
		switch p.CalleeName(n) {
		case "new":
			return c.contains(p.TypeOf(n.Args[0]))
		case "make":
			return c.contains(syntax.Elem(p.TypeOf(n)))
		}
	case *ast.ValueSpec:
		return n.Type != nil && len(n.Values) == 0 && c.contains(p.TypeOf(n.Type))
	}
	return false
}

// replaces reports whether a literal is the value of *x = T{…}.
func replaces(p *gocode.Place, lit *ast.CompositeLit) bool {
	found := false
	ast.Inspect(fileOf(p, lit.Pos()), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == ast.Expr(lit) && a.Tok == token.ASSIGN {
			_, star := ast.Unparen(a.Lhs[0]).(*ast.StarExpr)
			found = found || star
		}
		return !found && n != nil && syntax.Inside(n, lit.Pos())
	})
	return found
}

// fileOf returns the file of a position.
func fileOf(p *gocode.Place, pos token.Pos) *ast.File {
	for _, f := range p.Files() {
		if f.FileStart <= pos && pos < f.FileEnd {
			return f
		}
	}
	return p.File
}

// contains reports whether a value of some type has an object of the type in it.
func (c *creating) contains(t types.Type) bool {
	if t == nil {
		return false
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path()+"."+n.Obj().Name() == c.full {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Array:
		return c.contains(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if c.contains(f.Type()) {
				return true
			}
		}
	}
	return false
}
