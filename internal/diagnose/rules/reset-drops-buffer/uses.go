package resetdropsbuffer

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// use is what code does with the memory of a field.
type use int

const (
	inside use = iota // reads or writes it
	passes            // passes it to a function
	away              // returns, sends or stores it, or takes its address
)

// eachUse calls visit for each expression of a declaration that names a field.
func eachUse(p *gocode.Place, field *types.Var, visit func(u use)) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && is(p, sel, field) {
			visit(useOf(p, sel, field))
		}
		return true
	})
}

// useOf returns what the code around an expression does with its memory.
func useOf(p *gocode.Place, e ast.Expr, field *types.Var) use {
	var child ast.Node = e
	for _, n := range p.Enclosing(e) {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.SliceExpr, *ast.StarExpr:
			child = n
			continue
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				return away
			}
		case *ast.CallExpr:
			return useOfCall(p, n, child)
		case *ast.ReturnStmt, *ast.SendStmt, *ast.CompositeLit, *ast.KeyValueExpr, *ast.ValueSpec:
			return useOfValue(p, n, child, field)
		case *ast.AssignStmt:
			return useOfValue(p, n, child, field)
		}
		return inside
	}
	return inside
}

// useOfCall returns what a call does with a value that is its function or an argument.
func useOfCall(p *gocode.Place, call *ast.CallExpr, value ast.Node) use {
	if _, conversion := p.Conversion(call); conversion || ast.Node(call.Fun) == value {
		return inside
	}
	switch p.CalleeName(call) {
	case "len", "cap", "copy", "clear", "delete", "min", "max":
		return inside
	case "append":
		if ast.Node(call.Args[0]) == value || call.Ellipsis.IsValid() {
			return inside
		}
		return away
	case "(*sync.Pool).Put":
		return away
	}
	return passes
}

// useOfValue returns what a statement or a literal does with a value: it stays if it becomes a
// local variable that is not returned, or another field of the same struct.
func useOfValue(p *gocode.Place, n, value ast.Node, field *types.Var) use {
	a, ok := n.(*ast.AssignStmt)
	if spec, is := n.(*ast.ValueSpec); is {
		for i, id := range spec.Names {
			if i < len(spec.Values) && ast.Node(spec.Values[i]) == value {
				return useOfLocal(p, id)
			}
		}
	}
	if !ok {
		return away
	}
	for i, rhs := range a.Rhs {
		if ast.Node(rhs) != value || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		if v := syntax.LocalVar(p, a.Lhs[i]); v != nil {
			return useOfLocal(p, a.Lhs[i])
		}
		x, ok := ast.Unparen(a.Lhs[i]).(*ast.SelectorExpr)
		if id, blank := a.Lhs[i].(*ast.Ident); blank && id.Name == "_" {
			return inside
		}
		if !ok || !sameStruct(p, x, field) {
			return away
		}
	}
	return inside
}

// sameStruct reports whether an expression is a field of the struct that has another field.
func sameStruct(p *gocode.Place, x ast.Expr, field *types.Var) bool {
	_, owner := fieldOf(p, x)
	if owner == nil {
		return false
	}
	s, ok := owner.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f == field {
			return true
		}
	}
	return false
}

// useOfLocal returns away for a local variable that is returned or sent.
func useOfLocal(p *gocode.Place, e ast.Expr) use {
	v := syntax.LocalVar(p, e)
	if v == nil {
		return away
	}
	if syntax.IsResult(p, v) {
		return away
	}
	for _, id := range syntax.Reads(p, v) {
		var child ast.Node = id
		for _, n := range p.Enclosing(id) {
			switch n := n.(type) {
			case *ast.ParenExpr, *ast.SliceExpr:
				child = n
				continue
			case *ast.ReturnStmt, *ast.SendStmt, *ast.KeyValueExpr:
				return away
			case *ast.CallExpr:
				if useOfCall(p, n, child) == away {
					return away
				}
			}
			break
		}
	}
	return inside
}

// aliased reports whether the package has the memory of a field in other variables, or the address
// of an element.
func aliased(p *gocode.Place, field *types.Var) (found bool) {
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || found {
				continue
			}
			in := p.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && is(in, sel, field) {
					found = found || shared(in, sel, field)
				}
				return !found
			})
		}
	}
	return found
}

// shared reports whether the code around an expression gives its memory, or the address of an
// element, to another variable than the field itself.
func shared(p *gocode.Place, e ast.Expr, field *types.Var) bool {
	var child ast.Node = e
	index := false
	for _, n := range p.Enclosing(e) {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.SliceExpr, *ast.StarExpr:
			child = n
			continue
		case *ast.IndexExpr:
			if ast.Node(n.X) == child {
				child, index = n, true
				continue
			}
		case *ast.UnaryExpr:
			return n.Op == token.AND
		case *ast.AssignStmt:
			for i, rhs := range n.Rhs {
				if ast.Node(rhs) == child && !index && len(n.Lhs) == len(n.Rhs) {
					sel, ok := ast.Unparen(n.Lhs[i]).(*ast.SelectorExpr)
					return !ok || !is(p, sel, field)
				}
			}
		case *ast.ValueSpec:
			return !index
		}
		return false
	}
	return false
}

// leaves reports whether the package gives the memory of a field away.
func leaves(p *gocode.Place, field *types.Var) bool { return does(p, field, away) }

// passed reports whether the package passes the memory of a field to functions.
func passed(p *gocode.Place, field *types.Var) bool { return does(p, field, passes) }

func does(p *gocode.Place, field *types.Var, what use) (found bool) {
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil && !found {
				eachUse(p.Entry(decl), field, func(u use) { found = found || u == what })
			}
		}
	}
	return found
}

// gives reports whether a function passes the memory of a field to other code.
func gives(p *gocode.Place, field *types.Var) (found bool) {
	eachUse(p, field, func(u use) { found = found || u != inside })
	return found
}
