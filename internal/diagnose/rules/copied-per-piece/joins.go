package copiedperpiece

import (
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// levels is how many callers away the loop may be that adds the pieces.
	levels = 4
	// leastPieces is the minimum mean number of iterations of that loop, if the length of a piece
	// is not known.
	leastPieces = 16
)

// joinOf recognizes a function that returns a new text or slice with all of two parameters, or
// fields of them, made by an operator or a function of the standard library:
//
//	return text{t.s + o.s}
//	return slices.Concat(a, b)
//	return append(a[:len(a):len(a)], b...)
func joinOf(p *gocode.Place) (sh *shape) {
	if p.Decl == nil || p.Decl != p.Func || p.Decl.Body == nil {
		return nil
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				ast.Inspect(e, func(n ast.Node) bool {
					if e, ok := n.(ast.Expr); ok && sh == nil {
						sh = operands(p, e)
					}
					return sh == nil
				})
			}
		}
		return sh == nil
	})
	return sh
}

// operands returns the shape of an expression that makes a new slice or text of two parameters.
func operands(p *gocode.Place, e ast.Expr) *shape {
	list := joined(p, e)
	if len(list) != 2 {
		return nil
	}
	sh := &shape{made: e, joins: true, from: syntax.Line(p, e.Pos()), until: syntax.Line(p, e.End())}
	for i, of := range list {
		v, _ := syntax.Var(p, of)
		if v == nil || !syntax.Param(p, v) {
			return nil
		}
		sh.operands[i] = operand{of: of, param: v}
	}
	if sh.operands[0].param == sh.operands[1].param {
		return nil
	}
	return sh
}

// joined returns what an expression joins to a new text or slice, without constants; nil for other
// expressions.
func joined(p *gocode.Place, e ast.Expr) (list []ast.Expr) {
	switch x := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		if x.Op != token.ADD || !syntax.IsString(p, x) {
			return nil
		}
		for _, side := range []ast.Expr{x.X, x.Y} {
			if _, constant := p.Const(side); constant {
				continue
			}
			if inner := joined(p, side); inner != nil {
				list = append(list, inner...)
			} else {
				list = append(list, ast.Unparen(side))
			}
		}
	case *ast.CallExpr:
		switch name := p.CalleeName(x); {
		case name == "slices.Concat" && !x.Ellipsis.IsValid():
			return x.Args
		case name == "append" && len(x.Args) == 2:
			if of := copyOf(p, x.Args[0]); of != nil {
				return []ast.Expr{of, x.Args[1]}
			}
		}
	}
	return list
}

// copyOf returns what an expression is a copy of, or what append has to copy: a[:len(a):len(a)].
func copyOf(p *gocode.Place, e ast.Expr) ast.Expr {
	switch x := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		if x.Slice3 && x.Low == nil && lengthOf(p, x.Max, x.X) {
			return x.X
		}
	case *ast.CallExpr:
		name := p.CalleeName(x)
		if len(x.Args) == 1 && funcname.Match(name, "slices.Clone", "slices.Clip", "bytes.Clone") {
			return x.Args[0]
		}
		if name == "append" && len(x.Args) == 2 && x.Ellipsis.IsValid() && empty(p, x.Args[0]) {
			return x.Args[1]
		}
	}
	return nil
}

// lengthOf reports whether an expression is the length of another: there is no room behind it.
func lengthOf(p *gocode.Place, e, list ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "len" && len(call.Args) == 1 && syntax.Same(p, call.Args[0], list)
}

// empty reports whether an expression is a slice without elements or room: nil, []T(nil), []T{}.
func empty(p *gocode.Place, e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return p.Info.Types[x].IsNil()
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		_, conversion := p.Conversion(x)
		return conversion && len(x.Args) == 1 && p.Info.Types[x.Args[0]].IsNil()
	}
	return false
}

// fold is a statement that replaces a value by one with a piece more: x = x.plus(piece).
type fold struct {
	operand int // which operand of the function grows
	where   string
	pieces  float64 // iterations of the loop that adds them, each time that it is reached
}

// foldAt returns the fold that calls the function of the frame i of a stack; nil for none.
func (s *search) foldAt(sh *shape, place *gocode.Place, stack []*site.Frame, i int) *fold {
	if i+1 >= len(stack) {
		return nil
	}
	from, ok := s.pass.Syntax.At(stack[i+1].File, stack[i+1].Line)
	if !ok {
		return nil
	}
	for _, call := range syntax.CallsTo(from, stack[i].Function) {
		a := assignment(from, call)
		if a == nil {
			continue
		}
		for k, o := range sh.operands {
			if !syntax.Same(from, grown(from, call, place, o), a.Lhs[0]) {
				continue
			}
			l, ok := s.adding(from, a, stack, i)
			if !ok {
				return nil
			}
			return &fold{operand: k, where: syntax.Where(from, a.Pos()), pieces: l.Iterations}
		}
	}
	return nil
}

// adding returns the counts of the loop that adds the pieces: around the fold, or in a caller.
func (s *search) adding(from *gocode.Place, a *ast.AssignStmt, stack []*site.Frame, i int) (counts.Loop, bool) {
	f := stack[i+1]
	if around := loops.Around(from, a); len(around) > 0 {
		if !loops.FromOutside(from, around[0], a.Lhs[0]) {
			return counts.Loop{}, false
		}
		return s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(from, around[0].Pos()))
	}
	by, ok := loops.Calling(s.pass.Syntax, stack, i, levels)
	if !ok {
		return counts.Loop{}, false
	}
	return s.pass.Counts.Loop(by.Frame.Owner.Package, by.Frame.File, by.Line())
}

// assignment returns the statement x = … around a call.
func assignment(p *gocode.Place, call *ast.CallExpr) *ast.AssignStmt {
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN && len(n.Lhs) == 1 && len(n.Rhs) == 1 {
				return n
			}
			return nil
		case ast.Stmt, *ast.FuncLit:
			return nil
		}
	}
	return nil
}

// grown returns what a call passes for an operand of its function. In a chain of calls of the same
// function, it is what the first one gets.
func grown(from *gocode.Place, call *ast.CallExpr, place *gocode.Place, o operand) ast.Expr {
	for {
		var arg ast.Expr
		if at := syntax.ParamIndex(syntax.SignatureOf(place), o.param); at >= 0 {
			if at >= len(call.Args) {
				return &ast.BadExpr{}
			}
			arg = call.Args[at]
		} else {
			arg = syntax.Receiver(call)
		}
		if arg == nil {
			return &ast.BadExpr{}
		}
		inner, ok := ast.Unparen(arg).(*ast.CallExpr)
		if !ok || from.Callee(inner) == nil || from.Callee(inner) != from.Callee(call) {
			return arg
		}
		call = inner
	}
}
