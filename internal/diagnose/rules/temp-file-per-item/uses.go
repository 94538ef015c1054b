package tempfileperitem

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// users are functions that open, write and remove a file, as profiles name them; removers are those
// that end its life, mostly deferred.
func users() []string {
	return slices.Concat([]string{
		"os.WriteFile", "os.ReadFile", "os.Create", "os.Open", "os.OpenFile", "os.Stat", "os.Mkdir", "os.MkdirAll",
		"os.(*File).Write*", "os.(*File).Read*", "os.(*File).Seek", "os.(*File).Sync", "os.(*File).Stat", "io.WriteString", "io.Copy",
	}, removers())
}

func removers() []string { return []string{"os.Remove", "os.RemoveAll", "os.(*File).Close"} }

// using selects the rows of such calls.
func using(s *site.Site) rule.Match { return finder.TakeCalls(s, users()...) }

// judgeUse judges a line that uses a temporary file which its function makes.
func judgeUse(c *finder.Case) bool {
	p := c.Place
	made := madeIn(p)
	if made == nil || syntax.Line(p, made.Pos()) == p.Line {
		return false
	}
	of := derived(p, made)
	here := slices.ContainsFunc(syntax.Calls(p), func(call *ast.CallExpr) bool {
		return funcname.Match(p.CalleeName(call), funcname.TypedAll(users())...) && syntax.Mentions(p, call, of...)
	})
	if !here {
		if !defers(p, of) {
			return false
		}
		c.Keep(func(r *site.Row) bool { return stacks.Calls(r, removers()...) })
		c.Callees = removers()
	}
	return !c.Empty() && describe(c, made)
}

// madeIn returns the call in the function of a place that makes a temporary file or directory; nil
// for none, or several.
func madeIn(p *gocode.Place) (made *ast.CallExpr) {
	if p.Decl == nil {
		return nil
	}
	n := 0
	ast.Inspect(p.Decl, func(x ast.Node) bool {
		if call, ok := x.(*ast.CallExpr); ok && funcname.Match(p.CalleeName(call), creators()...) {
			made = call
			n++
		}
		return true
	})
	if n != 1 {
		return nil
	}
	return made
}

// derived returns the variable of a temporary file or directory, and those of names that are
// derived from it.
func derived(p *gocode.Place, made *ast.CallExpr) []*types.Var {
	v := syntax.Result(p, made)
	if v == nil {
		return nil
	}
	all := []*types.Var{v}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || a.Pos() < made.Pos() || !syntax.Mentions(p, a.Rhs[0], all...) {
			return true
		}
		if to := syntax.LocalVar(p, a.Lhs[0]); to != nil && !slices.Contains(all, to) && !syntax.IsError(to.Type()) {
			all = append(all, to)
		}
		return true
	})
	return all
}

// defers reports whether the function defers a call that mentions one of some variables.
func defers(p *gocode.Place, of []*types.Var) bool {
	found := false
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		d, ok := n.(*ast.DeferStmt)
		found = found || ok && syntax.Mentions(p, d.Call, of...)
		return !found
	})
	return found
}
