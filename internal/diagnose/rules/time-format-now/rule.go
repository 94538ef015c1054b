// Package timeformatnow finds lines that format the current time more often than its text changes.
package timeformatnow

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is time-format-now.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "time-format-now",
		Kind:  rule.CPU,
		Title: "The current time formatted again though its text changes once a second",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are the formatting alone; comparing the second remains. The call has
				// samples only if it runs thousands of times in a second.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
			},
			Start: finder.Calls{Functions: []string{"time.Time.Format", "time.Time.AppendFormat"}},
			Judge: judge,
		},
	}
}

const doc = `Time.Format parses its layout in every call, looks up the zone, splits the time
into a date and allocates a string: about 300 ns. For the current time in a
layout of whole seconds, nearly all calls return the same text as the call
before.

Keep the text with its second (in an atomic.Pointer to both) and format only
when time.Now().Unix() differs from it.

It is fine where lines are rare. The rule leaves alone layouts with fractions of
a second, and times other than the current one: their texts differ.

Seen in the field: canonical/pebble#674, where formatting time was a main cost
of logging; valyala/fasthttp formats its Date header once a second for the same
reason (serverDate).`

func judge(c *finder.Case) bool {
	layout := ""
	ok := c.All(func(call *ast.CallExpr) bool {
		text, known := layoutOf(c, call.Args[len(call.Args)-1])
		layout = text
		return known && clock{c.Pass.Syntax}.now(c.Place, syntax.Receiver(call), mostSteps) && loops.PerCall(c.Place, call)
	})
	if !ok {
		return false
	}
	c.Cause = fmt.Sprintf("The current time is formatted as %q in every call; the text changes once a second, and the profile shows the call far more often.", layout)
	c.Fix = "Keep the text together with its Unix second in an atomic.Pointer, and format only when the second has changed."
	return true
}

// layoutOf returns a layout, if it and all others that an unexported field or a variable of the
// program can have are coarse.
func layoutOf(c *finder.Case, e ast.Expr) (layout string, ok bool) {
	if v := syntax.Named(c.Place, e); v != nil && (v.IsField() && v.Exported() || syntax.Param(c.Place, v)) {
		return "", false // a decoder may set it, or callers in other packages
	}
	for _, value := range flow.Constants(c.Pass.Syntax, c.Place, e) {
		if value.Kind() != constant.String || !coarse(constant.StringVal(value)) {
			return "", false
		}
		layout = constant.StringVal(value)
	}
	return layout, layout != ""
}

// coarse reports whether a layout has no unit below a second: two times in one second have the same
// text.
func coarse(layout string) bool {
	a := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	return a.Format(layout) == a.Add(987_654_321*time.Nanosecond).Format(layout) && layout != ""
}

// clock follows times to the clock.
type clock struct{ syntax *gocode.Syntax }

// mostSteps is how many variables, functions and parameters a time is followed through.
const mostSteps = 4

// now reports whether an expression is time.Now(), possibly in another zone, through variables that
// are set once, a function of the program that only returns it, an interface or a variable for the
// clock, or a parameter for which all callers pass it.
func (c clock) now(p *gocode.Place, e ast.Expr, steps int) bool {
	if e == nil || steps == 0 {
		return false
	}
	call, ok := syntax.Origin(p, e).(*ast.CallExpr)
	if !ok {
		if _, value, is := syntax.NewField(p, e); is && value != nil && syntax.SetsOf(p, e) == 0 {
			return c.now(p, value, steps-1)
		}
		v := syntax.LocalVar(p, e)
		given := flow.Passed(c.syntax, p, v)
		return v != nil && len(given) > 0 && !slices.ContainsFunc(given, func(a flow.Argument) bool {
			return older(a) || !c.now(a.Place, a.Value, steps-1)
		})
	}
	name := p.CalleeName(call)
	if name == "time.Now" {
		return true
	}
	if funcname.Match(name, "(time.Time).UTC", "(time.Time).Local", "(time.Time).In") || shifted(p, call, name) {
		return c.now(p, syntax.Receiver(call), steps-1)
	}
	if len(call.Args) > 0 {
		return false
	}
	if fn := p.Callee(call); fn != nil {
		return c.returnsNow(p, fn, steps-1)
	}
	return c.isClock(p, call.Fun)
}

// shifted reports whether a call moves a time by a constant: its text changes as seldom.
func shifted(p *gocode.Place, call *ast.CallExpr, name string) bool {
	if !funcname.Match(name, "(time.Time).Add", "(time.Time).AddDate", "(time.Time).Truncate", "(time.Time).Round") {
		return false
	}
	return !slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		_, constant := p.Const(arg)
		return !constant
	})
}

// older reports whether a call passes a variable that is set outside of a loop around the call: all
// iterations get the same time.
func older(a flow.Argument) bool {
	v := syntax.LocalVar(a.Place, a.Value)
	return v != nil && slices.ContainsFunc(loops.Around(a.Place, a.Value), func(loop ast.Node) bool { return !syntax.Inside(loop, v.Pos()) })
}

// returnsNow reports whether a function of the package, or each method of it that implements one of
// an interface, only returns the current time.
func (c clock) returnsNow(p *gocode.Place, fn *types.Func, steps int) bool {
	declared := []*types.Func{fn}
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		declared = implementing(p.Pkg, recv.Type(), fn.Name())
	}
	for _, fn := range declared {
		decl := p.Declaration(fn)
		if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
			return false
		}
		ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
		if !ok || len(ret.Results) != 1 || !c.now(p.Entry(decl), ret.Results[0], steps) {
			return false
		}
	}
	return len(declared) > 0
}

// implementing returns the methods of a package's types that implement one of an interface.
func implementing(pkg *types.Package, iface types.Type, name string) (methods []*types.Func) {
	i, ok := iface.Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	for _, n := range pkg.Scope().Names() {
		t, ok := pkg.Scope().Lookup(n).(*types.TypeName)
		if !ok || types.IsInterface(t.Type()) || !types.Implements(types.NewPointer(t.Type()), i) {
			continue
		}
		if obj, _, _ := types.LookupFieldOrMethod(t.Type(), true, pkg, name); obj != nil {
			if fn, ok := obj.(*types.Func); ok {
				methods = append(methods, fn)
			}
		}
	}
	return methods
}

// isClock reports whether a variable or a field is time.Now wherever the program sets it.
func (c clock) isClock(p *gocode.Place, fun ast.Expr) bool {
	v := syntax.Named(p, fun)
	if v == nil {
		return false
	}
	if !v.IsField() {
		return isNow(p, p.Initial(v))
	}
	sel, ok := ast.Unparen(fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	owner := p.TypeOf(sel.X)
	if ptr, ok := owner.(*types.Pointer); ok {
		owner = ptr.Elem()
	}
	values := c.syntax.ValuesOf(types.TypeString(owner, nil), v.Name())
	return len(values) > 0 && !slices.ContainsFunc(values, func(f gocode.FieldValue) bool { return !isNow(f.Place, f.Value) })
}

// isNow reports whether an expression is the function time.Now.
func isNow(p *gocode.Place, e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := p.Object(sel.Sel).(*types.Func)
	return ok && fn.FullName() == "time.Now"
}
