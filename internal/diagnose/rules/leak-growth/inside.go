package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
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

// emptied returns the map of the inserted values from which the package deletes entries, with the
// line that does so: a value whose map is empty may be of no use any more. It returns "" for none.
func emptied(p *gocode.Place, value ast.Expr) (field, where string) {
	n := named(p.TypeOf(value))
	if n == nil {
		return "", ""
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return "", ""
	}
	own := map[*types.Var]bool{}
	for f := range s.Fields() {
		own[f] = true
	}
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && field == "" && p.CalleeName(call) == "delete" {
				if v := syntax.Named(p, call.Args[0]); v != nil && own[v] {
					field, where = v.Name(), syntax.Where(p, call.Pos())
				}
			}
			return field == ""
		})
	}
	return field, where
}

// mostlyEmptied is how often entries of inner maps must be deleted, for each map that is put in.
const mostlyEmptied = 0.5

// emptiedMaps returns the line that deletes entries of the maps which are in the container of an
// insertion: delete(m[k], l), or of a variable that holds one. It is "" for none, and if that runs
// less than half as often as maps are put in.
func emptiedMaps(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion) (where string) {
	of := kept(p, in.into)
	t := typeOf(p, in.value)
	if of == nil || t == nil {
		return ""
	}
	if _, ok := t.Underlying().(*types.Map); !ok {
		return ""
	}
	element := func(e ast.Expr) bool {
		x, ok := ast.Unparen(e).(*ast.IndexExpr)
		return ok && of.is(p, x.X)
	}
	ran := func(pos token.Pos) float64 {
		at := p.Fset.Position(pos)
		e, _ := pass.Counts.Line(s.Owner.Package, at.Filename, at.Line)
		return e.PerUnit
	}
	held := map[*types.Var]bool{}
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && element(a.Rhs[0]) {
				held[syntax.Named(p, a.Lhs[0])] = true
			}
			return true
		})
	}
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && where == "" && p.CalleeName(call) == "delete" {
				if v := syntax.Named(p, call.Args[0]); (element(call.Args[0]) || v != nil && held[v]) && ran(call.Pos()) >= mostlyEmptied*ran(in.at) {
					where = syntax.Where(p, call.Pos())
				}
			}
			return where == ""
		})
	}
	return where
}

// endless says that nothing removes single entries, and how to change that. maps is the line that
// empties the inserted maps, if there is one.
func (k *keep) endless(p *gocode.Place, in insertion, name, remover, maps string) {
	if remover == "" {
		k.words += ", and nothing in the package ever removes anything from it."
	} else {
		k.words += fmt.Sprintf(", and nothing in the package removes single entries from it: %s, which replaces or clears all of it, never ran while executions were counted.", remover)
	}
	k.fix = fmt.Sprintf("Bound %s: remove entries that are no longer needed, or evict the oldest above a size.", name)
	if maps != "" {
		k.words += fmt.Sprintf(" Its maps stay even when %s deletes their last entry.", maps)
		k.fix = fmt.Sprintf("After the delete (%s), remove the map from %s when it is empty: if len(…) == 0 { delete(%s, …) }.", maps, name, name)
	} else if field, where := emptied(p, in.value); field != "" {
		k.words += fmt.Sprintf(" Its entries stay even when %s deletes the last of their %s.", where, field)
		k.fix = fmt.Sprintf("Remove an entry from %s when its %s are empty, after the delete (%s).", name, field, where)
	}
}
