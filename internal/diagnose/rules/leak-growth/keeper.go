package leakgrowth

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// keep is what retains the memory of a line.
type keep struct {
	words, fix string
	release    bool       // there is a function that removes an entry, which the owner may have to call
	unused     bool       // nothing removed an entry while executions were counted
	remover    string     // the function that would; ""
	container  *types.Var // that it is put into; nil if that is not known
	swept      bool       // a goroutine removes entries from time to time: the growth may stop
}

// explain adds what retains the memory to a match.
func (k *keep) explain(m *rule.Match) {
	m.Confidence = rule.Likely
	m.Cause += " " + k.words
	m.Fix = k.fix
}

// keeper returns the field or package variable that the line inserts into or appends to, or that
// the package puts what the line makes into, if nothing in the package removes anything from it, or
// seldom while executions were counted; nil otherwise. Of what the package puts into containers,
// lines that never ran keep nothing.
func keeper(pass *rule.Pass, s *site.Site, p *gocode.Place) *keep {
	found := cmp.Or(onLine(pass, s, p, func(insertion) bool { return true }), madeMap(pass, s, p))
	types := makes(p)
	if found != nil || len(types) == 0 {
		return found
	}
	for _, f := range p.Files() {
		insertions(p, f, func(in insertion, _ ast.Node) {
			for _, e := range append(appended(p, in), in.key) {
				t := typeOf(p, e)
				if found != nil || t == nil || !slices.Contains(types, named(t)) || idle(pass, p, in) {
					continue
				}
				if found = holds(pass, s, p, in); found != nil {
					found.ended(pass, p, in, named(t))
				}
			}
		})
	}
	return found
}

// onLine is keeper for what the line itself inserts, of the insertions that are wanted.
func onLine(pass *rule.Pass, s *site.Site, p *gocode.Place, wanted func(insertion) bool) (found *keep) {
	insertions(p, syntax.Body(p), func(in insertion, whole ast.Node) {
		if syntax.Line(p, whole.Pos()) <= p.Line && syntax.Line(p, whole.End()) >= p.Line && wanted(in) {
			if k := holds(pass, s, p, in); k != nil {
				found = k
				found.ended(pass, p, in, named(typeOf(p, appended(p, in)[0])))
			}
			if v := syntax.LocalVar(p, in.into); v != nil && found == nil {
				found = holdsContainer(pass, s, p, v)
			}
		}
	})
	return found
}

// madeMap is [holdsContainer] for the map that a line makes.
func madeMap(pass *rule.Pass, s *site.Site, p *gocode.Place) *keep {
	for _, n := range p.Nodes {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && syntax.Line(p, a.Pos()) == p.Line {
			if v := syntax.LocalVar(p, a.Lhs[0]); v != nil {
				if _, ok := v.Type().Underlying().(*types.Map); ok {
					return holdsContainer(pass, s, p, v)
				}
			}
		}
	}
	return nil
}

// holdsContainer is [holds] for what a function puts into a container that a local variable refers
// to, and that into another one, or gets it from there: by := map[int]*entry{}; m[key] = by; by[id]
// = e.
func holdsContainer(pass *rule.Pass, s *site.Site, p *gocode.Place, v *types.Var) (found *keep) {
	var inner *insertion
	insertions(p, syntax.Body(p), func(in insertion, _ ast.Node) {
		if in.key != nil && syntax.LocalVar(p, in.into) == v {
			inner = &in
		}
	})
	insertions(p, syntax.Body(p), func(in insertion, _ ast.Node) {
		if in.inner = inner; found == nil && !in.deep && in.key != nil && syntax.LocalVar(p, in.value) == v {
			found = holds(pass, s, p, in)
		}
	})
	if from := syntax.Assigned(p, v); found == nil && inner != nil && len(from) == 1 {
		if at, ok := ast.Unparen(from[0]).(*ast.IndexExpr); ok {
			found = holds(pass, s, p, insertion{at: inner.at, into: outermost(at), value: inner.into, key: at.Index, inner: inner})
		}
	}
	return found
}

// typeOf returns the type of an expression; nil for none.
func typeOf(p *gocode.Place, e ast.Expr) types.Type {
	if e == nil {
		return nil
	}
	return p.TypeOf(e)
}

// makes returns the types of the package of which the line creates values, or parts of values:
// those of the composite literals around the line, and of the results of its function.
func makes(p *gocode.Place) []*types.Named {
	var made []*types.Named
	add := func(t types.Type) {
		n := named(t)
		if n == nil || n.Obj().Pkg() != p.Pkg {
			return
		}
		if _, ok := n.Underlying().(*types.Struct); ok {
			made = append(made, n)
		}
	}
	outer := p.Outer()
	ast.Inspect(syntax.Body(outer), func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && syntax.Line(p, lit.Pos()) <= p.Line && syntax.Line(p, lit.End()) >= p.Line {
			add(p.TypeOf(lit))
		}
		return true
	})
	if outer.Decl == nil {
		return made // of a package variable's initialiser
	}
	if fn, ok := p.Object(outer.Decl.Name).(*types.Func); ok {
		for v := range fn.Signature().Results().Variables() {
			add(v.Type())
		}
	}
	return made
}

// named returns the named type of a value, or that a pointer points to; nil for others.
func named(t types.Type) *types.Named {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// holds returns what retains an inserted value, if that is a field or a package variable from which
// values are never or seldom removed; nil otherwise.
func holds(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion) *keep {
	v := kept(p, in.into)
	if v == nil {
		return nil
	}
	name := v.text(in.into)
	k := &keep{words: "It is put into " + name, container: v.Origin()}
	if syntax.Line(p, in.at) != p.Line {
		k.words += fmt.Sprintf(" (%s)", syntax.Where(p, in.at))
	}
	out := shrinkers(p, v)
	list := toElement(p, in)
	byKey := list && addsKeys(pass, s, p, in)
	if !in.deep && (!list || byKey) {
		out = slices.DeleteFunc(out, func(n ast.Node) bool { return fromElement(p, n) })
	}
	if list && !byKey {
		out = append(out, replaced(p, v)...)
	}
	if len(out) == 0 {
		if in.inner != nil && elementsOf(p, v).emptied(pass, p, p.TypeOf(in.inner.into)) >= mostlyEmptied*ranAt(pass, p, in.inner.at) {
			if in.at == in.inner.at || ranAt(pass, p, in.at) < mostlyEmptied*ranAt(pass, p, in.inner.at) {
				return nil
			}
			in.inner = nil // the inner maps stay, not what is in them
		}
		emptied, container := emptiedMaps(pass, s, p, in)
		k.unused = emptied == ""
		k.endless(p, in, name, "", emptied, cmp.Or(container, name))
		if byKey {
			k.keys(name)
		}
		k.blanked(pass, p, in, v)
		k.elsewhere(pass, s, p, in)
		return k
	}
	share, remover, ok := removed(pass, s, p, in, out)
	switch {
	case ok && share > most && k.skipped(pass, p, in, out, share, name):
	case !ok || share > most:
		return nil
	case share <= seldom && resets(p, out):
		k.endless(p, in, name, remover, "", "")
	case share > seldom && queue(out):
		k.words += fmt.Sprintf(". This queue has no limit and keeps growing: while executions were counted, %s removed only %s of the elements that were added.", remover, units.Percent(share))
		k.fix = fmt.Sprintf("Limit %s, so that senders wait or are refused when it is full (a channel of limited size does that), and let more goroutines take from it.", name)
	case k.onlyRead(pass, p, v, out, name):
	case share > seldom:
		k.release = true
		k.words += fmt.Sprintf(". Only %s removes something from it: while executions were counted, %s as often as something was put in.", remover, units.Percent(share))
		k.fix = fmt.Sprintf("Remove the other entries too when they are no longer needed: by age, at each insertion or in a sweep; or bound %s by size.", name)
	default:
		return k.unremoved(pass, s, p, in, out, name, remover, share)
	}
	return k
}

// unremoved is [holds] for a container from which next to nothing was removed.
func (k *keep) unremoved(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion, out []ast.Node, name, remover string, share float64) *keep {
	k.release = true
	if k.skipped(pass, p, in, out, share, name) {
		return k
	}
	own := *k // without the words about the remover
	k.words += fmt.Sprintf(". Only %s would remove something from it, and it never ran while executions were counted.", remover)
	k.fix = fmt.Sprintf("Call %s when an entry of %s is no longer needed, or bound %s by size or age.", remover, name, name)
	k.unused, k.remover, k.swept = true, remover, swept(pass, p, out)
	if k.elsewhere(pass, s, p, in) {
		k.swept = false
		return k
	}
	if g, ok := guarded(pass, s, p, out); ok && !k.swept {
		own.words, own.fix = own.words+g.words(name), g.fix(name)
		return &own
	}
	return k
}
