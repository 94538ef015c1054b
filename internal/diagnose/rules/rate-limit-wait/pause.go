package ratelimitwait

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// pause is a time until which requests wait, that one of them sets for all.
type pause struct {
	until string // "p.until"
	set   string // "call (waits.go:230)"
}

// sharedPause returns the time that requests at a place wait for, if it is a field or a variable of
// the package that another function sets; nil for others. A time in an element of a map is that of
// a key.
func sharedPause(p *rule.Pass, at *requests.PlaceTime) *pause {
	switch at.Part {
	case requests.WaitSleep, requests.WaitChanReceive, requests.WaitSelect:
	default:
		return nil
	}
	place := placeAt(p, at.Waiter)
	if place == nil || place.Decl == nil {
		return nil
	}
	stop := awaited.PauseOn(place)
	if stop == nil {
		return nil
	}
	until := endOf(place, stop.Length)
	if until == nil {
		return nil
	}
	v := syntax.Named(place, until)
	if v == nil || !v.IsField() && v.Parent() != v.Pkg().Scope() {
		return nil
	}
	if sel, ok := ast.Unparen(until).(*ast.SelectorExpr); ok {
		if root, _ := syntax.Var(place, sel.X); root == nil || root.Kind() != types.RecvVar && root.Parent() != root.Pkg().Scope() || syntax.HasIndex(sel.X) {
			return nil
		}
	}
	where := setter(place, v, stop.Node)
	if where == "" {
		return nil
	}
	return &pause{syntax.Text(until), where}
}

// endOf returns the time at which a pause of a length ends: t of time.Until(t) and
// t.Sub(time.Now()); nil for others.
func endOf(p *gocode.Place, length ast.Expr) ast.Expr {
	call, ok := ast.Unparen(syntax.Origin(p, length)).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	var until ast.Expr
	switch p.CalleeName(call) {
	case "time.Until":
		until = call.Args[0]
	case "(time.Time).Sub":
		until = syntax.Receiver(call)
	default:
		return nil
	}
	return syntax.Origin(p, until)
}

// setter returns a function of the package that sets a field or a variable to a time in the
// future, with its line; "" for none, and if the function that pauses sets it before that: then
// each request reserves a time of its own.
func setter(p *gocode.Place, v *types.Var, pause ast.Node) (where string) {
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			in := p.Entry(decl)
			for _, a := range settings(in, decl, v) {
				if decl == p.Decl && a.Pos() < pause.Pos() {
					return ""
				}
				where = fmt.Sprintf("%s (%s)", syntax.FuncName(in), syntax.Where(in, a.Pos()))
			}
		}
	}
	return where
}

// settings returns the assignments in a function that set a variable to a time in the future.
func settings(p *gocode.Place, decl *ast.FuncDecl, v *types.Var) (all []*ast.AssignStmt) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, lhs := range a.Lhs {
			if syntax.Named(p, lhs) == v && later(p, a.Rhs[i]) {
				all = append(all, a)
			}
		}
		return true
	})
	return all
}

// later reports whether an expression adds something to a time.
func later(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(syntax.Origin(p, e)).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "(time.Time).Add"
}

// match returns the finding for such a pause.
func (o *pause) match(p *rule.Pass, t *traced.Queue) rule.Match {
	return rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // whether it has to hold for all is not known
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("Requests pause here until %s, a time that they all share: %s sets it, and then every request waits, whatever it asks for, for %s of their time; on average %s wait at a time.",
			o.until, o.set, t.Share(), t.Waiting()),
		Fix:      fmt.Sprintf("Keep a time for each key for which the pause was asked (tenant, host, kind of request), in a map, so that only those requests wait. Refuse requests that would have to wait long, instead of holding them until %s.", o.until),
		Evidence: t.Evidence(p, "the end of the pause", "mostly ended at"),
	}
}
