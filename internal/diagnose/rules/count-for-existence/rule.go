// Package countforexistence finds lists and counts that are computed as a whole only to learn
// whether there is an element.
package countforexistence

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// leastElements is the minimum mean number of elements that must be collected or counted: stopping
// at the first of fewer saves little.
const leastElements = 4

// Rule is count-for-existence.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "count-for-existence",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole list or count computed to learn whether there is an element",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// A search that stops finds the first of k elements after a part of 1/k of the
				// whole, if they are evenly spread. Where they come late it saves only the memory.
				Fraction: rule.Fraction{Expect: 0.75, Low: 0.15, High: 1},
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function collects all elements of a kind, or counts them, and its caller only
asks whether the list is empty or the number is zero. SELECT COUNT(*) makes a
database go through all rows that match, where EXISTS or LIMIT 1 stops at the
first. The same holds for a loop over a list, and for FindAll of a pattern.

Ask for existence: SELECT EXISTS(…), slices.ContainsFunc, MatchString, or a
method that returns a bool at the first element. If the first element is needed
as well, ask for one (LIMIT 1).

It is fine where there is mostly no element, because then all have to be looked
at, or where lists are short. The rule reports functions of the package that
found at least four elements in each call, as counted, and constant queries with
COUNT, also in functions that return the number.

Seen in the field: sourcegraph/sourcegraph-public-snapshot#64297 (COUNT on a
table of jobs, for each executor), upper/db#661 (an Exists that counted),
open-telemetry/opentelemetry-operator#3629 (a list of which only the first
element is read).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	sql := sqltext.Of(p)
	lines := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *whole { return look(p, sql, place.Outer()) })
	// A query and the call that reads its result are often on one line.
	is := func(w *whole, function string) bool {
		return called(w.callee, function) || w.query && funcname.Match(function, "database/sql.*")
	}
	start := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			f := r.Stack[i]
			if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
				continue
			}

			if w := lines.At(f); w != nil && is(w, r.Stack[i-1].Function) {
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		w := lines.At(&c.Site.Frame)
		if w == nil {
			return false
		}
		w.describe(c)
		return true
	}
	return finder.Line{Start: finder.Frames(start), Judge: judge}
}

// whole is a call that computes a list or a number of which only the existence matters.
type whole struct {
	callee   string  // as the type checker names it
	elements float64 // each time; 0 if unknown
	query    bool    // SELECT COUNT
	first    bool    // the first element is read as well
	test     int     // line of a test
}

// called reports whether a function of a profile is the one that the type checker names, by the
// last part of the name where the package is main.
func called(typed, profile string) bool {
	name := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	other := funcname.Typed(profile)
	return other == typed || strings.HasPrefix(strings.TrimLeft(other, "(*"), "main.") && name(other) == name(typed)
}

// look returns such a call of a line; nil for none.
func look(p *rule.Pass, sql sqltext.Program, place *gocode.Place) *whole {
	if place.Decl == nil {
		return nil
	}
	for _, call := range syntax.Calls(place) {
		fn := place.Callee(call)
		if fn == nil {
			continue
		}
		if scan := scanOf(place, call); scan != nil {
			if v := filled(place, scan); v != nil {
				if t := tests(place, syntax.Reads(place, v), scan); t.ok && !t.first {
					return &whole{callee: gocode.FullName(fn), query: true, test: t.line}
				}
			}
			continue
		}
		if countsRows(p.Syntax, fn) || integer(fn) && countsText(sent(sql, place, call)) {
			if t := result(place, call); t.ok && !t.first {
				return &whole{callee: gocode.FullName(fn), query: true, test: t.line}
			}
			continue
		}
		if n := collected(p, place, fn); n >= leastElements {
			if t := result(place, call); t.ok {
				return &whole{callee: gocode.FullName(fn), elements: n, first: t.first, test: t.line}
			}
		}
	}
	return nil
}

// countsRows reports whether a function of the program returns the result of a query that counts
// rows.
func countsRows(s *gocode.Syntax, fn *types.Func) (found bool) {
	if !integer(fn) || fn.Pkg() == nil || symbol.Standard(fn.Pkg().Path()) {
		return false
	}
	in, ok := s.Declared(fn)
	if !ok {
		return false
	}
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || in.Callee(call) == nil {
			return !found
		}
		if scan := scanOf(in, call); scan != nil {
			v := filled(in, scan)
			found = v != nil && returned(in, v)
		}
		return !found
	})
	return found
}

// integer reports whether the first result of a function is a whole number.
func integer(fn *types.Func) bool {
	if fn.Signature().Results().Len() == 0 {
		return false
	}
	t, ok := fn.Signature().Results().At(0).Type().Underlying().(*types.Basic)
	return ok && t.Info()&types.IsInteger != 0
}

// sent returns the text of the statement that a call sends; "" for none.
func sent(sql sqltext.Program, p *gocode.Place, call *ast.CallExpr) string {
	if s := sql.Sent(p, call); s != nil {
		return s.Text
	}
	return ""
}

// scanOf returns the call that reads the result of a query that counts rows, if a call is that
// query or reads it; nil for others.
func scanOf(p *gocode.Place, call *ast.CallExpr) *ast.CallExpr {
	if p.Callee(call).Name() == "Scan" {
		to := syntax.Receiver(call)
		if to == nil {
			return nil
		}
		if query, ok := syntax.Origin(p, to).(*ast.CallExpr); ok && counts(p, query) {
			return call
		}
		return nil
	}
	if p.CalleeName(call) == "(*gorm.io/gorm.DB).Count" {
		return call
	}
	if !counts(p, call) {
		return nil
	}
	if filled(p, call) != nil { // Get(&n, query) of sqlx
		return call
	}
	rows := []ast.Expr{call}
	if v := syntax.Result(p, call); v != nil {
		rows = nil
		for _, id := range syntax.Reads(p, v) {
			rows = append(rows, id)
		}
	}
	for _, row := range rows {
		sel, ok := syntax.Parent(p, row).(*ast.SelectorExpr)
		if !ok {
			continue
		}
		if scan, ok := syntax.Parent(p, sel).(*ast.CallExpr); ok && sel.Sel.Name == "Scan" {
			return scan
		}
	}
	return nil
}

// filled returns the local variable of a number whose address is the only such argument of a call;
// nil for none.
func filled(p *gocode.Place, call *ast.CallExpr) (v *types.Var) {
	for _, arg := range call.Args {
		to, ok := ast.Unparen(arg).(*ast.UnaryExpr)
		if !ok || to.Op != token.AND {
			continue
		}
		if v != nil {
			return nil
		}
		v = syntax.LocalVar(p, to.X)
	}
	return v
}

// counts reports whether a call has a constant query that counts rows.
func counts(p *gocode.Place, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if t := p.TypeOf(arg); t == nil || !types.Identical(t.Underlying(), types.Typ[types.String]) {
			continue
		}
		if text, ok := syntax.ConstString(p, syntax.Origin(p, arg)); ok && countsText(text) {
			return true
		}
	}
	return false
}

// countsText reports whether a text is a query that counts rows.
func countsText(text string) bool {
	for strings.HasPrefix(text, "--") { // the name that sqlc writes
		_, text, _ = strings.Cut(text, "\n")
	}
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	text, counting := strings.CutPrefix(text, "selectcount(")
	column, from, _ := strings.Cut(text, ")")
	return counting && !strings.Contains(text, "groupby") && !strings.HasPrefix(column, "distinct") &&
		(strings.HasPrefix(from, "from") || strings.HasPrefix(from, "as"))
}

// collected returns how many elements a function of the package appends to its result, or counts
// in it, in each call; 0 if that is unknown.
func collected(p *rule.Pass, place *gocode.Place, fn *types.Func) (each float64) {
	decl := place.Declaration(fn)
	if decl == nil || decl.Body == nil || len(decl.Body.List) == 0 || fn.Signature().Results().Len() == 0 {
		return 0
	}
	in := place.Entry(decl)
	calls, ok := evidence.ExecutionsAt(p, in, decl.Body.List[0].Pos())
	if !ok || calls.Calls <= 0 {
		return 0
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if l, ok := n.(ast.Stmt); ok && grows(in, l) {
			if e, ok := evidence.ExecutionsAt(p, in, n.Pos()); ok {
				each = max(each, e.PerUnit/calls.Calls)
			}
		}
		return true
	})
	return each
}

// grows reports whether a statement in a loop appends one element to what the function returns, or
// adds one to a number that it returns.
func grows(p *gocode.Place, s ast.Stmt) bool {
	var to ast.Expr
	switch s := s.(type) {
	case *ast.IncDecStmt:
		if s.Tok == token.DEC {
			return false
		}
		to = s.X
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
			return false
		}
		call, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr)
		if !ok || p.CalleeName(call) != "append" || call.Ellipsis.IsValid() {
			return false
		}
		to = s.Lhs[0]
	default:
		return false
	}
	v := syntax.LocalVar(p, to)
	return v != nil && returned(p, v) && !shrinks(p, v)
}

// shrinks reports whether a function takes something away from a variable, as from the number of
// open brackets: whether any is left is only known at the end.
func shrinks(p *gocode.Place, v *types.Var) (found bool) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			found = found || n.Tok == token.DEC && syntax.LocalVar(p, n.X) == v
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if n.Tok == token.DEFINE || syntax.LocalVar(p, lhs) != v {
					continue
				}
				call, ok := ast.Unparen(n.Rhs[min(i, len(n.Rhs)-1)]).(*ast.CallExpr)
				found = found || n.Tok != token.ADD_ASSIGN && !(ok && p.CalleeName(call) == "append")
			}
		}
		return !found
	})
	return found
}

// returned reports whether a variable is the first result of the function around a place.
func returned(p *gocode.Place, v *types.Var) (found bool) {
	if results := syntax.SignatureOf(p).Results(); results.Len() > 0 && results.At(0) == v {
		return true
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 && syntax.LocalVar(p, r.Results[0]) == v {
			found = true
		}
		return !found
	})
	return found
}

func (w *whole) describe(c *finder.Case) {
	name := symbol.Short(w.callee)
	c.Confidence = rule.Likely // where the first element is found is not known
	if w.query {
		c.Cause = fmt.Sprintf("The query counts all rows that match, and line %d only asks whether there are any.", w.test)
		c.Fix = "Ask for existence: SELECT EXISTS(SELECT 1 FROM … WHERE …), or SELECT 1 … LIMIT 1, which stop at the first row."
		return
	}
	what := "only asks whether there are any"
	if w.first {
		what = "needs the first of them"
	}
	c.Cause = fmt.Sprintf("%s goes through everything and finds %s elements each time, and line %d %s.", name, units.Number(w.elements), w.test, what)
	c.Fix = fmt.Sprintf("Stop at the first element: let %s, or a function beside it, return at once when it finds one.", name)
	saved := 1 - 1/w.elements
	c.Fraction = &rule.Fraction{Expect: 0.85 * saved, Low: 0.15 * saved, High: min(0.99, 1.1*saved)}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s finds %s elements in each call", name, units.Number(w.elements))})
}
