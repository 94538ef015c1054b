// Package stackinerrors finds errors that record a stack trace on a hot path.
package stackinerrors

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// walkers are the functions that walk a stack.
var walkers = []string{"runtime.Callers", "runtime.Caller", "runtime.CallersFrames", "runtime.(*Frames).Next", "runtime.Stack", "runtime/debug.Stack"}

// Rule is stack-in-errors.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "stack-in-errors",
		Kind:  rule.CPU,
		Title: "Errors that record a stack trace on a hot path",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				Removes: true,
				// Creating an error without a stack remains.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.75, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `Some error packages record where an error is created: runtime.Callers unwinds
the whole stack, which takes a microsecond or more, and the result is an array
of 32 or more addresses on the heap. Converting those to names and lines costs
much more again. Each Wrap may do the same.

For errors that belong to normal operation (not found, end of input, wrong key)
return a plain or a package-level error, and add the stack only to errors that
indicate a bug. If stacks are wanted, record the addresses and resolve them only
when the error is printed.

It is fine for rare errors. Without the stack, the log does not show where an
error came from.

Seen in the field: monzo/terrors#10, emperror/errors#27, uber-go/zap#1052 for
loggers.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	f := search{pass: p, walking: walking(p)}
	return finder.Line{Start: finder.Frames(f.caller), Judge: f.guilty}
}

// search is the state of one run of the rule.
type search struct {
	pass    *rule.Pass
	walking map[string]bool // functions of modules that walk a stack
}

// walking returns the functions outside the standard library that call a walker.
func walking(p *rule.Pass) map[string]bool {
	found := map[string]bool{}
	p.EachRow(func(r *site.Row) {
		if r.Owner > 0 && stacks.Calls(r, walkers...) {
			found[r.Stack[r.Owner].Function] = true
		}
	})
	return found
}

// caller returns the frame to charge for a row of a walking function: the line that walks or, if
// that is in a dependency, the line of another module that called the dependency.
func (f *search) caller(r *site.Row) int {
	if r.Owner < 0 || !f.walking[r.Stack[r.Owner].Function] {
		return -1
	}
	own := r.Stack[r.Owner].Owner
	if own.Kind != gocode.Dependency {
		return r.Owner
	}
	for i := r.Owner + 1; i < len(r.Stack); i++ {
		kind := r.Stack[i].Owner.Kind
		if (kind == gocode.Main || kind == gocode.Dependency) && r.Stack[i].Owner.Module != own.Module {
			return i
		}
	}
	return -1
}

func (f *search) guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil || fn.Pkg() == nil || fn.Pkg() == p.Pkg || !makesError(p.TypeOf(call)) {
			continue
		}
		if repeated(p, call) && below(m, fn) {
			m.Cause = fmt.Sprintf("%s records a stack trace for each error that it creates.", symbol.Short(gocode.FullName(fn)))
			m.Fix = "On this path return a plain error or a package variable; record stacks only for errors that indicate a bug."
			return true
		}
	}
	if p.Decl == nil || !f.own(m) {
		return false
	}
	m.Cause = fmt.Sprintf("%s walks the stack for each error that is created.", syntax.FuncName(p))
	m.Fix = "Create errors of normal operation without a stack, or record only the addresses and resolve them when the error is printed."
	return true
}

// repeated reports whether a call may run more than once. A check for nil or for a missing key
// makes it rare only if the error is kept: an error that is returned is created again by the next
// call that finds nothing.
func repeated(p *gocode.Place, call *ast.CallExpr) bool {
	if _, returned := syntax.Parent(p, call).(*ast.ReturnStmt); returned {
		return loops.Repeats(p, call)
	}
	return loops.PerCall(p, call)
}

// below reports whether the rows are of that function, which belongs to a module: the standard
// library's functions record no stacks.
func below(m *rule.Match, fn *types.Func) bool {
	for _, r := range append(append([]*site.Row{}, m.CPU...), m.Allocs...) {
		for i := 1; i < len(r.Stack); i++ {
			s := r.Stack[i]
			callee := r.Stack[i-1]
			if s.Line == m.Site.Line && s.Function == m.Site.Function && callee.Owner.Kind != gocode.Std && funcname.Typed(callee.Function) == gocode.FullName(fn) {
				return true
			}
		}
	}
	return false
}

// own reports whether the charged line itself walks the stack for an error: its function, or one of
// the two that called it, returns one.
func (f *search) own(m *rule.Match) bool {
	for _, r := range m.CPU {
		if r.Owner < 0 || r.Stack[r.Owner].Line != m.Site.Line || !stacks.Calls(r, walkers...) {
			continue
		}
		for i := r.Owner; i < len(r.Stack) && i < r.Owner+3; i++ {
			s := r.Stack[i]
			if place, ok := f.pass.Syntax.At(s.File, s.Line); ok && returnsError(place) {
				return true
			}
		}
	}
	return false
}

// returnsError reports whether the results of a place's function include an error.
func returnsError(p *gocode.Place) bool {
	var ft *ast.FuncType
	switch fn := p.Func.(type) {
	case *ast.FuncDecl:
		ft = fn.Type
	case *ast.FuncLit:
		ft = fn.Type
	}
	if ft == nil || ft.Results == nil {
		return false
	}
	for _, field := range ft.Results.List {
		if makesError(p.TypeOf(field.Type)) {
			return true
		}
	}
	return false
}

// makesError reports whether values of a type are errors.
func makesError(t types.Type) bool {
	if t == nil {
		return false
	}
	err := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return types.Implements(t, err)
}
