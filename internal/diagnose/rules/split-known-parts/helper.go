package splitknownparts

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

// inHelper judges a function that returns the list to its callers, and keeps the rows of those that
// use a few known parts.
func inHelper(c *finder.Case) (reading, bool) {
	all := reading{index: -1}
	p := c.Place
	if len(c.Calls) != 1 || p.Decl == nil || p.Func != ast.Node(p.Decl) {
		return all, false
	}
	if ret, ok := syntax.Parent(p, c.Calls[0]).(*ast.ReturnStmt); !ok || len(ret.Results) != 1 {
		return all, false
	}
	match := *c.Match // the original is for other patterns
	match.Keep(func(r *site.Row) bool {
		caller, call := loops.CallerOf(c.Pass.Syntax, r)
		if call == nil {
			return false
		}
		read, ok := parts(c.Pass.Syntax, caller, call)
		ok = ok && (read.index >= 0 || read.end) // the number alone may be that of a list for others
		if ok {
			all.add(read)
		}
		return ok
	})
	if match.Empty() {
		return all, false
	}
	*c.Match = match
	return all, true
}
