// Package historyreplayed finds states that are computed again from all kept events each time.
package historyreplayed

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// least iterations of the loop, each time that it is reached.
	least = 100
	// perChange is the minimum number of iterations for each element that was added.
	perChange = 32
)

// Rule is history-replayed.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "history-replayed",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "State computed again from all events each time",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The events since the last time remain.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 3, // how an event is applied does not matter where most are not
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A program keeps what happened: bookings of an account, changes of a document,
lines of a log. To answer, it makes an empty object and applies all events to it,
from the first one: an account with its balance, the current text. The events
stay, and each request applies them all again. A history of thousands of events
costs thousands of steps for one number, and grows.

Keep the state with the number of the last event that it has, and apply only the
events after that (a snapshot). Or apply each event to the kept state where it is
appended, and copy the state for readers.

It is fine for short histories, and for objects that are seldom asked for. The
rule counts executions: it reports loops over kept lists of at least a hundred
elements each time, at least 32 for each one that was added since, which give
each element to a method of an object that was made for it, of a type of the
program and with nothing in it that a parameter decides. Of a database it reports
queries for all rows of a key, in an order, of a table to which the program only
adds rows, if a loop applies each to such an object; not loops that only collect
the rows in a list or a map.

Seen in the field: hallgren/eventsourcing#12 (snapshots, so that an object is not
built from its first event each time).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, sql: sqltext.Of(p)}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.lines.Nearest), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	sql   sqltext.Program
	lines *finder.Lines[replay]
}

// replay is a loop that applies all elements of a kept list to a new object.
type replay struct {
	list     ast.Expr
	loop     ast.Node
	object   string // what the elements are applied to
	events   float64
	added    float64 // elements, for each time
	appended int     // the line that adds most; 0 for none
	rows     *rows   // of a database; nil for a list that the program keeps
}

// look returns the replay in a loop around a line; nil for none.
func (s *search) look(f *site.Frame, place *gocode.Place) *replay {
	if place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	p := place.Outer()
	if found := s.stored(f, place, p); found != nil {
		return found
	}
	r, ok := loops.At(place).(*ast.RangeStmt)
	if !ok || r.Value == nil {
		return nil
	}
	v := s.kept(p, r.X)
	l, counted := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, r.Pos()))
	if v == nil || !counted || l.Iterations < least || l.Entries <= 0 {
		return nil
	}
	object := s.applied(p, r)
	if object == "" {
		return nil
	}
	changed := kept.Elements{Pass: s.pass, Place: p, Var: v}
	changed.Count()
	found := &replay{list: r.X, loop: r, object: object, events: l.Iterations, added: changed.Changed / l.Entries, appended: changed.Line}
	if changed.Unclear > 0.01*l.Entries || l.Iterations < perChange*max(1, found.added) {
		return nil
	}
	return found
}

// kept returns the field or package variable that has a list, itself or as an element: also through
// a local variable.
func (s *search) kept(p *gocode.Place, e ast.Expr) *types.Var {
	if v := syntax.LocalVar(p, e); v != nil && !syntax.Param(p, v) {
		values := syntax.Assigned(p, v)
		if len(values) != 1 {
			return nil
		}
		e = values[0]
	}
	if syntax.Elem(p.TypeOf(e)) == nil {
		return nil
	}
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		e = x.X
	}
	v := syntax.Named(p, e)
	if v == nil || v.Pkg() != p.Pkg || !v.IsField() && v.Parent() != p.Pkg.Scope() {
		return nil
	}
	return v
}

// applied returns the object to which a loop does nothing but to apply each element; "" for other
// loops.
func (s *search) applied(p *gocode.Place, loop *ast.RangeStmt) string {
	if len(loop.Body.List) != 1 {
		return ""
	}
	var call *ast.CallExpr
	switch stmt := loop.Body.List[0].(type) {
	case *ast.ExprStmt:
		call, _ = ast.Unparen(stmt.X).(*ast.CallExpr)
	case *ast.IfStmt: // if err := apply(e); err != nil { return err }
		if a, ok := stmt.Init.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && leaves(stmt) {
			call, _ = ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		}
	}
	if call == nil || !slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return element(p, loop, arg) }) {
		return ""
	}
	if slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return !element(p, loop, arg) && given(p, arg, loop.X) }) {
		return "" // what the element does depends on the request
	}
	if v := syntax.LocalVar(p, call.Fun); v != nil && syntax.Param(p, v) {
		return s.passed(p, v, loop)
	}
	if to := syntax.Receiver(call); to != nil {
		return s.fresh(p, to, loop.X, loop.Pos())
	}
	return ""
}

func leaves(test *ast.IfStmt) bool {
	if test.Else != nil || len(test.Body.List) == 0 {
		return false
	}
	_, ok := test.Body.List[len(test.Body.List)-1].(*ast.ReturnStmt)
	return ok
}

// element reports whether an expression is the element of a loop, or its address.
func element(p *gocode.Place, loop *ast.RangeStmt, e ast.Expr) bool {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	if v := syntax.LocalVar(p, e); v != nil {
		return v == syntax.LocalVar(p, loop.Value)
	}
	return false
}

func (s *search) judge(c *finder.Case) bool {
	r := s.lines.At(&c.Site.Frame)
	if r == nil {
		return false
	}
	if r.rows != nil {
		r.describeRows(c)
		return true
	}
	name := syntax.Text(r.list)
	added := "none was added"
	if r.added >= 0.005 {
		added = units.Number(r.added) + " were added on average"
	}
	where := ""
	if r.appended > 0 {
		where = fmt.Sprintf(" (line %d)", r.appended)
	}
	c.Confidence = rule.Likely // the elements may be changed in a way that is not seen
	c.Cause = fmt.Sprintf("The loop on line %d applies all %s elements of %s to %s, a new object, each time that it is reached: %s since the last time.",
		syntax.Line(c.Place, r.loop.Pos()), units.Number(r.events), name, r.object, added)
	c.Fix = fmt.Sprintf("Keep the object with the number of the last element that was applied to it, and apply only those after that; or apply each one to the kept object where it is added%s.", where)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s elements each time, %s added", units.Number(r.events), units.Number(r.added))})
	return true
}
