package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// elsewhere adds the function that deletes such values, or their keys, from another map, about as
// often as they are put in here, and leaves them in this container. It reports whether there is
// one.
func (k *keep) elsewhere(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion) bool {
	owner := kept(p, in.into)
	put, _ := evidence.ExecutionsAt(pass, p, in.at)
	made, _ := evidence.Executions(pass, s.Frame) // in a map or list that was put in before
	often := max(put.PerUnit, made.PerUnit)
	if owner == nil || !k.unused || often <= 0 {
		return false
	}
	kinds, with := kindsOf(p, in), besideOf(p, in, owner)
	adds := []*ast.FuncDecl{around(p, in.at)}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || steps(p, fn, adds, []token.Pos{in.at}) != token.NoPos {
				continue // what moves an entry from one to the other
			}
			from := deletes(p, fn, kinds, with, owner)
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
			if k.remover != "" && !k.swept {
				k.fix = fmt.Sprintf("Call %s where it ends, too: in %s, which deletes it from %s.", k.remover, who, name)
			}
			return true
		}
	}
	return false
}

// besideOf returns the fields and package variables with the maps that get the same key as an
// insertion: in the same function, or in the callers that pass it the key.
func besideOf(p *gocode.Place, in insertion, owner *owner) (with []*types.Var) {
	fn := around(p, in.at)
	if fn == nil {
		return nil
	}
	obj, _ := p.Object(fn.Name).(*types.Func)
	keys := []ast.Expr{in.key}
	if in.inner != nil {
		keys = append(keys, in.inner.key)
	}
	for _, e := range keys {
		if e == nil {
			continue
		}
		key := syntax.LocalVar(p, e)
		with = append(with, keyedBy(p, fn, key, owner)...)
		if key == nil || obj == nil || !syntax.Param(p.Entry(fn), key) {
			continue
		}
		i := syntax.ParamIndex(obj.Signature(), key)
		for _, f := range p.Files() {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if ok && i >= 0 && i < len(call.Args) && p.Callee(call) != nil && p.Callee(call).Origin() == obj {
					with = append(with, keyedBy(p, around(p, call.Pos()), syntax.LocalVar(p, call.Args[i]), owner)...)
				}
				return true
			})
		}
	}
	return with
}

// keyedBy returns the fields and package variables, other than an owner, with the maps that a
// function puts a key into.
func keyedBy(p *gocode.Place, fn *ast.FuncDecl, key *types.Var, owner *owner) (with []*types.Var) {
	if key == nil || fn == nil {
		return nil
	}
	insertions(p, fn.Body, func(other insertion, _ ast.Node) {
		if other.key == nil || other.deep || syntax.LocalVar(p, other.key) != key {
			return
		}
		if to := kept(p, other.into); to != nil && to.Origin() != owner.Origin() {
			with = append(with, to.Origin())
		}
	})
	return with
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

// deletes returns a call in a function that deletes a key or a value of one of some types, or any
// from one of some variables, from a map other than that of an owner; nil for none.
func deletes(p *gocode.Place, fn *ast.FuncDecl, kinds []types.Type, with []*types.Var, owner *owner) (found *ast.CallExpr) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil || p.CalleeName(call) != "delete" || owner.is(p, outermost(call.Args[0])) {
			return found == nil
		}
		from := kept(p, outermost(call.Args[0]))
		if from == nil {
			return true
		}
		if slices.Contains(with, from.Origin()) {
			found = call
			return false
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
