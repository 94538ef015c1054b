package scanperlookup

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostly is the minimum part of the loop's CPU on the lines of a computation that is repeated for
// each element.
const mostly = 0.5

// prepared adds what the loop computes from each element again, in every scan, to the words about
// it: the conversion or the result of a function that gets the element alone.
func (s *search) prepared(p *gocode.Place, m *rule.Match) {
	call := s.perElement(p)
	if call == nil || len(m.CPU) == 0 {
		return
	}
	at := p.Fset.Position(call.Pos())
	var there, all int64
	for _, r := range m.CPU {
		all += r.Value
		if slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.File == at.Filename && f.Line == at.Line }) > 0 {
			there += r.Value
		}
	}
	if float64(there) < mostly*float64(all) {
		return
	}
	does := "computes " + syntax.Text(call)
	if t, ok := p.Conversion(call); ok {
		does = fmt.Sprintf("converts %s to %s", syntax.Text(call.Args[0]), syntax.TypeText(p, t))
	}
	m.Cause += fmt.Sprintf(" Most of its time it %s again, for each element in every scan, although the result depends on the element alone.", does)
	m.Fix = fmt.Sprintf("Compute %s once for each element, where %s gets its elements, and keep it beside them. ", syntax.Text(call), syntax.Text(s.over)) + m.Fix
}

// perElement returns a call in the loop whose only argument is the element, or a part of it, that
// is a string: its conversion to a slice, or a function without side effects. Of a list that is
// created for the search, each element is computed once anyway.
func (s *search) perElement(p *gocode.Place) (found *ast.CallExpr) {
	r, ok := s.scan.(*ast.RangeStmt)
	if !ok || r.Value == nil || !s.kept(p, s.over) {
		return nil
	}
	elem := syntax.LocalVar(p, r.Value)
	ast.Inspect(r.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil || elem == nil || len(call.Args) != 1 || !syntax.IsString(p, call.Args[0]) {
			return found == nil
		}
		if of, _ := syntax.Var(p, call.Args[0]); of == elem && repeatable(p, call) {
			found = call
		}
		return found == nil
	})
	return found
}

// repeatable reports whether a call of a string converts it to a slice, or computes a result that
// depends on it alone.
func repeatable(p *gocode.Place, call *ast.CallExpr) bool {
	if t, ok := p.Conversion(call); ok {
		_, slice := t.Underlying().(*types.Slice)
		return slice
	}
	if funcname.Match(p.CalleeName(call), funcname.TypedAll(effects.DeterministicFuncs())...) {
		return true
	}
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() != nil || fn.Signature().Results().Len() == 0 {
		return false
	}
	decl := p.Declaration(fn)
	return decl != nil && decl.Body != nil && effects.LooksPure(p.Entry(decl))
}
