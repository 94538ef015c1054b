// Package logargsboxed finds log calls whose arguments are converted to interfaces for a level that
// is off.
package logargsboxed

import (
	"context"
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loglevel"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostWork is the most that work below the call may allocate, as a part of the call's own
// allocations. Above it, the line is written at least sometimes.
const mostWork = 0.05

// fewest is the minimum number of samples of the call. A line that is written spends four fifths of
// its time on that, so three samples miss it once in a hundred times.
const fewest = 3

// output are functions that run when a log line is written.
var output = []string{
	"fmt.*", "strconv.*", "encoding/json.*", "reflect.*", "os.(*File).Write", "internal/poll.*", "syscall.*",
	"log.(*Logger).output", "runtime.Callers", "log/slog.(*commonHandler).*", "log/slog.(*handleState).*", "log/slog.NewRecord", "time.Time.*", "bytes.(*Buffer).*",
}

// Rule is log-args-boxed.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "log-args-boxed",
		Kind:  rule.Alloc,
		Title: "Log arguments boxed for a level that is off",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The test of the level remains: 202 ns and 4 allocations became 40.5 ns and none
				// in the SignalFx post that the documentation below cites.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.85, High: 1},
				Specificity: 2,
			},
			Prepare: prepare,
		},
	}
}

const doc = `log.Debug("sent", "id", id) looks free when debug is off, but its arguments are
evaluated before the call: each number and string is converted to an interface,
which allocates, and all of them are put into a slice. Then the logger tests the
level and returns. A helper with parameters of type any does the same without a
slice.

Test the level first (if log.Enabled(…) { … }), use typed attributes that need
no interface (slog.LogAttrs, zap's fields), or remove the line.

It is fine while the level is on. The rule reports only calls with next to
nothing below them in the profile: the level was off during the recording. If
arguments have side effects, keep these.

Seen in the field: viamrobotics/rdk#6139, oxia-db/oxia#1186, osrg/gobgp#2774,
and SignalFx's post on a metric ingest (2016), where two such lines allocated 8
% of all objects.`

func prepare(ctx context.Context, p *rule.Pass) finder.Line {
	f := search{pass: p, levels: loglevel.New(p, loglevel.Any)}
	judge := func(c *finder.Case) bool { return f.guilty(ctx, c.Place, c.Match) }
	return finder.Line{Start: finder.Rows(finder.TakeOwn), Judge: judge}
}

// search is the state of one run of the rule.
type search struct {
	pass   *rule.Pass
	levels *loglevel.Search
}

func (f *search) guilty(ctx context.Context, p *gocode.Place, m *rule.Match) bool {
	for _, n := range p.Nodes {
		call, ok := n.(*ast.CallExpr)
		if !ok || !statement(p, call) {
			continue
		}
		boxed := passed(p, call)
		if len(boxed) == 0 || !f.levels.Tests(ctx, p, call) || f.works(p, call, m) {
			continue
		}
		if len(calls(p, call)) == 0 { // the test can guard the whole statement
			own := finder.Take(m.Site, func(r *site.Row) bool { return stacks.Steady(r) })
			m.CPU, m.Allocs, m.Live = own.CPU, own.Allocs, own.Live
		}
		m.Confidence = evidence.Weigh(f.pass, m.Site, true)
		m.Cause = fmt.Sprintf("%s is called with its level off: %s %s put into interfaces for each call before the level is tested, and discarded.",
			syntax.Text(call.Fun), funcname.List(boxed), are(boxed))
		m.Fix = "Test the level before the call, use typed attributes that need no interface, or remove the line."
		return true
	}
	return false
}

func are(words []string) string {
	if len(words) == 1 {
		return "is"
	}
	return "are"
}

// statement reports whether a call is a statement of its own.
func statement(p *gocode.Place, call *ast.CallExpr) bool {
	_, ok := syntax.Parent(p, call).(*ast.ExprStmt)
	return ok
}

// passed returns the arguments of a call that need memory to be passed as interfaces.
func passed(p *gocode.Place, call *ast.CallExpr) (texts []string) {
	for _, arg := range syntax.Boxed(p, call) {
		texts = append(texts, syntax.Text(arg))
	}
	return texts
}

// calls returns the calls in the arguments that may have side effects or a cost of their own.
func calls(p *gocode.Place, call *ast.CallExpr) (found []*ast.CallExpr) {
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if _, conversion := p.Conversion(c); !conversion && p.CalleeName(c) != "len" {
					found = append(found, c)
				}
			}
			return true
		})
	}
	return found
}

// works reports whether the profile shows that the call uses its arguments, or has too few samples
// to know.
func (f *search) works(p *gocode.Place, call *ast.CallExpr, m *rule.Match) bool {
	name := p.CalleeName(call)
	into := func(r *site.Row) bool {
		callee := stacks.Callee(r)
		if name == "" { // of a function value, which is not known
			return callee != "" && !strings.HasPrefix(callee, "runtime.")
		}
		return funcname.Typed(callee) == name
	}
	cpu, allocs := stacks.Select(m.Site.CPU, into), stacks.Select(m.Site.Allocs, into)
	all := func(*site.Row) bool { return true }
	below, made := finder.Passing(f.pass, m.Site, all)
	arguments := calls(p, call)
	argument := func(r *site.Row) bool { // of an argument, not of the call itself
		for _, c := range arguments {
			if n := p.CalleeName(c); n != "" && under(r, m.Site, n) {
				return true
			}
		}
		return false
	}
	own, _ := stacks.Sum(m.Allocs)
	work := int64(0)
	for _, r := range append(allocs, made...) {
		if !argument(r) {
			work += r.Value
		}
	}
	if float64(work) > mostWork*float64(own) {
		return true
	}
	samples, busy := int64(0), int64(0)
	for _, r := range append(append(cpu, below...), m.CPU...) {
		if argument(r) {
			continue
		}
		samples += r.Count
		if writes(r) {
			busy += r.Count
		}
	}
	return samples < fewest || float64(busy) > mostWork*float64(samples)
}

// under reports whether a row passes from the site's line directly into a function, given by the
// type checker's name.
func under(r *site.Row, s *site.Site, name string) bool {
	for i := 1; i < len(r.Stack); i++ {
		if f := r.Stack[i]; f.Line == s.Line && f.Function == s.Function && f.File == s.File {
			return funcname.Typed(r.Stack[i-1].Function) == name
		}
	}
	return false
}

// writes reports whether a row is in writing a log line.
func writes(r *site.Row) bool {
	for _, f := range r.Stack {
		if funcname.Match(f.Function, output...) {
			return true
		}
		if f.Owner.Kind == gocode.Main {
			return false
		}
	}
	return false
}
