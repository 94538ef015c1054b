// Package replacerpercall finds strings.Replacers that are re-created for each use.
package replacerpercall

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	constructor = "strings.NewReplacer"
	// build is what the first Replace of a Replacer does (strings/replace.go).
	build = "strings.(*Replacer).build*"
)

// Rule is replacer-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "replacer-per-call",
		Kind:  rule.Alloc,
		Title: "strings.Replacer built on every call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// The rows are those of the build alone. A package variable is built once.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.9, High: 1},
				Specificity: 1,
			},
			Start: finder.Sites(func(s *site.Site) rule.Match { return finder.Take(s, building, constructor, build) }),
			Judge: judge,
			Unseen: finder.Words{
				Cause: "A strings.Replacer is built on every call. The source is not available, so its pairs are unknown.",
				Fix:   "If the pairs are constant, keep the Replacer in a package variable.",
			}.Fill,
		},
	}
}

const doc = `strings.NewReplacer copies its pairs, and the first Replace turns them into a
table or a trie: a 256-byte table for single bytes, a tree of nodes for
longer strings. That pays when the Replacer is used many times. Made inside a
function that runs per request, it is built, used once and discarded.

With constant pairs it belongs in a package variable: a Replacer is safe for
concurrent use.

It is fine in an init function, or when the pairs differ from call to call. For
one or two pairs, a strings.ReplaceAll each may then be cheaper.

Seen in the field: goforj/godump#9, and the left-pad service of "Profiling
and optimizing Go web applications" (artem.krylysov.com, 2017).`

func judge(c *finder.Case) bool {
	call := made(c.Place)
	if call == nil || !perCall(c.Place, call) {
		return false
	}
	c.Cause = fmt.Sprintf("%s creates a strings.Replacer of %d constant pairs on every call. NewReplacer copies the pairs, and the first Replace builds a lookup table that is used once.",
		syntax.FuncName(c.Place), len(call.Args)/2)
	c.Fix = fmt.Sprintf("Move it to a package variable: var replacer = %s; it is safe for concurrent use.", syntax.Short(types.ExprString(call)))
	if to := replaces(c.Place, call); to != nil {
		c.Fix = safety.Destination(c.Place, to).Advise(c.Fix)
	}
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return true
}

// replaces returns the call of Replace on the constructor's result, as in
// strings.NewReplacer(…).Replace(s); nil for none.
func replaces(p *gocode.Place, made *ast.CallExpr) *ast.CallExpr {
	sel, ok := syntax.Parent(p, made).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Replace" {
		return nil
	}
	call, _ := syntax.Parent(p, sel).(*ast.CallExpr)
	return call
}

// building reports whether a row is of building a Replacer: the constructor and the build in the
// first use, but not replacing, and not before main starts.
func building(r *site.Row) bool {
	made := stacks.Calls(r, constructor) ||
		stacks.Calls(r, "strings.(*Replacer).Replace", "strings.(*Replacer).WriteString") && r.Below(build)
	return made && !stacks.Initial(r)
}

// made returns the call of NewReplacer with constant pairs that is on the line, or whose result
// the line uses.
func made(p *gocode.Place) *ast.CallExpr {
	for _, call := range syntax.CallsOf(p, constructor) {
		if constant(p, call) {
			return call
		}
	}
	for _, use := range syntax.CallsOf(p, "(*strings.Replacer).Replace", "(*strings.Replacer).WriteString") {
		sel, ok := ast.Unparen(use.Fun).(*ast.SelectorExpr)
		if !ok {
			continue
		}
		if call := origin(p, sel.X); call != nil && constant(p, call) {
			return call
		}
	}
	return nil
}

// origin returns the call of NewReplacer in this function whose result an expression holds.
func origin(p *gocode.Place, e ast.Expr) *ast.CallExpr {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if p.CalleeName(x) == constructor {
			return x
		}
	case *ast.Ident:
		v, ok := p.Object(x).(*types.Var)
		if !ok || v.Parent() == p.Pkg.Scope() {
			return nil
		}
		for _, value := range syntax.Assigned(p, v) {
			if call, ok := ast.Unparen(value).(*ast.CallExpr); ok && p.CalleeName(call) == constructor {
				return call
			}
		}
	}
	return nil
}

// constant reports whether all pairs are constants.
func constant(p *gocode.Place, call *ast.CallExpr) bool {
	if call.Ellipsis.IsValid() || len(call.Args) == 0 {
		return false
	}
	for _, arg := range call.Args {
		if _, ok := p.Const(arg); !ok {
			return false
		}
	}
	return true
}

// perCall reports whether the call may run more than once, as far as the syntax shows: it does not
// if it initialises a package variable, or is in main or init outside of loops.
func perCall(p *gocode.Place, call *ast.CallExpr) bool {
	if p.Decl == nil {
		return false
	}
	once := p.Decl.Recv == nil && (p.Decl.Name.Name == "init" || p.Decl.Name.Name == "main" && p.Pkg.Name() == "main")
	return !once || len(loops.Around(p, call)) > 0
}
