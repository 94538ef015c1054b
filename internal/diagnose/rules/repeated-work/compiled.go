package repeatedwork

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/watched"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
)

const (
	// mostCompiled is the number of texts up to which they are rules of a program, not its data.
	mostCompiled = 64
	// A lookup by the text takes some 20 ns.
	leastCompiled      = 200e-9
	leastCompiledBytes = 256
)

// compiled judges functions that turn a text into a function, which their caller applies once to a
// value that it was given, and drops: the rule of a filter, the expression of an alert. That the
// same texts come again is then not chosen by whoever measures: a function is what is applied to
// many values. Functions cannot be compared, so the finding is likely.
func (s *search) compiled(in *inputs.Function) *found {
	c := s.costs[in.Name]
	if c == nil || c.Recursive || in.Calls < provedCalls || in.Stable > mostCompiled || !in.ByValue() {
		return nil
	}
	calls := watched.Calls(s.pass, in)
	if calls <= 0 || float64(c.Nanoseconds)*1e-9 < leastCompiled*calls && float64(c.Bytes) < leastCompiledBytes*calls {
		return nil
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return nil
	}
	sig := syntax.SignatureOf(place)
	if sig == nil || sig.Results().Len() == 0 || !isFunction(sig.Results().At(0).Type()) || takesFunction(sig) || !takesString(sig) || changes(in) {
		return nil
	}
	f := &found{Function: in, where: always, repeats: 1 - float64(in.Stable)/float64(in.Calls), confidence: rule.Likely, compiles: true}
	if f.repeats < fewRepeat || !effects.ChangesNothing(place) || !s.quiet(in.Name) || !s.appliedOnce(in.Name) {
		return nil
	}
	f.words = few(in, in.Stable)
	return f
}

func isFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// takesString reports whether a parameter is a string.
func takesString(s *types.Signature) bool {
	for v := range s.Params().Variables() {
		if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
			return true
		}
	}
	return false
}

// appliedOnce reports whether all callers of a function that the profile shows apply its result
// once to one of their own parameters, and do nothing else with it.
func (s *search) appliedOnce(name string) bool {
	some := false
	for p, ok := range s.callers(name) {
		if !ok || !slices.ContainsFunc(syntax.CallsTo(p, name), func(call *ast.CallExpr) bool { return applied(p, call) }) {
			return false
		}
		some = true
	}
	return some
}

// applied reports whether the function around a call only applies its first result, once.
func applied(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.Result(p, call)
	if v == nil || !syntax.Local(p, v) || syntax.IsResult(p, v) {
		return false
	}
	applications := 0
	for _, id := range syntax.Reads(p, v) {
		switch use := syntax.Parent(p, id).(type) {
		case *ast.BinaryExpr: // eval == nil
		case *ast.CallExpr:
			if ast.Unparen(use.Fun) != ast.Expr(id) || p.LoopAround(use) != p.LoopAround(call) || !givesOther(p, use, call) {
				return false
			}
			applications++
		default:
			return false
		}
	}
	return applications == 1
}

// givesOther reports whether a call gets a parameter of the function around it that another call
// does not get.
func givesOther(p *gocode.Place, use, call *ast.CallExpr) bool {
	for _, arg := range use.Args {
		v, _ := syntax.Var(p, arg)
		if v == nil || !syntax.Param(p, v) {
			continue
		}
		if !slices.ContainsFunc(call.Args, func(e ast.Expr) bool { w, _ := syntax.Var(p, e); return w == v }) {
			return true
		}
	}
	return false
}
