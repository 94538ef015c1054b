// Package replacerpercall finds strings.Replacers that are re-created for each use.
package replacerpercall

import (
	"context"
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
		Finder: finder.Lines{
			Claim: rule.Claim{
				Removes: true,
				// The rows are the building alone, and a package variable builds once.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.9, High: 1},
				Specificity: 1,
			},
			Loop: find,
		},
	}
}

const doc = `strings.NewReplacer copies its pairs, and the first Replace turns them into a
table or a trie: a 256-byte table for single bytes, a tree of nodes for
longer strings. That pays when the Replacer is used many times. Made inside a
function that runs per request, it is built, used once and thrown away.

With constant pairs it belongs in a package variable: a Replacer may be
used by many goroutines at a time.

It is fine in an init function, or when the pairs differ from call to call;
then strings.ReplaceAll in turn may be cheaper for one or two pairs.

Seen in the field: goforj/godump#9, and the left-pad service of "Profiling
and optimizing Go web applications" (artem.krylysov.com, 2017).`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		m := finder.Take(s, building, constructor, build)
		if m.Empty() {
			continue
		}
		place := p.Place(s)
		if place == nil {
			m.Cause = "A strings.Replacer is built on every call. The source is not available, so its pairs are unknown."
			m.Fix = "If the pairs are constant, keep the Replacer in a package variable."
			m.Confidence = rule.Hint
			matches = append(matches, m)
			continue
		}
		call := made(place)
		if call == nil || !perCall(place, call) {
			continue
		}
		m.Cause = fmt.Sprintf("%s creates a strings.Replacer of %d constant pairs on every call. NewReplacer copies the pairs, and the first Replace builds a lookup table that is used once.",
			syntax.FuncName(place), len(call.Args)/2)
		m.Fix = fmt.Sprintf("Move it to a package variable: var replacer = %s; it is safe for concurrent use.", syntax.Short(types.ExprString(call)))
		if to := replaces(place, call); to != nil {
			m.Fix = safety.Destination(place, to).Advise(m.Fix)
		}
		m.Confidence = evidence.Weigh(p, s, false)
		m.Evidence = evidence.Compiler(p, s)
		matches = append(matches, m)
	}
	return matches, nil
}

// replaces returns the call of Replace on what a constructor makes, when that is straight behind it.
func replaces(p *gocode.Place, made *ast.CallExpr) *ast.CallExpr {
	sel, ok := syntax.Parent(p, made).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Replace" {
		return nil
	}
	call, _ := syntax.Parent(p, sel).(*ast.CallExpr)
	return call
}

// building are the rows of making a Replacer: the constructor and the build in
// the first use, but not the replacing, and not before main started.
func building(r *site.Row) bool {
	made := stacks.Calls(r, constructor) ||
		stacks.Calls(r, "strings.(*Replacer).Replace", "strings.(*Replacer).WriteString") && r.Below(build)
	return made && !stacks.Initial(r)
}

// made returns the call of NewReplacer with constant pairs that the line is
// about: on the line itself, or where the function made the Replacer used on it.
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

// origin follows an expression to the NewReplacer call in this function that made its value.
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

// perCall reports whether the call runs more than once in a program's life as far
// as the syntax shows: not in a package variable, nor straight in main or init.
func perCall(p *gocode.Place, call *ast.CallExpr) bool {
	if p.Decl == nil {
		return false
	}
	once := p.Decl.Recv == nil && (p.Decl.Name.Name == "init" || p.Decl.Name.Name == "main" && p.Pkg.Name() == "main")
	return !once || len(loops.Around(p, call)) > 0
}
