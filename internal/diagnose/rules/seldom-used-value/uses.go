package seldomusedvalue

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/later"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// used returns the largest possible number of uses, per unit of work, of the value that a node
// computes: the sum of the counted executions of all blocks that read the value. at is the line of
// the first use. It reports false if one of the blocks has no counts.
func (s *search) used(p *gocode.Place, computed ast.Node, reads []*ast.Ident) (n float64, at int, ok bool) {
	home := syntax.Block(p, computed)
	blocks := map[ast.Node]float64{}
	for _, id := range reads {
		if id.Pos() >= computed.Pos() && id.Pos() < computed.End() {
			return 0, 0, false
		}
		runs, in, counted := s.read(p, id)
		if !counted {
			return 0, 0, false
		}
		n := runs
		if call, i := passed(p, id); call != nil {
			if by, _, ok := s.usedBy(p, call, i); ok {
				n = min(n, by)
			}
		}
		blocks[in] = max(blocks[in], n)
		if line := syntax.Line(p, id.Pos()); at == 0 || line < at {
			at = line
		}
	}
	for b, runs := range blocks {
		inner := false
		for other := range blocks {
			inner = inner || other != b && other != home && syntax.Within(other, b)
		}
		if !inner { // else counted with the block around it
			n += runs
		}
	}
	return n, at, true
}

// usedBy returns how often a function uses the argument i of its calls, at most, and the line that
// does so first; it reports false if that is unknown.
func (s *search) usedBy(p *gocode.Place, call *ast.CallExpr, i int) (n float64, at string, ok bool) {
	in, params := s.declaration(p, p.Callee(call))
	if in == nil || params.Len() == 0 || len(in.Decl.Body.List) == 0 {
		return 0, "", false
	}
	v := params.At(min(i, params.Len()-1))
	if later.Sets(in, v) > 1 {
		return 0, "", false // it may be used under its new value
	}
	if _, ok := evidence.ExecutionsAt(s.pass, in, in.Decl.Body.List[0].Pos()); !ok {
		return 0, "", false
	}
	blocks := map[ast.Node]float64{}
	for _, id := range syntax.Reads(in, v) {
		runs, b, counted := s.read(in, id)
		if !counted {
			return 0, "", false
		}
		blocks[b] = max(blocks[b], runs)
		if at == "" {
			at = syntax.Where(in, id.Pos())
		}
	}
	for _, runs := range blocks {
		n += runs
	}
	return n, at, true
}

// declaration returns the place of a function's declaration, in the package of a place or in
// another one whose source is loaded, and its parameters; nil for others.
func (s *search) declaration(p *gocode.Place, fn *types.Func) (*gocode.Place, *types.Tuple) {
	if fn == nil {
		return nil, nil
	}
	if decl := p.Declaration(fn); decl != nil {
		if decl.Body == nil {
			return nil, nil
		}
		return p.Entry(decl), fn.Signature().Params()
	}
	pos := p.Fset.Position(fn.Pos())
	in, ok := s.pass.Syntax.At(pos.Filename, pos.Line)
	if !ok || in.Decl == nil || in.Decl.Body == nil || in.Decl.Name.Name != fn.Name() {
		return nil, nil
	}
	declared, ok := in.Info.Defs[in.Decl.Name].(*types.Func)
	if !ok || gocode.FullName(declared) != gocode.FullName(fn) {
		return nil, nil
	}
	return in.Outer(), declared.Signature().Params()
}

// read returns how often an expression is evaluated, and the innermost block or clause around it.
// What a case compares, sends or receives is evaluated before the case is chosen, so it counts with
// the switch or select.
func (s *search) read(p *gocode.Place, e ast.Node) (n float64, in ast.Node, ok bool) {
	at := e
	for _, x := range p.Enclosing(e) {
		switch x := x.(type) {
		case *ast.CaseClause:
			if e.Pos() < x.Colon {
				at = x
			}
		case *ast.CommClause:
			if e.Pos() < x.Colon {
				at = x
			}
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if at != e && syntax.Within(x, at) {
				runs, ok := evidence.ExecutionsAt(s.pass, p, x.Pos())
				return runs.PerUnit, syntax.Block(p, x), ok
			}
		}
	}
	runs, ok := evidence.ExecutionsAt(s.pass, p, e.Pos())
	return runs.PerUnit, syntax.Block(p, e), ok
}

// passed returns the call that gets a variable as an argument, and which; nil for none.
func passed(p *gocode.Place, id *ast.Ident) (*ast.CallExpr, int) {
	call, ok := syntax.Parent(p, id).(*ast.CallExpr)
	if !ok {
		return nil, 0
	}
	for i, arg := range call.Args {
		if ast.Unparen(arg) == ast.Expr(id) {
			return call, i
		}
	}
	return nil, 0
}

// movable reports whether a value can be computed later, where it is used: nothing between changes
// what it is computed from, or all uses are in branches whose condition is known before. guard is
// that condition, if all uses have the same.
func movable(p *gocode.Place, computed ast.Node, value ast.Expr, reads []*ast.Ident) (guard string, ok bool) {
	from := later.Inputs(p, value)
	for i, id := range reads {
		cond := condition(p, computed, id)
		text := ""
		if cond != nil && known(p, computed, cond, id) {
			text = syntax.Text(cond)
		}
		if i == 0 {
			guard = text
		} else if guard != text {
			guard = ""
		}
		if text == "" && !later.Unchanged(p, computed, id, from) {
			return "", false
		}
	}
	return guard, true
}

// condition returns the condition of the outermost if statement whose body contains a use, and not
// the computation; nil for none.
func condition(p *gocode.Place, computed ast.Node, use ast.Node) (cond ast.Expr) {
	for _, n := range p.Enclosing(use) {
		if syntax.Within(n, computed) {
			break
		}
		if s, ok := n.(*ast.IfStmt); ok && s.Init == nil && syntax.Within(s.Body, use) {
			cond = s.Cond
		}
	}
	return cond
}

// known reports whether a condition depends only on what has its value before a node, and nothing
// between that and a use changes it. The receiver's fields count as settings of the program.
func known(p *gocode.Place, before ast.Node, cond ast.Expr, use *ast.Ident) bool {
	from := later.Inputs(p, cond)
	for v := range from {
		switch {
		case !syntax.Local(p, v), receiver(p, v):
			delete(from, v)
		case v.Pos() >= before.Pos():
			return false
		}
	}
	return later.Unchanged(p, before, use, from)
}

// receiver reports whether a variable is the receiver of the declaration around a place.
func receiver(p *gocode.Place, v *types.Var) bool {
	return p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos())
}

// computes returns the functions that an expression calls, by the type checker's names.
func computes(p *gocode.Place, value ast.Expr) (callees []string) {
	ast.Inspect(value, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if fn := p.Callee(call); fn != nil {
				callees = append(callees, gocode.FullName(fn))
			}
		}
		return true
	})
	return callees
}
