package rule

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// LocalVar returns the local variable that an expression is, nil when it is none: a
// field, an element, a package variable or no variable at all.
func LocalVar(p *gocode.Place, e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := p.Object(id).(*types.Var)
	if !ok || v.IsField() || v.Parent() == p.Pkg.Scope() || v.Parent() == types.Universe {
		return nil
	}
	return v
}

// Declared returns the statement that declares a local variable in the place's
// declaration, with the value that it is given there (nil: the zero value, or one
// of several results). nil for parameters and results.
func Declared(p *gocode.Place, v *types.Var) (stmt ast.Node, value ast.Expr) {
	if p.Decl == nil || v == nil {
		return nil, nil
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && p.Info.Defs[id] == v {
					stmt = n
					if len(n.Lhs) == len(n.Rhs) {
						value = n.Rhs[i]
					}
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if p.Info.Defs[id] == v {
					stmt = n
					if len(n.Names) == len(n.Values) {
						value = n.Values[i]
					}
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && p.Info.Defs[id] == v {
					stmt = n
				}
			}
		}
		return stmt == nil
	})
	return stmt, value
}

// Parent returns the node around n without parentheses.
func Parent(p *gocode.Place, n ast.Node) ast.Node {
	for _, x := range p.Enclosing(n) {
		if _, paren := x.(*ast.ParenExpr); !paren {
			return x
		}
	}
	return nil
}

// AssignedTo returns the left side that takes the value of e in an assignment or
// declaration; nil when it goes elsewhere.
func AssignedTo(p *gocode.Place, e ast.Expr) ast.Expr {
	match := func(values []ast.Expr) int {
		for i, v := range values {
			if ast.Unparen(v) == ast.Unparen(e) {
				return i
			}
		}
		return -1
	}
	switch n := Parent(p, e).(type) {
	case *ast.AssignStmt:
		if i := match(n.Rhs); i >= 0 && len(n.Rhs) <= len(n.Lhs) {
			return n.Lhs[i]
		}
	case *ast.ValueSpec:
		if i := match(n.Values); i >= 0 && i < len(n.Names) {
			return n.Names[i]
		}
	}
	return nil
}

// Defines tells whether an identifier stands where it is declared or assigned, so is not read.
func Defines(p *gocode.Place, id *ast.Ident) bool {
	switch n := Parent(p, id).(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if ast.Unparen(lhs) == id {
				return true
			}
		}
	case *ast.ValueSpec:
		for _, name := range n.Names {
			if name == id {
				return true
			}
		}
	case *ast.RangeStmt:
		return n.Key == id || n.Value == id
	}
	return false
}

// Reads returns the uses of a local variable that read it.
func Reads(p *gocode.Place, v *types.Var) []*ast.Ident {
	var reads []*ast.Ident
	for _, id := range Uses(p, v) {
		if p.Info.Defs[id] == nil && !Defines(whole(p), id) {
			reads = append(reads, id)
		}
	}
	return reads
}

// whole is the place with the declaration as its function, so that Enclosing sees
// what a function literal captures.
func whole(p *gocode.Place) *gocode.Place { return p.Outer() }

// WithinPos tells whether a position lies in a node.
func WithinPos(n ast.Node, pos token.Pos) bool { return within(n, pos) }

// TypeText is a type as a sentence has it: types of other packages with the package's name, not its path.
func TypeText(p *gocode.Place, t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == p.Pkg {
			return ""
		}
		return other.Name()
	})
}
