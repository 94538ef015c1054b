// Package seldomusedvalue finds values that are computed on every call, and used in few calls.
package seldomusedvalue

import (
	"context"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/later"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// mostUsed is the largest share of the computed values that may be used.
const mostUsed = 1. / 3

// Rule is seldom-used-value.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "seldom-used-value",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Value computed on every call, and used in few of them",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own: the counted share of values that nobody uses.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.5, High: 1},
				Specificity: 2, // how the value is computed does not matter where it is not needed
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function computes a value, and then only one of its branches uses it: the text
for a debug line or an error, attributes of a span that is not sampled, a key
that most requests do not need, a table before an early return. Go evaluates
what is written; it does not wait for a use. The same holds for an argument: a
function that returns at once because something is switched off, or because a
filter drops the entry, gets its arguments computed all the same. ReplaceAll gets
its replacement also for texts without the placeholder.

Move the computation into the branch that uses it, or below the early return.
If the callee decides, test before the call, or pass what the value is computed
from.

It is fine where the value is needed in most calls, or must be computed before
something changes what it depends on. The rule counts executions: it reports
values of which at most a third were used while they were counted, and that are
computed without visible side effects. It leaves alone values whose inputs may
change before they are used, and calls that also check their input.

Seen in the field: coder/coder#27310 (attributes of spans that no tracer
recorded), buildbuddy-io/buildbuddy#8877 (paths that only debug lines need),
openflagr/flagr#719 (text for a debug mode, formatted for each evaluation),
crowdsecurity/crowdsec#1243 (responses dumped for a log level that is off),
DataDog/dd-trace-go#1183 (options that only failed calls need).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[early]
}

// early is a value that is computed before it is known to be needed.
type early struct {
	name    string   // of the variable; "" for an argument
	text    string   // the expression that computes it
	callee  string   // the function that gets the argument
	callees []string // of an argument: the functions that compute it, by the type checker's names
	runs    float64  // how often it is computed, per unit of work
	used    float64  // how often it is used, at most
	at      int      // line that uses the variable first
	by      string   // position at which the callee uses the argument first; "" for none
	// replaces says that the callee is one of replacers, which needs the argument for matches.
	replaces bool
	guard    string // condition under which it is used, if that is known before it is computed
}

// look returns the value that a line computes and that is seldom used; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *early {
	e, ok := evidence.Executions(s.pass, *f)
	if p.Func == nil || p.Decl == nil || !ok || !evidence.Hot(s.pass, e) {
		return nil
	}
	if found := s.variable(p.Outer()); found != nil {
		return found
	}
	if found := s.argument(p.Outer(), e.PerUnit); found != nil {
		return found
	}
	return s.replaced(f, p, e.PerUnit)
}

// variable looks for a local variable that the line computes.
func (s *search) variable(p *gocode.Place) *early {
	for _, n := range p.Nodes {
		id, value := declares(p, n)
		if id == nil || !later.Moves(p, value) {
			continue
		}
		v := syntax.LocalVar(p, id)
		e, ok := evidence.ExecutionsAt(s.pass, p, n.Pos())
		if v == nil || !ok || e.PerUnit <= 0 || syntax.IsResult(p, v) || later.Sets(p, v) != 1 {
			continue
		}
		reads := syntax.Reads(p, v)
		used, at, ok := s.used(p, n, reads)
		if !ok || at == 0 || used > mostUsed*e.PerUnit {
			continue
		}
		guard, ok := movable(p, n, value, reads)
		if !ok {
			continue
		}
		return &early{name: v.Name(), text: syntax.Text(value), runs: e.PerUnit, used: used, at: at, guard: guard}
	}
	return nil
}

// argument looks for an argument that the line computes for a function of the program.
func (s *search) argument(p *gocode.Place, runs float64) *early {
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		for i, arg := range call.Args {
			calls := computes(p, arg)
			if len(calls) == 0 || !later.Moves(p, arg) {
				continue
			}
			used, at, ok := s.usedBy(p, call, i)
			if !ok || used > mostUsed*runs {
				continue
			}
			return &early{text: syntax.Text(arg), callee: fn.Name(), callees: calls, runs: runs, used: used, by: at}
		}
	}
	return nil
}

// caller returns the frame of a row, nearest to the leaf, that computes such a value.
func (s *search) caller(r *site.Row) int {
	for i, f := range r.Stack {
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		found := s.lines.At(f)
		if found == nil {
			continue
		}
		if found.callees == nil || i > 0 && slices.ContainsFunc(found.callees, func(typed string) bool { return called(typed, r.Stack[i-1].Function) }) {
			return i
		}
	}
	return -1
}

// called reports whether a function of a profile is the one that the type checker names, by the
// last part of the name where the package is main.
func called(typed, profile string) bool {
	name := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	other := funcname.Typed(profile)
	return other == typed || strings.HasPrefix(strings.TrimLeft(other, "(*"), "main.") && name(other) == name(typed)
}

func (s *search) judge(c *finder.Case) bool {
	f := s.lines.At(&c.Site.Frame)
	if f == nil {
		return false
	}
	fine, file := effects.PureBelow(c.CPU, func(r *site.Row) int {
		return slices.IndexFunc(r.Stack, func(x *site.Frame) bool { return x.File == c.Site.File && x.Line == c.Site.Line })
	})
	if !fine || file {
		return false
	}
	unused := 1 - f.used/f.runs
	c.Fraction = &rule.Fraction{Expect: 0.97 * unused, Low: 0.8 * unused, High: unused}
	c.Confidence = rule.Likely // that nothing depends on the order is not proved
	value := f.name
	if f.name == "" {
		value = f.text
	}
	share := "none of the values was used while executions were counted"
	if f.used > 0 {
		share = fmt.Sprintf("at most %s of the values are used", units.Percent(f.used/f.runs))
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s is computed %s per %s, and used %s", value, evidence.Times(f.runs), s.pass.Manifest.Unit(), evidence.Times(f.used)),
	})
	c.Cause, c.Fix = f.words(syntax.FuncName(c.Place), share)
	return true
}

// words returns cause and fix.
func (f *early) words(function, share string) (cause, fix string) {
	if f.replaces {
		return f.replacedWords(share)
	}
	if f.name == "" {
		where := ""
		if f.by != "" {
			where = " (" + f.by + ")"
		}
		cause = fmt.Sprintf("%s is computed for each call of %s, which does not need it each time%s: %s.", f.text, f.callee, where, share)
		fix = fmt.Sprintf("Test before the call whether %s will use it, or pass what it is computed from and let %s compute it where it is used.", f.callee, f.callee)
		return cause, fix
	}
	cause = fmt.Sprintf("Each call of %s computes %s, but only some branches use it (line %d): %s.", function, f.name, f.at, share)
	fix = fmt.Sprintf("Compute %s where it is used, in the branch at line %d or after the return that makes it unnecessary.", f.name, f.at)
	if f.guard != "" {
		fix = fmt.Sprintf("Compute %s only if %s, in the branch that uses it (line %d).", f.name, f.guard, f.at)
	}
	return cause, fix
}

// declares returns the local variable that a statement of a block sets to one value, and the value;
// nil for others. A second result may be dropped, or be an error that cannot be the purpose of the
// call.
func declares(p *gocode.Place, n ast.Node) (*ast.Ident, ast.Expr) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		switch syntax.Parent(p, n).(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		default:
			return nil, nil // of an if, a switch, or a loop
		}
		if clause, ok := syntax.Parent(p, n).(*ast.CommClause); ok && clause.Comm == ast.Stmt(n) {
			return nil, nil
		}
		id, ok := n.Lhs[0].(*ast.Ident)
		if !ok || id.Name == "_" || len(n.Rhs) != 1 || len(n.Lhs) > 2 {
			return nil, nil
		}
		if len(n.Lhs) == 2 {
			call, ok := ast.Unparen(n.Rhs[0]).(*ast.CallExpr)
			if second, is := n.Lhs[1].(*ast.Ident); !ok || !is || second.Name != "_" && !writesText(p, call) {
				return nil, nil
			}
		}
		return id, n.Rhs[0]
	case *ast.ValueSpec:
		if len(n.Names) == 1 && len(n.Values) == 1 {
			return n.Names[0], n.Values[0]
		}
	}
	return nil, nil
}

// writesText reports whether a call makes a text of a value. Its error says that this failed; the
// error of a parser is also a check of its input.
func writesText(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	return fn != nil && (strings.HasPrefix(fn.Name(), "Marshal") || strings.HasPrefix(fn.Name(), "Dump"))
}
