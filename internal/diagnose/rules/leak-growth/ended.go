package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// toElement reports whether an insertion appends to a list that is an element of a map:
// m[k] = append(m[k], x).
func toElement(p *gocode.Place, in insertion) bool {
	call, ok := ast.Unparen(in.value).(*ast.CallExpr)
	return ok && in.key != nil && p.CalleeName(call) == "append"
}

// appended returns the values that an insertion adds: those that it appends to a list in a map, and
// the inserted value otherwise.
func appended(p *gocode.Place, in insertion) []ast.Expr {
	if call, ok := ast.Unparen(in.value).(*ast.CallExpr); ok && toElement(p, in) && !call.Ellipsis.IsValid() {
		return slices.Clone(call.Args[1:])
	}
	return []ast.Expr{in.value}
}

// replaced returns the assignments that replace a list in a map of an owner by one that may have
// fewer elements: m[k] = without(m[k], x), m[k] = others.
func replaced(p *gocode.Place, of *owner) (out []ast.Node) {
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for i, lhs := range a.Lhs {
				if !element(lhs) || !of.is(p, outermost(lhs)) || grows(p, a, i) {
					continue
				}
				if len(a.Lhs) != len(a.Rhs) || !cut(p, a.Rhs[i]) && !syntax.Makes(p, a.Rhs[i]) {
					out = append(out, a)
				}
			}
			return true
		})
	}
	return out
}

const (
	// endings are how names of methods start that end a value.
	endings = "close stop cancel end unsubscribe unregister unwatch detach leave finish release shutdown disconnect done"
	// mostlyEnded is how often the method must run for each value that is put in, if counted.
	mostlyEnded = 0.5
)

// ended adds the method that ends a kept value and leaves it in the container, and asks for its
// removal there.
func (k *keep) ended(pass *rule.Pass, p *gocode.Place, in insertion, of *types.Named) {
	if k.release || of == nil || of.Obj().Pkg() != p.Pkg || !strings.HasPrefix(k.fix, "Bound ") {
		return
	}
	put, counted := evidence.ExecutionsAt(pass, p, in.at)
	for m := range of.Methods() {
		if !ends(m) {
			continue
		}
		decl := p.Declaration(m)
		if decl == nil || decl.Body == nil || len(decl.Body.List) == 0 {
			continue
		}
		ran, ok := evidence.ExecutionsAt(pass, p, decl.Body.List[0].Pos())
		if counted && ok && ran.PerUnit < mostlyEnded*put.PerUnit {
			continue
		}
		to := kept(p, in.into).text(in.into)
		method := m.Name()
		if ptr, ok := m.Signature().Recv().Type().(*types.Pointer); ok {
			method = fmt.Sprintf("(*%s).%s", named(ptr).Obj().Name(), method)
		}
		k.words += fmt.Sprintf(" %s (%s) ends it, and leaves it there.", method, syntax.Where(p, decl.Pos()))
		k.fix = fmt.Sprintf("Remove it from %s when it ends: %s has to take it out.", to, method)
		if toElement(p, in) {
			k.fix += " A map with it as the key, instead of a list, does that with one delete."
		}
		return
	}
}

// ends reports whether a method ends its value, as its name says.
func ends(m *types.Func) bool {
	results := m.Signature().Results()
	if results.Len() > 1 || results.Len() == 1 && results.At(0).Type().String() != "error" {
		return false
	}
	name := strings.ToLower(m.Name())
	return slices.ContainsFunc(strings.Fields(endings), func(end string) bool { return strings.HasPrefix(name, end) })
}
