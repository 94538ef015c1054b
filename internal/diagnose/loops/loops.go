package loops

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Around returns the loops around n inside its function, innermost first. A loop whose init
// statement, condition or range expression contains n counts only if it evaluates that part in each
// iteration. Loops that drive a benchmark do not count (see [gocode.Place.Drives]).
func Around(p *gocode.Place, n ast.Node) []ast.Node {
	var loops []ast.Node
	child := n
	for _, x := range p.Enclosing(n) {
		switch l := x.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return loops
		case *ast.ForStmt:
			if child != l.Init && !p.Drives(l) {
				loops = append(loops, l)
			}
		case *ast.RangeStmt:
			if child != l.X && !p.Drives(l) {
				loops = append(loops, l)
			}
		}
		child = x
	}
	return loops
}

// Body returns the body of a loop.
func Body(loop ast.Node) *ast.BlockStmt {
	switch l := loop.(type) {
	case *ast.ForStmt:
		return l.Body
	case *ast.RangeStmt:
		return l.Body
	}
	return nil
}

// AtMost reports whether a loop provably executes n's statement at most limit times: its bounds are
// constants, or the statement's block leaves the loop.
func AtMost(p *gocode.Place, loop, n ast.Node, limit int64) bool {
	if k, ok := iterations(p, loop); ok && k <= limit {
		return true
	}
	return limit >= 1 && leaves(p, loop, n)
}

// iterations returns the largest number of iterations of a loop with constant bounds.
func iterations(p *gocode.Place, loop ast.Node) (int64, bool) {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		return rangeLength(p, l.X)
	case *ast.ForStmt:
		return countedLength(p, l)
	}
	return 0, false
}

func rangeLength(p *gocode.Place, x ast.Expr) (int64, bool) {
	if v, ok := p.Const(x); ok {
		switch v.Kind() {
		case constant.Int:
			return constant.Int64Val(v)
		case constant.String:
			return int64(len(constant.StringVal(v))), true
		}
		return 0, false
	}
	t := p.Info.TypeOf(x)
	if t == nil {
		return 0, false
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if a, ok := t.Underlying().(*types.Array); ok {
		return a.Len(), true
	}
	if lit, ok := ast.Unparen(x).(*ast.CompositeLit); ok {
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && p.Info.Types[kv.Key].Value != nil {
				return 0, false // indexed elements: the length is not their number
			}
		}
		return int64(len(lit.Elts)), true
	}
	return 0, false
}

// countedLength is iterations for i := a; i < b; i++ (and <=, !=) with constants.
func countedLength(p *gocode.Place, l *ast.ForStmt) (int64, bool) {
	init, ok := l.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
		return 0, false
	}
	post, ok := l.Post.(*ast.IncDecStmt)
	if !ok || post.Tok != token.INC || !syntax.Same(p, post.X, init.Lhs[0]) {
		return 0, false
	}
	cond, ok := l.Cond.(*ast.BinaryExpr)
	if !ok || !syntax.Same(p, cond.X, init.Lhs[0]) {
		return 0, false
	}
	from, ok1 := syntax.ConstInt(p, init.Rhs[0])
	to, ok2 := syntax.ConstInt(p, cond.Y)
	if !ok1 || !ok2 {
		return 0, false
	}
	switch cond.Op {
	case token.LSS, token.NEQ:
		return max(0, to-from), true
	case token.LEQ:
		return max(0, to-from+1), true
	}
	return 0, false
}

// leaves reports whether control always leaves the loop after n: a block between n and the loop
// ends in return, panic or a break of this loop.
func leaves(p *gocode.Place, loop, n ast.Node) bool {
	path := p.Enclosing(n)
	for i, x := range path {
		if x == loop {
			return false
		}
		var list []ast.Stmt
		switch b := x.(type) {
		case *ast.BlockStmt:
			list = b.List
		case *ast.CaseClause:
			list = b.Body
		case *ast.CommClause:
			list = b.Body
		}
		if len(list) > 0 && n.End() <= list[0].Pos() {
			continue // the operation of a case runs whether the case is taken or not
		}
		if len(list) > 0 && syntax.Departs(list[len(list)-1], syntax.BreakTarget(path[i+1:]) == loop) && straight(list, n) {
			return true
		}
	}
	return false
}

// straight reports whether nothing after n in the list may jump back before the end of the list.
func straight(list []ast.Stmt, n ast.Node) bool {
	ok := true
	for _, s := range list {
		if s.End() <= n.Pos() {
			continue
		}
		ast.Inspect(s, func(x ast.Node) bool {
			switch b := x.(type) {
			case *ast.FuncLit:
				return false
			case *ast.BranchStmt:
				if b.Tok == token.CONTINUE || b.Tok == token.GOTO {
					ok = false
				}
			}
			return ok
		})
	}
	return ok
}

// Outermost returns the outermost loop around the place's line in its function; nil when there is
// none.
func Outermost(p *gocode.Place) ast.Node {
	var outer ast.Node
	for loop := p.Loop(); loop != nil; loop = p.LoopAround(loop) {
		outer = loop
	}
	return outer
}

// At returns the loop whose body or range clause the line of a place is in: most samples of a short
// loop are on the line of its range clause. It is nil if there is none.
func At(p *gocode.Place) ast.Stmt {
	for _, n := range p.Nodes {
		if r, ok := n.(*ast.RangeStmt); ok && syntax.Line(p, r.Pos()) == p.Line {
			return r
		}
	}
	return p.Loop()
}

// Of returns the innermost loop that runs the line of a frame repeatedly within the frame's
// function, given as profiles name it; nil if there is none. Unlike [gocode.Place.Loop], it leaves
// out loops around a function literal on one line, which is a function of its own, and around a go
// statement.
func Of(p *gocode.Place, function string) ast.Stmt {
	loop := p.Loop()
	if loop == nil || p.Decl == nil {
		return loop
	}
	parts := strings.Split(function, ".")
	if strings.HasPrefix(parts[len(parts)-1], "gowrap") {
		return nil
	}
	depth := 0 // of the literal in others
	for i := len(parts) - 1; i >= 0 && literal(parts[i]); i-- {
		depth++
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && p.Func != nil && syntax.Within(lit, p.Func) {
			depth--
		}
		return true
	})
	if depth <= 0 {
		return loop
	}
	for _, n := range p.Nodes {
		if lit, ok := n.(*ast.FuncLit); ok && syntax.Within(loop, lit) && syntax.Line(p, lit.Pos()) == p.Line {
			return nil
		}
	}
	return loop
}
