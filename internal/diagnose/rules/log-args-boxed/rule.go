// Package logargsboxed finds log calls whose arguments are converted to interfaces for a level that
// is off.
package logargsboxed

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
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

func prepare(ctx context.Context, p *rule.Pass) (finder.Line, bool) {
	f := search{pass: p, loaded: map[string]*gocode.Syntax{}}
	judge := func(c *finder.Case) bool { return f.guilty(ctx, c.Place, c.Match) }
	return finder.Line{Start: finder.Rows(finder.TakeOwn), Judge: judge}, true
}

// search is the state of one run of the rule.
type search struct {
	pass   *rule.Pass
	loaded map[string]*gocode.Syntax // packages that were loaded for function bodies
}

func (f *search) guilty(ctx context.Context, p *gocode.Place, m *rule.Match) bool {
	for _, n := range p.Nodes {
		call, ok := n.(*ast.CallExpr)
		if !ok || !statement(p, call) {
			continue
		}
		boxed := passed(p, call)
		if len(boxed) == 0 || !f.level(ctx, p, call, 0) || f.works(p, call, m) {
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
	into := func(r *site.Row) bool { return funcname.Typed(stacks.Callee(r)) == name || name == "" }
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

// level reports whether a call is of a logger that tests a level before anything else: by its body,
// or by its name when the body is not available.
func (f *search) level(ctx context.Context, p *gocode.Place, call *ast.CallExpr, depth int) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil || depth > 3 {
		return false
	}
	if depth == 0 && !logs(fn) {
		return false
	}
	if fn.Pkg().Path() == "log/slog" {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return levelName(fn.Name())
	}
	body := f.body(ctx, p, fn)
	if body == nil {
		return depth == 0 && levelName(fn.Name())
	}
	return f.tests(ctx, body, depth)
}

// logs reports whether a function is about logging, by the words in its name, receiver or package.
func logs(fn *types.Func) bool {
	name := strings.ToLower(fn.FullName())
	for _, word := range []string{"log", "debug", "trace", "verbose"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// levelName reports whether a method's name is that of a level: "Debugf", "TraceContext".
func levelName(name string) bool {
	name = strings.ToLower(name)
	for _, level := range []string{"debug", "trace", "verbose", "info", "warn"} {
		if strings.HasPrefix(name, level) {
			return true
		}
	}
	return false
}

// body returns the place of a function's declaration. It loads the package if necessary.
func (f *search) body(ctx context.Context, p *gocode.Place, fn *types.Func) *gocode.Place {
	at := p.Fset.Position(fn.Pos())
	if !at.IsValid() {
		return nil
	}
	place, ok := f.pass.Syntax.At(at.Filename, at.Line)
	if !ok && f.pass.Code != nil {
		path := fn.Pkg().Path()
		syntax, tried := f.loaded[path]
		if !tried {
			syntax, _ = f.pass.Code.Syntax(ctx, []string{path}) // without it the name decides
			f.loaded[path] = syntax
		}
		if syntax != nil {
			place, ok = syntax.At(at.Filename, at.Line)
		}
	}
	if !ok || place.Decl == nil || place.Decl.Body == nil || place.Decl.Name.Name != fn.Name() {
		return nil
	}
	return place
}

// tests reports whether a function starts with a test that skips all use of its interface
// parameters, or only calls such a function.
func (f *search) tests(ctx context.Context, p *gocode.Place, depth int) bool {
	params := parameters(p)
	list := p.Decl.Body.List
	for i, s := range list {
		switch s := s.(type) {
		case *ast.IfStmt:
			if mentions(p, s.Cond, params) {
				return false
			}
			rest := &ast.BlockStmt{List: list[i+1:]}
			return returns(s.Body) && !mentions(p, s.Body, params) || s.Else == nil && !mentionsAny(p, rest.List, params)
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok {
				return false
			}
			if passes(p, call, params) {
				return i == len(list)-1 && f.level(ctx, p, call, depth+1)
			}
			if mentions(p, call, params) {
				return false
			}
		case *ast.AssignStmt, *ast.DeclStmt:
			if mentions(p, s, params) {
				return false
			}
		case *ast.ReturnStmt:
			call, ok := single(s)
			return ok && passes(p, call, params) && f.level(ctx, p, call, depth+1)
		default:
			return false
		}
	}
	return false
}

func single(s *ast.ReturnStmt) (*ast.CallExpr, bool) {
	if len(s.Results) != 1 {
		return nil, false
	}
	call, ok := ast.Unparen(s.Results[0]).(*ast.CallExpr)
	return call, ok
}

// parameters returns a function's parameters of interface types, and of slices of interfaces.
func parameters(p *gocode.Place) map[types.Object]bool {
	params := map[types.Object]bool{}
	for _, field := range p.Decl.Type.Params.List {
		for _, name := range field.Names {
			v := p.Object(name)
			if v == nil {
				continue
			}
			t := v.Type()
			if s, ok := t.(*types.Slice); ok {
				t = s.Elem()
			}
			if i, ok := t.Underlying().(*types.Interface); ok && i.NumMethods() == 0 {
				params[v] = true
			}
		}
	}
	return params
}

func mentions(p *gocode.Place, n ast.Node, params map[types.Object]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && params[p.Object(id)] {
			found = true
		}
		return !found
	})
	return found
}

func mentionsAny(p *gocode.Place, list []ast.Stmt, params map[types.Object]bool) bool {
	for _, s := range list {
		if mentions(p, s, params) {
			return true
		}
	}
	return false
}

// passes reports whether a call passes the parameters on unchanged.
func passes(p *gocode.Place, call *ast.CallExpr, params map[types.Object]bool) bool {
	for _, arg := range call.Args {
		if id, ok := ast.Unparen(arg).(*ast.Ident); ok && params[p.Object(id)] {
			return true
		}
	}
	return false
}

// returns reports whether a block ends the function.
func returns(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}
