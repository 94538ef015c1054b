package gocode

import (
	"go/ast"
	"go/constant"
	"go/types"
	"path"

	"github.com/hone-go/hone/profile/symbol"
	"golang.org/x/tools/go/types/typeutil"
)

// Queries that rules make about a place. Each returns nil, false or "" if the code does not
// type-check.

// Calls returns the call expressions on the line, outermost first: those that start there, whose
// opening parenthesis is there (the compiler's position of a call, which matters in a chain of
// methods over several lines), or whose closing parenthesis is there. Conversions and builtins are
// included.
func (p *Place) Calls() []*ast.CallExpr {
	var calls []*ast.CallExpr
	for _, n := range p.Nodes {
		c, ok := n.(*ast.CallExpr)
		if ok && (p.line(c.Pos()) == p.Line || p.line(c.Lparen) == p.Line || p.line(c.Rparen) == p.Line) {
			calls = append(calls, c)
		}
	}
	return calls
}

// Callee returns the function or method that a call names: a declared function, a
// method, or the method of an interface. nil for function values, builtins and conversions.
// For a generic function it is the generic one.
func (p *Place) Callee(call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(p.Info, call).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// Declaration returns the declaration of a function of the place's package; nil for other
// functions, and for nil.
func (p *Place) Declaration(fn *types.Func) *ast.FuncDecl {
	if fn == nil {
		return nil
	}
	return p.decls[fn]
}

// CalleeName returns the name of the function that a call calls: "fmt.Sprintf",
// "strings.NewReplacer", "(*log.Logger).Printf", "(net/http.ResponseWriter).Write" for a method of
// an interface, "append" for a builtin. Package paths are complete, type parameters are left out.
// It is "" for function values and conversions.
func (p *Place) CalleeName(call *ast.CallExpr) string {
	switch obj := typeutil.Callee(p.Info, call).(type) {
	case *types.Func:
		return FullName(obj)
	case *types.Builtin:
		return obj.Name()
	}
	return ""
}

// FullName returns the name of a function as [Place.CalleeName] gives it.
func FullName(fn *types.Func) string { return symbol.Bare(fn.Origin().FullName()) }

// Conversion returns the type that a call converts to; false if it is not a conversion.
func (p *Place) Conversion(call *ast.CallExpr) (types.Type, bool) {
	tv, ok := p.Info.Types[call.Fun]
	if !ok || !tv.IsType() {
		return nil, false
	}
	return tv.Type, true
}

// Const returns the value of a constant expression.
func (p *Place) Const(e ast.Expr) (constant.Value, bool) {
	tv, ok := p.Info.Types[e]
	return tv.Value, ok && tv.Value != nil
}

// TypeOf returns the type of an expression, nil when it is not known.
func (p *Place) TypeOf(e ast.Expr) types.Type { return p.Info.TypeOf(e) }

// Object returns what an identifier defines or uses, nil when it is not known.
func (p *Place) Object(id *ast.Ident) types.Object { return p.Info.ObjectOf(id) }

// Loop returns the innermost for or range statement (*ast.ForStmt, *ast.RangeStmt) within Func that
// runs the line repeatedly, nil if there is none. The line of "for … {" counts for a loop with a
// condition or post statement there, which run in each iteration; the operand of a range does not.
// Loops that drive a benchmark (see [Place.Drives]) do not count.
func (p *Place) Loop() ast.Stmt {
	var loop ast.Stmt
	for _, n := range p.Nodes {
		switch n := n.(type) {
		case *ast.ForStmt:
			if p.spans(n.Body) && (p.line(n.Body.Lbrace) < p.Line || p.oneLine(n.Body)) ||
				n.Cond != nil && p.spans(n.Cond) || n.Post != nil && p.spans(n.Post) {
				loop = p.own(n, loop)
			}
		case *ast.RangeStmt:
			if p.spans(n.Body) && (p.line(n.Body.Lbrace) < p.Line || p.oneLine(n.Body)) {
				loop = p.own(n, loop)
			}
		}
	}
	return loop
}

// own returns a loop, or other if the loop drives a benchmark.
func (p *Place) own(loop, other ast.Stmt) ast.Stmt {
	if p.Drives(loop) {
		return other
	}
	return loop
}

// oneLine reports whether a block is on one line and not empty.
func (p *Place) oneLine(b *ast.BlockStmt) bool {
	return len(b.List) > 0 && p.line(b.Lbrace) == p.line(b.Rbrace)
}

// LoopAround returns the innermost for or range statement that evaluates n in each iteration,
// within the function literal that contains n; nil if there is none. Loops that drive a benchmark
// do not count.
func (p *Place) LoopAround(n ast.Node) ast.Stmt {
	for _, up := range p.Enclosing(n) {
		switch up := up.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return nil
		case *ast.ForStmt:
			if (holds(up.Body, n) || up.Cond != nil && holds(up.Cond, n) || up.Post != nil && holds(up.Post, n)) && !p.Drives(up) {
				return up
			}
		case *ast.RangeStmt:
			if holds(up.Body, n) && !p.Drives(up) {
				return up
			}
		}
	}
	return nil
}

// Enclosing returns the path of nodes from the innermost one that contains n outwards to Func (or
// to the declaration, in a package variable's initialiser), without n itself. It is nil if n is not
// in Func.
func (p *Place) Enclosing(n ast.Node) []ast.Node {
	root := p.root
	if root == nil {
		root = p.Func
	}
	if root == nil || n == nil || !holds(root, n) {
		return nil
	}
	var stack, path []ast.Node
	ast.Inspect(root, func(m ast.Node) bool {
		switch {
		case path != nil:
			return false
		case m == nil:
			stack = stack[:len(stack)-1]
			return false
		case m == n:
			for i := len(stack) - 1; i >= 0; i-- {
				path = append(path, stack[i])
			}
			return false
		case !holds(m, n):
			return false
		}
		stack = append(stack, m)
		return true
	})
	return path
}

// holds reports whether a node's extent contains that of another.
func holds(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// Entry returns the place where the body of another function of the package starts.
func (p *Place) Entry(decl *ast.FuncDecl) *Place {
	at := p.Fset.Position(decl.Body.Lbrace)
	in := *p
	in.Decl, in.Func, in.root, in.Nodes = decl, decl, decl, nil
	in.Line, in.name = at.Line, path.Base(slashed(at.Filename))
	in.from, in.until = 0, 0
	if !moved(p.Fset, decl) {
		in.limit(decl.Pos())
	}
	for _, f := range p.files {
		if holds(f, decl) {
			in.File = f
		}
	}
	in.collect()
	return &in
}

// Package returns the place where the first function of a loaded package starts, with which the
// package's declarations can be read; false if the package is not loaded or has no function.
func (s *Syntax) Package(name string) (*Place, bool) {
	first, found := "", syntaxFile{}
	for key, f := range s.files {
		if path.Dir(key) == name && (first == "" || key < first) {
			first, found = key, f
		}
	}
	if first == "" || s.index.distrusted(first) != "" {
		return nil, false
	}
	p := &Place{Fset: found.fset, File: found.file, Info: found.pkg.TypesInfo, Pkg: found.pkg.Types, files: found.pkg.Syntax, decls: found.decls}
	for _, f := range p.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				return p.Entry(fn), true
			}
		}
	}
	return nil, false
}

// Outer returns the place as its whole declaration sees it: Func is the declaration, so that
// Enclosing and Nodes go beyond the function literal of the line.
func (p *Place) Outer() *Place {
	if p.Decl == nil || p.Func == p.Decl {
		return p
	}
	outer := *p
	outer.Func, outer.root, outer.Nodes = p.Decl, p.Decl, nil
	outer.collect()
	return &outer
}
