package unchangedinput

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// The functions of this file are for functions of the program and its dependencies that turn a text
// into another one, as a search does with its query: a helper gets the query and an element, and
// normalizes both, so that the query is normalized once for each element.

// leastConversion is the minimum time of such a call, in seconds, that is worth a variable.
const leastConversion = 50e-9

// leastHelped is how often a helper must get a constant for each unit of work to be called in a
// loop.
const leastHelped = 10

// normalizes reports whether a function returns a text that depends on its arguments alone, as far
// as is visible.
func (s *search) normalizes(f *site.Frame) bool {
	known, ok := s.normal[f.Function]
	if !ok {
		known = s.looksNormal(f)
		s.normal[f.Function] = known
	}
	return known
}

func (s *search) looksNormal(f *site.Frame) bool {
	if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
		return false
	}
	p, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || p.Decl == nil || p.Func != p.Decl || p.Decl.Recv != nil {
		return false
	}
	sig := syntax.SignatureOf(p)
	if sig == nil || sig.Variadic() || !returnsText(sig) {
		return false
	}
	takes := false
	for v := range sig.Params().Variables() {
		takes = takes || isText(v.Type())
	}
	return takes && effects.LooksPure(p)
}

// returnsText reports whether a function returns a text, and at most an error besides.
func returnsText(sig *types.Signature) bool {
	results := sig.Results()
	if results.Len() == 0 || results.Len() > 2 || !isText(results.At(0).Type()) {
		return false
	}
	return results.Len() == 1 || types.Identical(results.At(1).Type(), types.Universe.Lookup("error").Type())
}

func isText(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// ofParameter reports whether a call, outside of loops, gets a text that the function around it
// gets.
func ofParameter(p *gocode.Place, call *ast.CallExpr) bool {
	if len(loops.Around(p, call)) > 0 {
		return false
	}
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		v := syntax.LocalVar(p, arg)
		return v != nil && syntax.Param(p, v) && isText(v.Type())
	})
}

// quick reports whether such a call takes so little time that it is not worth a variable.
func quick(c *finder.Case) bool {
	nanoseconds, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9)
	return known && each < leastConversion
}

// replaced reports whether a function sets a parameter, other than to the result of the call that
// is judged: text = fold(text).
func (o *origin) replaced(v *types.Var) bool {
	body := syntax.Body(o.place)
	if o.normal == nil || o.above {
		return o.setIn(body, v)
	}
	set := false
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == o.normal {
			return false
		}
		for _, e := range targets(n) {
			set = set || o.isOf(e, v)
		}
		return !set
	})
	return set
}

// passedOn reports whether a variable is a parameter of an interface, for a call that only turns a
// text into another one: the way to do it.
func (o *origin) passedOn(v *types.Var) bool {
	return o.normal != nil && syntax.Param(o.place, v) && types.IsInterface(v.Type())
}

// describeNormal fills in the words for a text that is turned into another one again.
func (f *found) describeNormal(p *rule.Pass, m *rule.Match) {
	text := syntax.Text(f.call)
	for _, arg := range f.call.Args {
		if t := f.place.TypeOf(arg); t != nil && isText(t) {
			text = syntax.Text(arg)
			break
		}
	}
	seldom := "it did not change while executions were counted"
	if f.sets > 0 {
		seldom = fmt.Sprintf("it is set once in %s runs of the line", units.Count(int64(1/f.sets)))
	}
	m.Cause = fmt.Sprintf("%s has the same result each time: %s is converted again on every call of %s, though %s. It runs %s per %s.",
		syntax.Text(f.call), text, syntax.FuncName(f.place), seldom, evidence.Times(f.runs), p.Manifest.Unit())
	m.Fix = fmt.Sprintf("Convert %s once, before the loop that calls %s, and pass it the result.", text, syntax.FuncName(f.place))
	m.Confidence = rule.Likely
}
