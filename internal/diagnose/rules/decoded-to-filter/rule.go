// Package decodedtofilter finds long lists that are decoded only to use a few of their elements.
package decodedtofilter

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	leastElements = 20   // of a list, in the mean
	mostUsed      = 0.15 // share of the elements
	leastRuns     = 100  // of the line in each run of a program that exits
	// levels is how many functions away from that of the loop the list may be decoded.
	levels = 3
)

// Rule is decoded-to-filter.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "decoded-to-filter",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole list decoded to use a few of its elements",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// A list that is kept costs a lookup. The low end is for a filter in the request,
				// whose answer is decoded as well, and for a list that changes often.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.3, High: 1},
				Removes:  true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function gets a long list from another service or a file, decodes all of it,
and walks it to keep the few elements that it needs; the next call does the same
again. Decoding costs far more than the walk, and the other side pays for encoding
what nobody uses.

Ask only for what is needed: a filter, a page or a single element in the request.
Or keep the decoded list, by its key, and bring it up to date by what changes (a
watch, a version, an ETag or the modification time of the file).

The same goes for the rows of a query that a loop reads and mostly drops: a
condition in WHERE, an ORDER BY and a LIMIT cost the database less than sending
the rows.

It is fine where the list differs each time, or is needed once. The rule compares
how often the loop over the list runs, as counted in the recording, with how
often it uses an element: it reports lists of at least twenty elements of which
fewer than one in seven is used.

Seen in the field: kubernetes/kubernetes#6564 (all objects listed for each
reconciliation), apigee/registry#504 (rows filtered by the program).`

// decoders are functions that decode a text, and those that read the rows of a query, as profiles
// name them.
func decoders() []string {
	return append(codecs.Decoders(),
		"database/sql.(*Rows).Next", "database/sql.(*Rows).Scan", "github.com/jmoiron/sqlx.(*DB).Select*", "github.com/jmoiron/sqlx.(*Rows).StructScan",
		"github.com/jackc/pgx*.(*baseRows).Next", "github.com/jackc/pgx*.(*baseRows).Scan", "gorm.io/gorm.(*DB).Find", "gorm.io/gorm.(*DB).Scan")
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	lists := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *list { return listAt(p, f, place) })
	at := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			if !funcname.Match(r.Stack[i-1].Function, decoders()...) {
				continue
			}
			for j := i; j < min(len(r.Stack), i+levels); j++ {
				if k := r.Stack[j].Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && lists.At(r.Stack[j]) != nil {
					return j
				}
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		l := lists.At(&c.Site.Frame)
		if l == nil {
			return false
		}
		l.describe(c)
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// list is a list that a line gets or decodes.
type list struct {
	name           string
	line           int     // of the loop
	in             string  // the function of the loop; "" for that of the line
	elements, used float64 // each time
	rows           bool    // of a query, which the loop reads
}

// listAt returns the list that a line gets or decodes, if a loop after it uses few of its elements,
// or the rows of a query, if the loop around the line keeps few of them.
func listAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *list {
	runs, ok := evidence.Executions(p, *f)
	if !ok || runs.PerUnit <= 0 || p.Manifest.Unit() == "run" && runs.PerUnit < leastRuns {
		return nil
	}
	body := syntax.Body(place)
	if body == nil {
		return nil
	}
	if found := rowsAt(p, f, place); found != nil {
		return found
	}
	var found *list
	for _, v := range gets(place) {
		ast.Inspect(body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && found == nil && syntax.Line(place, call.Pos()) > place.Line {
				found = searched(p, place, call, v, runs.PerUnit)
				return found == nil
			}
			r, ok := n.(*ast.RangeStmt)
			if !ok || found != nil || syntax.Line(place, r.Pos()) <= place.Line {
				return found == nil
			}
			if root, _ := syntax.Var(place, r.X); root != v {
				return true
			}
			line := syntax.Line(place, r.Pos())
			l, ok := p.Counts.Loop(f.Owner.Package, f.File, line)
			if !ok || l.Iterations < leastElements {
				return true
			}
			used, ok := uses(p, place, r)
			if ok && used/runs.PerUnit <= mostUsed*l.Iterations {
				found = &list{name: syntax.Text(r.X), line: line, elements: l.Iterations, used: used / runs.PerUnit}
			}
			return true
		})
	}
	return found
}

// searched returns the list that a call passes to a function of the program whose loop uses few of
// its elements.
func searched(p *rule.Pass, place *gocode.Place, call *ast.CallExpr, v *types.Var, runs float64) (found *list) {
	i := slices.IndexFunc(call.Args, func(e ast.Expr) bool {
		root, _ := syntax.Var(place, e)
		return root == v
	})
	if i < 0 {
		return nil
	}
	in, ok := p.Syntax.Declared(place.Callee(call))
	if !ok || syntax.SignatureOf(in).Variadic() || i >= syntax.SignatureOf(in).Params().Len() {
		return nil
	}
	param := syntax.SignatureOf(in).Params().At(i)
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		if !ok || found != nil {
			return found == nil
		}
		if root, _ := syntax.Var(in, r.X); root != param {
			return true
		}
		at := in.Fset.Position(r.Pos())
		l, ok := p.Counts.Loop(in.Pkg.Path(), at.Filename, at.Line)
		if !ok || l.Iterations < leastElements {
			return true
		}
		if used, ok := uses(p, in, r); ok && used/runs <= mostUsed*l.Iterations {
			found = &list{name: syntax.Text(call.Args[i]), line: at.Line, in: syntax.FuncName(in), elements: l.Iterations, used: used / runs}
		}
		return true
	})
	return found
}

// gets returns the variables that the calls on a line fill: results, and what they get the address
// of.
func gets(p *gocode.Place) (vars []*types.Var) {
	add := func(e ast.Expr) {
		if v, _ := syntax.Var(p, e); v != nil && !v.IsField() && v.Parent() != p.Pkg.Scope() {
			vars = append(vars, v)
		}
	}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if n == nil || syntax.Line(p, n.Pos()) > p.Line || syntax.Line(p, n.End()) < p.Line {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			if _, call := ast.Unparen(n.Rhs[0]).(*ast.CallExpr); call && syntax.Line(p, n.Pos()) == p.Line {
				add(n.Lhs[0])
			}
		case *ast.UnaryExpr:
			if syntax.Line(p, n.Pos()) == p.Line {
				add(n.X)
			}
		}
		return true
	})
	return vars
}

// uses is [keeps] for a loop over a list; false if nothing in the loop depends on a condition.
func uses(p *rule.Pass, place *gocode.Place, loop *ast.RangeStmt) (n float64, ok bool) {
	conditional := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.IfStmt, *ast.SwitchStmt:
			conditional = true
		}
		return !conditional
	})
	n, ok = keeps(p, place, loop, loop.Body)
	return n, ok && conditional
}

func (l *list) describe(c *finder.Case) {
	loop := fmt.Sprintf("the loop on line %d", l.line)
	if l.in != "" {
		loop += " of " + l.in
	}
	c.Cause = fmt.Sprintf("The whole list %s is fetched or decoded here, %s elements each time, and %s uses %s of them; the next call does the same again.",
		l.name, units.Number(l.elements), loop, units.Number(l.used))
	c.Fix = "Ask only for the elements that are needed (a filter or a page in the request), or keep the list, by its key, and bring it up to date by what changes (a watch, a version, an ETag)."
	if l.rows {
		c.Cause = fmt.Sprintf("The loop on line %d reads %s rows of the query each time, and keeps %s of them.", l.line, units.Number(l.elements), units.Number(l.used))
		c.Fix = "Put the condition into the query (WHERE, with an index, or ORDER BY and LIMIT), so that the database returns only the rows that are needed."
	}
	c.Confidence = rule.Likely // whether the list changes is not known
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations of the loop each time, of which %s use the element", units.Number(l.elements), units.Number(l.used)),
	})
}
