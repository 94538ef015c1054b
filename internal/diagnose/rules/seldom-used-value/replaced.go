package seldomusedvalue

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/later"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// leastReplaced is the minimum number of calls that the allocations of the CPU phase must be of: a
// text of 16 bytes for each would give four samples.
const leastReplaced = 130_000

// replacers are functions that allocate if the text has what they replace, and only then, as
// profiles name them. Those of package regexp always allocate.
var replacers = []string{"strings.ReplaceAll", "strings.Replace"}

// replacement is the index of their argument that is computed too early.
const replacement = 2

// replaced looks for a replacement that a line computes for texts that mostly lack what it
// replaces.
func (s *search) replaced(f *site.Frame, p *gocode.Place, runs float64) *early {
	for _, name := range replacers {
		for _, call := range syntax.CallsTo(p, name) {
			callees := s.harmless(p, call.Args[replacement])
			if len(callees) == 0 {
				continue
			}
			share, ok := s.matched(f, name)
			if used := share * runs; ok && used <= mostUsed*runs {
				return &early{text: syntax.Text(call.Args[replacement]), callee: syntax.Text(call.Fun), callees: callees, runs: runs, used: used, replaces: true}
			}
		}
	}
	return nil
}

// harmless returns the functions that a replacement calls, if they have no side effects; nil if
// they may have, or if it calls none.
func (s *search) harmless(p *gocode.Place, value ast.Expr) (callees []string) {
	fine := true
	ast.Inspect(value, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if _, lit := n.(*ast.FuncLit); lit {
			fine = false
		}
		if !ok || !fine {
			return fine
		}
		fn := p.Callee(call)
		if later.Computes(p, call) {
			if fn != nil {
				callees = append(callees, gocode.FullName(fn))
			}
			return true
		}
		if fn == nil || effects.Impure(fn) || effects.Changes(fn) {
			fine = false
			return false
		}
		for _, in := range s.bodies(fn) {
			fine = fine && effects.ChangesNothing(in)
			if self, ok := in.Info.Defs[in.Decl.Name].(*types.Func); ok {
				callees = append(callees, gocode.FullName(self))
			}
		}
		return fine
	})
	if !fine {
		return nil
	}
	return callees
}

// bodies returns the functions of the program that a call of a function may call.
func (s *search) bodies(fn *types.Func) (all []*gocode.Place) {
	if in, ok := s.pass.Syntax.Declared(fn); ok {
		return []*gocode.Place{in}
	}
	for _, in := range s.pass.Syntax.Methods(fn.Name()) {
		if method, ok := in.Info.Defs[in.Decl.Name].(*types.Func); ok && awaited.Implements(method, fn) {
			all = append(all, in)
		}
	}
	return all
}

// matched returns the largest share of the calls of a replacing function on a line that replace
// something, by what they allocate; false if that is not known.
func (s *search) matched(f *site.Frame, name string) (share float64, ok bool) {
	each, ok := evidence.PerExecution(s.pass, *f, 1)
	if !ok || each <= 0 || 1/each < leastReplaced {
		return 0, false
	}
	objects := int64(0)
	for _, r := range s.pass.Site(f).Allocs {
		if funcname.Match(stacks.Callee(r), name) {
			objects += r.Count
		}
	}
	return each * float64(objects), true
}

// replacedWords returns cause and fix for a replacement.
func (f *early) replacedWords(share string) (cause, fix string) {
	cause = fmt.Sprintf("%s is computed as the replacement for each call of %s, but the texts mostly lack what it replaces, as its allocations show: %s.", f.text, f.callee, share)
	fix = fmt.Sprintf("Compute %s only for texts that have the placeholder: test with strings.Contains first, or go through the text once and compute the value of each placeholder that it has.", f.text)
	return cause, fix
}
