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

// elsewhere adds the function that deletes such values from another map, about as often as they are
// put in here, and leaves them in this container.
func (k *keep) elsewhere(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion) {
	owner := kept(p, in.into)
	put, _ := evidence.ExecutionsAt(pass, p, in.at)
	made, _ := evidence.Executions(pass, s.Frame) // in a map or list that was put in before
	often := max(put.PerUnit, made.PerUnit)
	if owner == nil || !k.unused || often <= 0 {
		return
	}
	kinds := kindsOf(p, in)
	adds := []*ast.FuncDecl{around(p, in.at)}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || steps(p, fn, adds, []token.Pos{in.at}) != token.NoPos {
				continue // what moves an entry from one to the other
			}
			from := deletes(p, fn, kinds, owner)
			if from == nil {
				continue
			}
			if ran, ok := evidence.ExecutionsAt(pass, p, from.Pos()); !ok || ran.PerUnit < mostlyEnded*often {
				continue
			}
			name, to := syntax.Text(outermost(from.Args[0])), owner.text(in.into)
			who := fmt.Sprintf("%s (%s)", fn.Name.Name, syntax.Where(p, from.Pos()))
			k.words += fmt.Sprintf(" %s deletes it from %s, and leaves it in %s.", who, name, to)
			k.fix = fmt.Sprintf("Remove it from %s, too, where it ends: in %s, which deletes it from %s.", to, who, name)
			if k.remover != "" {
				k.fix = fmt.Sprintf("Call %s where it ends, too: in %s, which deletes it from %s.", k.remover, who, name)
			}
			return
		}
	}
}

// kindsOf returns the types of the package that an insertion puts in: of the key, the value, and
// what a map or list as the value holds.
func kindsOf(p *gocode.Place, in insertion) (kinds []types.Type) {
	add := func(t types.Type) {
		if t != nil && named(t) != nil && named(t).Obj().Pkg() == p.Pkg {
			kinds = append(kinds, t)
		}
	}
	for _, e := range append(appended(p, in), in.key) {
		t := typeOf(p, e)
		add(t)
		if t == nil {
			continue
		}
		if m, ok := t.Underlying().(*types.Map); ok {
			add(m.Key())
			add(m.Elem())
		}
		if l, ok := t.Underlying().(*types.Slice); ok {
			add(l.Elem())
		}
	}
	return kinds
}

// deletes returns a call in a function that deletes a key or a value of one of some types from a
// map other than that of an owner; nil for none.
func deletes(p *gocode.Place, fn *ast.FuncDecl, kinds []types.Type, owner *owner) (found *ast.CallExpr) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil || p.CalleeName(call) != "delete" || owner.is(p, outermost(call.Args[0])) || kept(p, outermost(call.Args[0])) == nil {
			return found == nil
		}
		m, ok := p.TypeOf(call.Args[0]).Underlying().(*types.Map)
		if !ok {
			return true
		}
		for _, t := range kinds {
			if same(m.Key(), t) || same(m.Elem(), t) {
				found = call
			}
		}
		return true
	})
	return found
}

// same reports whether two types are the same but for a pointer, or one is an interface that the
// other implements.
func same(a, b types.Type) bool {
	n := named(a)
	if n == nil {
		return false
	}
	if n == named(b) {
		return true
	}
	i, ok := b.Underlying().(*types.Interface)
	return ok && i.NumMethods() > 0 && types.Implements(a, i)
}
