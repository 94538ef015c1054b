package sqltext

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Composed is a query that a builder composes from a chain of calls, and that fills a list:
//
//	db.Where("ward = ?", id).Preload("Visits").Find(&list)
type Composed struct {
	List    *types.Var // that gets the rows
	Methods []string   // of the chain, without the one that sends the query, in no order
}

// builders are the packages of query builders.
func builders() []string {
	return []string{"gorm.io/gorm", "github.com/jinzhu/gorm", "xorm.io/xorm", "github.com/uptrace/bun", "github.com/go-pg/pg"}
}

// building reports whether a function is of a query builder.
func building(fn *types.Func) bool {
	return fn != nil && fn.Pkg() != nil && fn.Signature().Recv() != nil && slices.ContainsFunc(builders(), func(path string) bool {
		return strings.HasPrefix(fn.Pkg().Path(), path)
	})
}

// Sending reports whether a call of a builder's method sends a query or a statement.
func Sending(fn *types.Func) bool {
	return building(fn) && slices.Contains([]string{
		"Find", "First", "Take", "Last", "Scan", "Pluck", "Count", "Row", "Rows", "Create", "Save", "Update", "Updates", "Delete", "Exec", "Get",
		"FindAndCount", "Insert", "Select", "ScanAndCount", "SelectAndCount", "Exists", "FirstOrCreate", "FirstOrInit", "FindInBatches",
	}, fn.Name())
}

// Composed returns the query that a call sends and that fills a local list; nil for others, and for
// those whose chain is not known.
func (s Program) Composed(p *gocode.Place, call *ast.CallExpr) *Composed {
	fn := p.Callee(call)
	if !building(fn) {
		return nil
	}
	var list *types.Var
	switch fn.Name() {
	case "Find":
		if len(call.Args) == 0 {
			return nil
		}
		list = listOf(p, call.Args[0])
	case "Scan", "Select": // of a model
		list = s.model(p, call)
	}
	if list == nil {
		return nil
	}
	methods, ok := s.Chain(p, call)
	if !ok {
		return nil
	}
	return &Composed{list, methods}
}

// Chain returns the methods of a query builder that compose the query which a call of the builder
// sends; false if they are not known.
func (s Program) Chain(p *gocode.Place, call *ast.CallExpr) (methods []string, ok bool) {
	c := &Composed{}
	to := syntax.Receiver(call)
	ok = to != nil && s.chain(p, to, c, map[*types.Var]bool{}, deepestHelper)
	return c.Methods, ok
}

// listOf returns the local list whose address an expression is; nil for none.
func listOf(p *gocode.Place, e ast.Expr) *types.Var {
	to, ok := ast.Unparen(e).(*ast.UnaryExpr)
	if !ok {
		return nil
	}
	v := syntax.LocalVar(p, to.X)
	if v == nil || syntax.Elem(v.Type()) == nil {
		return nil
	}
	return v
}

// model returns the list that a call of Model in the chain of a call names: Model(&list).
func (s Program) model(p *gocode.Place, call *ast.CallExpr) *types.Var {
	for to := syntax.Receiver(call); to != nil; {
		up, ok := syntax.Origin(p, to).(*ast.CallExpr)
		if !ok {
			return nil
		}
		if fn := p.Callee(up); building(fn) && fn.Name() == "Model" && len(up.Args) == 1 {
			return listOf(p, up.Args[0])
		}
		to = syntax.Receiver(up)
	}
	return nil
}

// chain adds the methods that compose the value of an expression, also in variables that are set
// several times and in functions of the program. It reports false if they are not known.
func (s Program) chain(p *gocode.Place, e ast.Expr, c *Composed, seen map[*types.Var]bool, depth int) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		fn := p.Callee(x)
		if building(fn) {
			if !slices.Contains(c.Methods, fn.Name()) {
				c.Methods = append(c.Methods, fn.Name())
			}
			return s.chain(p, syntax.Receiver(x), c, seen, depth)
		}
		if fn == nil || depth == 0 {
			return false
		}
		in, ok := s.Pass.Syntax.Declared(fn)
		return ok && s.chains(in, c, depth-1)
	case *ast.Ident:
		v := syntax.LocalVar(p, x)
		if v == nil || seen[v] {
			return true
		}
		seen[v] = true
		for _, value := range syntax.Assigned(p, v) {
			if !s.chain(p, value, c, seen, depth) {
				return false
			}
		}
		return syntax.Param(p, v) || len(syntax.Assigned(p, v)) > 0
	case *ast.SelectorExpr:
		return true // a field, or a variable of a package
	}
	return false
}

// chains is chain for what a function returns.
func (s Program) chains(p *gocode.Place, c *Composed, depth int) bool {
	fine, some := true, false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			some = true
			fine = fine && len(n.Results) == 1 && s.chain(p, n.Results[0], c, map[*types.Var]bool{}, depth)
		}
		return fine
	})
	return fine && some
}

// Countable reports whether the database can count the rows of the query with the same chain.
func (c *Composed) Countable() bool {
	return !slices.ContainsFunc(c.Methods, func(m string) bool {
		return slices.Contains([]string{"Limit", "Offset", "Group", "GroupBy", "Having", "Distinct", "DistinctOn", "Union", "UnionAll", "Scopes", "For", "ForUpdate", "Clauses", "Raw", "SQL"}, m)
	})
}
