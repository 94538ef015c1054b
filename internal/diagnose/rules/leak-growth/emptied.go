package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

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

// elements are the expressions of a package that denote elements of a container: m[k], variables
// that hold one, and elements of those.
type elements struct {
	place *gocode.Place
	of    *owner
	held  map[*types.Var]bool
}

func elementsOf(p *gocode.Place, of *owner) *elements {
	e := &elements{place: p, of: of, held: map[*types.Var]bool{}}
	for more := true; more; {
		more = false
		for _, f := range p.Files() {
			ast.Inspect(f, func(n ast.Node) bool {
				a, ok := n.(*ast.AssignStmt)
				if !ok || len(a.Rhs) != 1 || !e.has(a.Rhs[0]) {
					return true
				}
				if v := syntax.LocalVar(p, a.Lhs[0]); v != nil && !e.held[v] {
					e.held[v], more = true, true
				}
				return true
			})
		}
	}
	return e
}

// has reports whether an expression denotes an element.
func (e *elements) has(x ast.Expr) bool {
	if v := syntax.Named(e.place, x); v != nil && e.held[v] {
		return true
	}
	at, ok := ast.Unparen(x).(*ast.IndexExpr)
	return ok && (e.of.is(e.place, at.X) || e.has(at.X))
}

// deletes reports whether a call deletes an entry of an element that is a map: delete(m[k], l), or
// a method of a type of the package that deletes from its receiver.
func (e *elements) deletes(call *ast.CallExpr) (from ast.Expr) {
	if e.place.CalleeName(call) == "delete" {
		if e.has(call.Args[0]) {
			return call.Args[0]
		}
		return nil
	}
	to := syntax.Receiver(call)
	if to == nil || !e.has(to) {
		return nil
	}
	if !syntax.IsMap(e.place.TypeOf(to)) {
		return nil
	}
	decl := e.place.Declaration(e.place.Callee(call))
	if decl == nil || decl.Body == nil || decl.Recv == nil || len(decl.Recv.List[0].Names) == 0 {
		return nil
	}
	receiver := e.place.Object(decl.Recv.List[0].Names[0])
	found := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		inner, ok := n.(*ast.CallExpr)
		if ok && e.place.CalleeName(inner) == "delete" {
			root, _ := syntax.Var(e.place, inner.Args[0])
			found = found || root != nil && types.Object(root) == receiver
		}
		return !found
	})
	if !found {
		return nil
	}
	return to
}

// ranAt returns how often the line of a position ran per unit of work; 0 where that is unknown.
func ranAt(pass *rule.Pass, p *gocode.Place, pos token.Pos) float64 {
	ran, _ := evidence.ExecutionsAt(pass, p, pos)
	return ran.PerUnit
}

// emptied returns how often entries were deleted from elements of a type, per unit of work.
func (e *elements) emptied(pass *rule.Pass, p *gocode.Place, of types.Type) (sum float64) {
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if from := e.deletes(call); from != nil && types.Identical(p.TypeOf(from), of) {
					sum += ranAt(pass, p, call.Pos())
				}
			}
			return true
		})
	}
	return sum
}

// emptiedMaps returns the line that deletes entries of the maps which are in the container of an
// insertion, and the code of the container which keeps them. It is "" for none, and if that runs
// less than half as often as maps are put in: at the line s, or by the insertion.
func emptiedMaps(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion) (where, container string) {
	of, value := kept(p, in.into), in.value
	if in.inner != nil {
		value = in.inner.value
	}
	t := typeOf(p, value)
	if of == nil || t == nil || !syntax.IsMap(t) {
		return "", ""
	}
	made, _ := evidence.Executions(pass, s.Frame)
	least := mostlyEmptied * max(ranAt(pass, p, in.at), made.PerUnit)
	all := elementsOf(p, of)
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || where != "" {
				return where == ""
			}
			from := all.deletes(call)
			if from == nil || !types.Identical(p.TypeOf(from), t) {
				return true
			}
			if ran := ranAt(pass, p, call.Pos()); ran > 0 && ran >= least {
				where, container = syntax.Where(p, call.Pos()), outerOf(p, f, from)
			}
			return where == ""
		})
	}
	return where, container
}

// outerOf returns the code of the map that has a map as an element: m of m[k], and of v := m[k]. It
// is "" where that is unknown.
func outerOf(p *gocode.Place, f *ast.File, e ast.Expr) (code string) {
	if at, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		return syntax.Text(at.X)
	}
	v := syntax.Named(p, e)
	ast.Inspect(f, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && len(a.Rhs) == 1 && syntax.Named(p, a.Lhs[0]) == v {
			if at, ok := ast.Unparen(a.Rhs[0]).(*ast.IndexExpr); ok {
				code = syntax.Text(at.X)
			}
		}
		return true
	})
	return code
}

// endless says that nothing removes single entries, and how to change that. maps is the line that
// empties the inserted maps, if there is one, and container the code of the map that keeps them.
func (k *keep) endless(p *gocode.Place, in insertion, name, remover, maps, container string) {
	if remover == "" {
		k.words += ", and nothing in the package ever removes anything from it."
	} else {
		k.words += fmt.Sprintf(", and nothing in the package removes single entries from it: %s, which replaces or clears all of it, never ran while executions were counted.", remover)
	}
	k.fix = fmt.Sprintf("Bound %s: remove entries that are no longer needed, or evict the oldest above a size.", name)
	if maps != "" {
		k.words += fmt.Sprintf(" Its maps stay even when %s deletes their last entry.", maps)
		k.fix = fmt.Sprintf("After the delete (%s), remove the map from %s when it is empty: if len(…) == 0 { delete(%s, …) }.", maps, container, container)
	} else if field, where := emptied(p, in.value); field != "" {
		k.words += fmt.Sprintf(" Its entries stay even when %s deletes the last of their %s.", where, field)
		k.fix = fmt.Sprintf("Remove an entry from %s when its %s are empty, after the delete (%s).", name, field, where)
	}
}

// addsKeys reports whether an insertion into a list in a map mostly adds a key: its line leaves a
// list behind in memory nearly each time, and makes nothing else that could stay.
func addsKeys(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion) bool {
	w, ok := windowOf(pass)
	if !ok || s.Line != syntax.Line(p, in.at) {
		return false
	}
	for _, e := range appended(p, in) {
		t := p.TypeOf(e)
		if t == nil || isText(t) {
			return false
		}
		switch t.Underlying().(type) {
		case *types.Pointer, *types.Interface, *types.Slice, *types.Map, *types.Signature, *types.Chan:
			return false
		}
	}
	put, ok := evidence.ExecutionsAt(pass, p, in.at)
	for _, g := range pass.Growth {
		if g.Line == s.Line && g.File == s.File && g.Function == s.Function {
			return ok && put.PerUnit > 0 && float64(g.Objects) >= perRequest*put.PerUnit*w.units()
		}
	}
	return false
}

// keys says that the keys of a map of lists stay, whatever happens to their lists.
func (k *keep) keys(name string) {
	k.words += " Nearly each time it is a new key, which stays when nothing is left in its list."
	k.fix = fmt.Sprintf("Delete a key of %s when its list is empty or all of it is too old; for keys that do not come again, in a sweep by age.", name)
}

// blanked adds the function that sets the value of an entry to nil as often as one is put in, which
// leaves the key in the map.
func (k *keep) blanked(pass *rule.Pass, p *gocode.Place, in insertion, of *owner) {
	put := ranAt(pass, p, in.at)
	if in.key == nil || in.deep {
		return
	}
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !p.Info.Types[a.Rhs[0]].IsNil() {
				return true
			}
			at, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
			if !ok || !of.is(p, at.X) {
				return true
			}
			if put > 0 && ranAt(pass, p, a.Pos()) >= mostlyEmptied*put {
				fn := around(p, a.Pos())
				k.words += fmt.Sprintf(" %s sets the value to nil (%s): the key stays.", fn.Name.Name, syntax.Where(p, a.Pos()))
				k.fix = fmt.Sprintf("Delete the entry there: delete(%s, %s).", syntax.Text(at.X), syntax.Text(at.Index))
			}
			return true
		})
	}
}
