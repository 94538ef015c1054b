package scanperlookup

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastPrepared is the minimum part of the loop's CPU on the lines of a computation that is
	// repeated for each element; mostly is most of it.
	leastPrepared = 0.25
	mostly        = 0.5
)

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
	part := float64(there) / float64(max(all, 1))
	if part < leastPrepared {
		return
	}
	does := "computes " + syntax.Text(call)
	if t, ok := p.Conversion(call); ok {
		does = fmt.Sprintf("converts %s to %s", syntax.Text(call.Args[0]), syntax.TypeText(p, t))
	}
	time := "Most"
	if part < mostly {
		time = units.Percent(part)
	}
	on := "the element alone"
	if len(call.Args) > 1 {
		on = "the element and on what is the same for all of them"
	}
	m.Cause += fmt.Sprintf(" %s of its time it %s again, for each element in every scan, although the result depends on %s.", time, does, on)
	m.Fix = fmt.Sprintf("Compute %s once for each element, where %s gets its elements, and keep it beside them. ", syntax.Text(call), syntax.Text(s.over)) + m.Fix
}

// perElement returns a call in the loop of which one argument is the element, or a part of it, that
// is a string, and the others are the same for all elements: its conversion to a slice, or a
// function without side effects. Of a list that is created for the search, each element is computed
// once anyway.
func (s *search) perElement(p *gocode.Place) (found *ast.CallExpr) {
	r, ok := s.scan.(*ast.RangeStmt)
	if !ok || !s.kept(p, s.over) {
		return nil
	}
	elem := syntax.LocalVar(p, syntax.OrBad(r.Value))
	if key := syntax.LocalVar(p, syntax.OrBad(r.Key)); key != nil && syntax.IsMap(p.TypeOf(r.X)) && syntax.IsString(p, r.Key) {
		elem = key
	}
	ast.Inspect(r.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil || elem == nil {
			return found == nil
		}
		of := 0
		for _, arg := range call.Args {
			v, _ := syntax.Var(p, arg)
			switch {
			case v == elem && syntax.IsString(p, arg):
				of++
			case !flag(p, arg) || !loops.Invariant(p, r, arg):
				return true
			}
		}
		if of == 1 && repeatable(p, call) {
			found = call
		}
		return found == nil
	})
	return found
}

// flag reports whether an argument has one of a few values, for each of which a result can be kept.
func flag(p *gocode.Place, e ast.Expr) bool {
	if _, constant := p.Const(e); constant {
		return true
	}
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
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
