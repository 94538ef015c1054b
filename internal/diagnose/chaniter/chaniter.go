package chaniter

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Iterator is a goroutine that goes over a collection in memory and sends each element to a channel
// that the function which starts it creates.
type Iterator struct {
	// Over is what it goes over; "" if a function calls it for each element.
	Over string
	// Chan is the channel in the function that starts the goroutine. MadeAt is the line there that
	// creates it; 0 if another function does.
	Chan   ast.Expr
	MadeAt int
	// Lines are the lines on which it sends or chooses to, File is the base name of their file.
	Lines []int
	File  string

	over ast.Expr // what the loop goes over
}

// At returns the iterator that a go statement on the line of a place starts.
func At(p *gocode.Place) (*Iterator, bool) {
	for _, n := range p.Nodes {
		if g, ok := n.(*ast.GoStmt); ok && syntax.Line(p, g.Pos()) == p.Line && p.Decl != nil {
			return started(p, g)
		}
	}
	return nil, false
}

// started examines what a go statement starts: a function literal, or a function of the package
// that gets the channel as an argument.
func started(p *gocode.Place, g *ast.GoStmt) (*Iterator, bool) {
	in, body := p, (*ast.BlockStmt)(nil)
	var decl *ast.FuncDecl
	if lit, ok := ast.Unparen(g.Call.Fun).(*ast.FuncLit); ok {
		body = lit.Body
	} else if fn := p.Callee(g.Call); fn != nil {
		if decl = p.Declaration(fn); decl == nil || decl.Body == nil {
			return nil, false
		}
		in, body = p.Entry(decl), decl.Body
	}
	if body == nil || in == nil {
		return nil, false
	}
	ch := sentTo(body)
	if ch == nil || !only(in, body, ch) {
		return nil, false
	}
	it := &Iterator{Chan: ch}
	if decl != nil {
		if it.Chan = argument(in, decl, g.Call, ch); it.Chan == nil {
			return nil, false
		}
	}
	if !it.own(p, g) {
		return nil, false
	}
	it.describe(in, body)
	if decl != nil && it.over != nil {
		if arg := argument(in, decl, g.Call, it.over); arg != nil {
			it.Over = syntax.Text(arg)
		}
	}
	return it, true
}

// sentTo returns the channel of the first send in a body.
func sentTo(body *ast.BlockStmt) (ch ast.Expr) {
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SendStmt); ok && ch == nil {
			ch = s.Chan
		}
		return ch == nil
	})
	return ch
}

// argument returns what a call passes for the parameter that a function sends to; nil if the
// channel is not one.
func argument(in *gocode.Place, decl *ast.FuncDecl, call *ast.CallExpr, ch ast.Expr) ast.Expr {
	v := syntax.LocalVar(in, ch)
	fn, ok := in.Info.Defs[decl.Name].(*types.Func)
	if v == nil || !ok {
		return nil
	}
	if i := syntax.ParamIndex(fn.Signature(), v); i >= 0 && i < len(call.Args) {
		return call.Args[i]
	}
	return nil
}

// own reports whether the function that starts the goroutine creates the channel for it, and gives
// it to its caller or ranges over it. A channel that it gives to other goroutines serves to divide
// work.
func (it *Iterator) own(p *gocode.Place, g *ast.GoStmt) bool {
	root, _ := syntax.Var(p, it.Chan)
	if root == nil || !syntax.Local(p, root) || syntax.Param(p, root) {
		return false
	}
	var literal *types.Var // the parameter of a literal: what it gets is the channel
	if lit, ok := ast.Unparen(g.Call.Fun).(*ast.FuncLit); ok && syntax.Within(lit, it.Chan) {
		sig, _ := p.TypeOf(lit).(*types.Signature)
		if i := syntax.ParamIndex(sig, root); i >= 0 && i < len(g.Call.Args) {
			literal, it.Chan = root, g.Call.Args[i]
			root, _ = syntax.Var(p, it.Chan)
		}
	}
	if literal != nil && (root == nil || !syntax.Local(p, root) || syntax.Param(p, root)) {
		return false
	}
	given := syntax.IsResult(p, root)
	shared := false
	with := together(p, root)
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			given = given || syntax.Mentions(p, n, with...)
		case *ast.RangeStmt:
			given = given || !syntax.Within(g, n) && syntax.Same(p, n.X, it.Chan)
		case *ast.GoStmt:
			shared = shared || n != g && syntax.Mentions(p, n, root)
		case *ast.AssignStmt:
			it.made(p, n)
		}
		return true
	})
	return given && !shared
}

// made notes the call of make by which an assignment creates the channel.
func (it *Iterator) made(p *gocode.Place, a *ast.AssignStmt) {
	for i, lhs := range a.Lhs {
		if len(a.Lhs) != len(a.Rhs) || !syntax.Same(p, lhs, it.Chan) {
			continue
		}
		if call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr); ok && p.CalleeName(call) == "make" {
			it.MadeAt = syntax.Line(p, call.Pos())
		}
	}
}

// together returns a variable and those that one call returns with it, such as the object that has
// the channel.
func together(p *gocode.Place, v *types.Var) []*types.Var {
	all := []*types.Var{v}
	if a, ok := declaration(p, v).(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
		for _, lhs := range a.Lhs {
			if other := syntax.LocalVar(p, lhs); other != nil && other != v {
				all = append(all, other)
			}
		}
	}
	return all
}

// declaration returns the statement that declares a variable; nil if it has no value.
func declaration(p *gocode.Place, v *types.Var) ast.Node {
	stmt, _ := syntax.Declared(p, v)
	return stmt
}

// describe notes the lines of the sends and what the loop around the first of them goes over.
func (it *Iterator) describe(in *gocode.Place, body *ast.BlockStmt) {
	it.File = filepath.Base(in.Fset.Position(body.Pos()).Filename)
	line := func(n ast.Node) { it.Lines = append(it.Lines, syntax.Line(in, n.Pos())) }
	var path []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		switch n := n.(type) {
		case *ast.SelectStmt:
			line(n)
		case *ast.SendStmt:
			it.Lines = append(it.Lines, syntax.Line(in, n.Arrow))
			if loop, callback := around(path); loop != nil && !callback && it.Over == "" {
				if r, ok := loop.(*ast.RangeStmt); ok {
					it.over, it.Over = r.X, syntax.Text(r.X)
				}
			}
		}
		return true
	})
}

// around returns the innermost loop of a path, and whether a function literal that is called for
// each element is between it and the path's end. A literal without a loop is returned alone.
func around(path []ast.Node) (loop ast.Node, callback bool) {
	for i := len(path) - 1; i >= 0; i-- {
		switch path[i].(type) {
		case *ast.RangeStmt, *ast.ForStmt:
			return path[i], callback
		case *ast.FuncLit:
			callback = true
		}
	}
	return nil, callback
}

// arrow reports whether an expression receives from a channel.
func arrow(n ast.Node) bool {
	u, ok := n.(*ast.UnaryExpr)
	return ok && u.Op == token.ARROW
}
