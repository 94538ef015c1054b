package failedlookahead

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// furthest is the number of callers of a function that may go back for it.
const furthest = 3

// part returns the line of a loop that runs so often in each call that its function may be what
// reads far ahead for a caller; nil for others. The caller says whether that finds something.
func (s *search) part(f *site.Frame, p *gocode.Place) *lookahead {
	loop := loopAt(p)
	if p.Decl == nil || p.Func != p.Decl || loop == nil || s.lines.At(f) != nil || !advances(p, loop) {
		return nil
	}
	e, ok := evidence.Executions(s.pass, *f)
	if !ok || e.Calls < leastCalls || e.PerCall < leastSteps {
		return nil
	}
	return &lookahead{place: p, what: syntax.FuncName(p), calls: e.Calls, steps: e.PerCall}
}

// loopAt returns the innermost loop around a line, or the one whose head is on the line.
func loopAt(p *gocode.Place) ast.Node {
	if loop := p.Loop(); loop != nil {
		return loop
	}
	for _, n := range slices.Backward(p.Nodes) {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if !p.Drives(n.(ast.Stmt)) {
				return n
			}
		}
	}
	return nil
}

// advances reports whether a loop goes on in a text: through the characters of one, or by methods
// or fields of something that the function got. A loop over a table of keywords does not.
func advances(p *gocode.Place, loop ast.Node) bool {
	if r, ok := loop.(*ast.RangeStmt); ok {
		return text(p.TypeOf(r.X))
	}
	given := func(e ast.Expr) bool {
		v, part := syntax.Var(p, e)
		sig := syntax.SignatureOf(p)
		return v != nil && sig != nil && (syntax.ParamIndex(sig, v) >= 0 || part && sig.Recv() != nil && v == sig.Recv())
	}
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			found = found || text(p.TypeOf(n.X)) && !constant(p, n.Index)
		case *ast.ExprStmt:
			call, ok := n.X.(*ast.CallExpr)
			found = found || ok && syntax.Receiver(call) != nil && given(syntax.Receiver(call))
		case *ast.IncDecStmt:
			_, field := ast.Unparen(n.X).(*ast.SelectorExpr)
			found = found || field && given(n.X)
		}
		return !found
	})
	return found
}

// text reports whether a type is a text, also one of runes.
func text(t types.Type) bool {
	if t == nil {
		return false
	}
	if s, ok := t.Underlying().(*types.Slice); ok && types.Identical(s.Elem(), types.Typ[types.Rune]) {
		return true
	}
	return syntax.StringOrBytes(t)
}

// helps reports whether a caller of such a function, in its package, sets the position back and
// returns nothing after most of its calls, and notes that.
func (s *search) helps(l *lookahead, r *site.Row, i int) bool {
	if l.again != "" {
		return true
	}
	for j := i + 1; j <= i+furthest && j < len(r.Stack); j++ {
		f := r.Stack[j]
		if f.Owner.Package != r.Stack[i].Owner.Package {
			return false
		}
		p, ok := s.pass.Syntax.At(f.File, f.Line)
		if !ok || p.Decl == nil || f.Function == r.Stack[i].Function {
			return false
		}
		var back float64
		for _, ret := range restoring(p) {
			n, _ := evidence.ReachedAt(s.pass, p, ret.Pos())
			back += n
		}
		if l.failed = min(back/l.calls, 1); l.failed >= leastFailed {
			l.again = fmt.Sprintf("reads for %s, which then sets the position back and returns nothing", syntax.FuncName(p))
			return true
		}
	}
	return false
}
