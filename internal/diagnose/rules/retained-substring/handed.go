package retainedsubstring

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// handed judges lines that put new functions or structs into a queue, of any module, whose array
// still refers to them after they were handed out. As in [popped], that the queue is empty now and
// then shows that they do not wait in it.
func handed(c *finder.Case) bool {
	live, objects := stacks.Sum(c.Live)
	if c.Pass.Counts == nil || c.Place.Decl == nil || objects < max(many, inUse(c.Pass)) || live == 0 {
		return false
	}
	for _, call := range c.Place.Calls() {
		fn := c.Place.Callee(call)
		i := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return element(c.Place, e) })
		if fn == nil || fn.Pkg() == nil || i < 0 {
			continue
		}
		packages := module(c.Pass, fn.Pkg())
		for _, s := range behind(fn, slotsIn(packages)) {
			times, ok := evidence.ExecutionsAt(c.Pass, s.at, s.elem.Pos())
			if !ok || times.PerUnit <= 0 {
				continue
			}
			empty := s.emptied(c.Pass, packages)
			if empty <= 0 || float64(objects) < busyPeriods*times.PerUnit/empty {
				continue
			}
			rows := append(slices.Clip(c.Live), captured(c, call.Args[i])...)
			if all, _ := stacks.Sum(rows); float64(all) >= leastShare*float64(c.Pass.Table.Totals.LiveBytes) {
				s.describe(c, rows, objects, times.PerUnit/empty)
				return true
			}
		}
	}
	return false
}

// element reports whether an argument is a new element that only a queue can keep: a function
// literal, or a struct of a type for which the package has no other place.
func element(p *gocode.Place, arg ast.Expr) bool {
	switch arg := ast.Unparen(arg).(type) {
	case *ast.FuncLit:
		return true
	case *ast.UnaryExpr:
		lit, ok := ast.Unparen(arg.X).(*ast.CompositeLit)
		if !ok {
			return false
		}
		t := structOf(p.TypeOf(lit))
		return t != nil && t.Obj().Pkg() == p.Pkg && !elsewhere(p, t, &pop{})
	}
	return false
}

// module returns the loaded packages in the module of a package.
func module(pass *rule.Pass, pkg *types.Package) (found []*gocode.Place) {
	have, _ := pass.Syntax.Packages()
	for _, name := range have {
		in, ok := pass.Syntax.Package(name)
		if !ok {
			continue
		}
		path := pass.Code.Owner(syntax.ProfileName(in), in.Fset.Position(in.Decl.Pos()).Filename).Module
		if name == pkg.Path() || path != "" && (pkg.Path() == path || strings.HasPrefix(pkg.Path(), path+"/")) {
			found = append(found, in)
		}
	}
	return found
}

// behind returns the slots that a call of a method may fill: those of its type, if there are any,
// else those of all types, to which the method may pass the element on.
func behind(fn *types.Func, all []*slot) []*slot {
	of := func(fn *types.Func) string {
		if recv := fn.Signature().Recv(); recv != nil {
			if n := structOf(recv.Type()); n != nil {
				return n.Obj().Pkg().Path() + "." + n.Obj().Name()
			}
		}
		return ""
	}
	name := of(fn)
	var own []*slot
	for _, s := range all {
		if to, ok := s.at.Object(s.at.Decl.Name).(*types.Func); ok && name != "" && of(to) == name {
			own = append(own, s)
		}
	}
	if len(own) > 0 {
		return own
	}
	return all
}

func slotsIn(packages []*gocode.Place) (found []*slot) {
	for _, in := range packages {
		found = append(found, slots(in)...)
	}
	return found
}

// captured returns the live rows of what the function around the line assigns to the variables that
// an element refers to.
func captured(c *finder.Case, element ast.Expr) (rows []*site.Row) {
	p := c.Place.Outer()
	uses := map[types.Object]bool{}
	ast.Inspect(element, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.Object(id) != nil {
			uses[p.Object(id)] = true
		}
		return true
	})
	lines := map[int]bool{}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool {
			id, ok := e.(*ast.Ident)
			return ok && uses[p.Object(id)]
		}) {
			for l := syntax.Line(p, a.Pos()); l <= syntax.Line(p, a.End()); l++ {
				lines[l] = l != c.Site.Line
			}
		}
		return true
	})
	for _, s := range c.Pass.Table.Sites {
		rows = append(rows, stacks.Select(s.Live, func(r *site.Row) bool {
			return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool {
				return f.Function == c.Site.Function && f.File == c.Site.File && lines[f.Line]
			})
		})...)
	}
	return rows
}

func (s *slot) describe(c *finder.Case, rows []*site.Row, objects int64, period float64) {
	put, pos := c.Site, s.at.Fset.Position(s.elem.Pos())
	function := syntax.ProfileName(s.at)
	all, _ := stacks.Sum(rows)
	c.Live, c.Callers, c.Confidence = rows, true, rule.Likely
	c.Site = c.Pass.Site(&site.Frame{Function: function, File: pos.Filename, Line: pos.Line, Owner: c.Pass.Code.Owner(function, pos.Filename)})
	if c.Site.Entry == nil {
		c.Site.Entry = &put.Frame
	}
	elem := syntax.Text(s.elem)
	c.Cause = fmt.Sprintf("%s returns %s and leaves it in its slot, so that the array keeps it in memory after it was taken, until the slot is used again. The queue is empty again after %s, as counted, but of what line %d of %s puts into it, %s are live, with what they refer to: %s.",
		syntax.FuncName(s.at), elem, units.Some(max(1, period), "removal"), put.Line, put.Owner.File, units.Some(float64(objects), "object"), units.Bytes(float64(all)))
	c.Fix = fmt.Sprintf("Set %s to its zero value when the element is taken, so that the queue does not refer to it any more.", elem)
	c.Evidence = []rule.Evidence{{
		What:    "live memory of elements that were put in",
		Value:   fmt.Sprintf("%s, %d of them", units.Bytes(float64(all)), objects),
		Command: evidence.ListCommand(c.Pass, "inuse_space", put.Function),
	}}
}
