package leakgrowth

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// leastInside is the share of a call's live memory that a line must have allocated whose container
// is to explain it: what the elements refer to is mostly allocated on other lines.
const leastInside = 0.2

// inside returns the line of another module that puts what a call of it makes into a container from
// which nothing is removed, and what retains it; nil if there is none.
func inside(pass *rule.Pass, live []*site.Row) (at *site.Site, k *keep) {
	if pass.Syntax == nil {
		return nil, nil
	}
	bytes, keeps := map[*site.Site]int64{}, map[*site.Site]*keep{}
	all := int64(0)
	for _, r := range live {
		all += r.Value
		for _, f := range r.Stack[:max(0, outward(r))] {
			if f.Owner.Kind != gocode.Dependency {
				continue
			}
			s := pass.Site(f)
			if _, seen := keeps[s]; !seen {
				keeps[s] = nil
				if place, ok := pass.Syntax.At(f.File, f.Line); ok {
					keeps[s] = keeper(pass, s, place)
				}
			}
			if keeps[s] == nil {
				continue
			}
			if bytes[s] += r.Value; at == nil || bytes[s] > bytes[at] {
				at = s
			}
			break
		}
	}
	if at == nil || float64(bytes[at]) < leastInside*float64(all) {
		return nil, nil
	}
	return at, keeps[at]
}

// resets reports whether all nodes that remove something drop the container as a whole: the
// assignment of a new one, or clear.
func resets(p *gocode.Place, out []ast.Node) bool {
	for _, n := range out {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) != len(n.Rhs) || !fresh(p, n) {
				return false
			}
		case *ast.CallExpr:
			if !funcname.Match(p.CalleeName(n), "clear", "(*sync.Map).Clear", "(*container/list.List).Init") {
				return false
			}
		default:
			return false
		}
	}
	return len(out) > 0
}

// fresh reports whether a statement assigns only new containers and nil.
func fresh(p *gocode.Place, a *ast.AssignStmt) bool {
	for _, rhs := range a.Rhs {
		switch e := ast.Unparen(rhs).(type) {
		case *ast.CallExpr:
			if !funcname.Match(p.CalleeName(e), "make", "new", "container/list.New") {
				return false
			}
		case *ast.CompositeLit:
			if len(e.Elts) > 0 {
				return false
			}
		default:
			if !p.Info.Types[rhs].IsNil() {
				return false
			}
		}
	}
	return true
}
