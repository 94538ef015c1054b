package ratelimitwait

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// pause is what requests wait for after one of them has set it for all.
type pause struct {
	until string // "p.until", "p.failures"
	set   string // "call (waits.go:230)"
	grows bool   // it is a counter or a length, not a time
	by    string // the parameter that names what is asked, and by which the function looks it up; ""
}

// sharedPause returns the time that requests at a place wait for, or the counter or length that
// their pause is computed from, if it is a field or a variable of the package that another function
// sets; nil for others. What belongs to an element of a map is that of a key.
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
	if stop == nil || perKey(p, place, nil, mostUp) {
		return nil
	}
	if found := pauseOf(place, stop.Length, stop.Node.Pos()); found != nil {
		found.by = lookedUp(place)
		return found
	}
	call, ok := ast.Unparen(syntax.Origin(place, stop.Length)).(*ast.CallExpr)
	if !ok {
		return nil
	}
	decl := place.Declaration(place.Callee(call))
	if decl == nil || decl.Body == nil || perKey(p, place, syntax.Receiver(call), 0) {
		return nil
	}
	in := place.Entry(decl)
	var found *pause
	ast.Inspect(decl.Body, func(n ast.Node) bool { // func (p *partner) pause() time.Duration
		if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) > 0 && found == nil {
			found = pauseOf(in, ret.Results[0], decl.End())
		}
		_, literal := n.(*ast.FuncLit)
		return !literal
	})
	if found != nil {
		found.by = lookedUp(place)
	}
	return found
}

// pauseOf returns the shared time or counter that the length of a pause is computed from; nil for
// none. A function that sets it before a position reserves a time for itself.
func pauseOf(p *gocode.Place, length ast.Expr, before token.Pos) *pause {
	if until := endOf(p, length); until != nil {
		if v := shared(p, until); v != nil {
			if where := setter(p, v, before, later); where != "" {
				return &pause{until: syntax.Text(until), set: where}
			}
		}
		return nil
	}
	var found *pause
	ast.Inspect(syntax.Origin(p, length), func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || found != nil {
			return found == nil
		}
		t := p.TypeOf(e)
		if v := shared(p, e); v != nil && t != nil && number(t) {
			if where := setter(p, v, before, func(p *gocode.Place, e ast.Expr) bool { return syntax.Mentions(p, e, v) }); where != "" {
				found = &pause{until: syntax.Text(e), set: where, grows: true}
			}
			return false
		}
		return true
	})
	return found
}

func number(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// shared returns the field of the receiver, or the variable of the package, that an expression is;
// nil for others, and for elements of maps and lists.
func shared(p *gocode.Place, e ast.Expr) *types.Var {
	v := syntax.Named(p, e)
	if v == nil || !v.IsField() && v.Parent() != v.Pkg().Scope() {
		return nil
	}
	if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
		if root, _ := syntax.Var(p, sel.X); root == nil || root.Kind() != types.RecvVar && root.Parent() != root.Pkg().Scope() || syntax.HasIndex(sel.X) {
			return nil
		}
	}
	return v
}

// mostUp is how many callers of the function that pauses are asked whose receiver it has.
const mostUp = 3

// perKey reports whether a receiver is one of many: an element of a map or list, what a call
// returns for an argument, or what the function itself creates. Without one, it is the receiver of
// the calls of the function around a place.
func perKey(p *rule.Pass, place *gocode.Place, of ast.Expr, up int) bool {
	if of != nil {
		from := syntax.Origin(place, of)
		call, ok := from.(*ast.CallExpr)
		if ok && len(call.Args) > 0 || syntax.HasIndex(from) || element(place, from) {
			return true
		}
		root, _ := syntax.Var(place, from)
		if v := syntax.LocalVar(place, of); v != nil && v.Kind() == types.LocalVar && syntax.Inside(place.Func, v.Pos()) {
			return true // of this request
		}
		if root == nil || root.Kind() != types.RecvVar {
			return false
		}
	}
	if up == 0 || place.Decl == nil || place.Decl.Recv == nil {
		return false
	}
	above, call := flow.RunningCall(p, place.Outer())
	if call == nil {
		return false
	}
	to := syntax.Receiver(call)
	return to != nil && perKey(p, above, to, up-1)
}

// element reports whether an expression is the variable of a loop, or one of two results of a map.
func element(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	if v == nil {
		return false
	}
	if flow.Ranged(p, v) != nil {
		return true
	}
	for _, value := range append(syntax.Assigned(p, v), declared(p, v)) {
		if value != nil && syntax.HasIndex(value) {
			return true
		}
	}
	return false
}

func declared(p *gocode.Place, v *types.Var) ast.Expr {
	stmt, value := syntax.Declared(p, v)
	if a, ok := stmt.(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
		return a.Rhs[0]
	}
	return value
}

// lookedUp returns the parameter of the function around a place that it uses as the key of a map;
// "" for none.
func lookedUp(p *gocode.Place) (name string) {
	outer := p.Outer()
	ast.Inspect(outer.Decl, func(n ast.Node) bool {
		x, ok := n.(*ast.IndexExpr)
		if !ok || name != "" || !syntax.IsMap(outer.TypeOf(x.X)) {
			return name == ""
		}
		if v := syntax.LocalVar(outer, x.Index); v != nil && syntax.Param(outer, v) {
			name = v.Name()
		}
		return true
	})
	return name
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

// setter returns a function of the package that sets a field or a variable to a value that is
// wanted, with its line; "" for none, and if the function that pauses sets it before that: then
// each request reserves a time of its own.
func setter(p *gocode.Place, v *types.Var, before token.Pos, wanted func(*gocode.Place, ast.Expr) bool) (where string) {
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			in := p.Entry(decl)
			for _, at := range settings(in, decl, v, wanted) {
				if decl == p.Decl && at < before {
					return ""
				}
				where = fmt.Sprintf("%s (%s)", syntax.FuncName(in), syntax.Where(in, at))
			}
		}
	}
	return where
}

// settings returns where a function sets a variable to a value that is wanted. A counter that it
// raises is set to a value that mentions itself.
func settings(p *gocode.Place, decl *ast.FuncDecl, v *types.Var, wanted func(*gocode.Place, ast.Expr) bool) (all []token.Pos) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			if n.Tok == token.INC && syntax.Named(p, n.X) == v && wanted(p, n.X) {
				all = append(all, n.Pos())
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if len(n.Lhs) != len(n.Rhs) || syntax.Named(p, lhs) != v {
					continue
				}
				raises := (n.Tok == token.MUL_ASSIGN || n.Tok == token.ADD_ASSIGN || n.Tok == token.SHL_ASSIGN) && wanted(p, lhs)
				if raises || n.Tok == token.ASSIGN && wanted(p, syntax.Origin(p, n.Rhs[i])) {
					all = append(all, n.Pos())
				}
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
	key := "a time for each key for which the pause was asked (tenant, host, kind of request)"
	cause := fmt.Sprintf("Requests pause here until %s, a time that they all share: %s sets it, and then every request waits, whatever it asks for", o.until, o.set)
	refuse := fmt.Sprintf("instead of holding them until %s", o.until)
	if o.grows {
		key = "one for each key that may fail on its own (tenant, host, kind of request)"
		cause = fmt.Sprintf("Requests pause here for a time that depends on %s, which they all share: %s raises it, and then every request waits, whatever it asks for", o.until, o.set)
		refuse = "instead of holding them"
	}
	if o.by != "" {
		key = fmt.Sprintf("one for each %s", o.by)
		cause += fmt.Sprintf(": also those with another %s, which did not fail", o.by)
	}
	return rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // whether it has to hold for all is not known
		Saving:     t.Saving(),
		Cause:      fmt.Sprintf("%s, for %s of their time; on average %s wait at a time.", cause, t.Share(), t.Waiting()),
		Fix:        fmt.Sprintf("Keep %s, in a map, so that only those requests wait. Refuse requests that would have to wait long, %s.", key, refuse),
		Evidence:   t.Evidence(p, "the end of the pause", "mostly ended at"),
	}
}
