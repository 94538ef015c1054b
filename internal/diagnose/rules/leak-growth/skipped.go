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
	"github.com/hone-go/hone/internal/units"
)

// mostOfRest is the minimum part of the entries that stay which one return must explain.
const mostOfRest = 0.5

// skipped adds to what keeps a value the return that leaves without removing it: a function adds an
// entry and removes it, itself or by calls, but returns in between. It reports whether such a
// return ran about as often as entries stayed.
func (k *keep) skipped(pass *rule.Pass, p *gocode.Place, in insertion, out []ast.Node, share float64, name string) bool {
	put, ok := evidence.ExecutionsAt(pass, p, in.at)
	if !ok || put.PerUnit <= 0 || share >= 1-seldom {
		return false
	}
	adds, removes := []*ast.FuncDecl{around(p, in.at)}, []*ast.FuncDecl{}
	for _, n := range out {
		removes = append(removes, around(p, n.Pos()))
	}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			added := steps(p, fn, adds, []token.Pos{in.at})
			removed := steps(p, fn, removes, positions(out))
			if added == token.NoPos || removed == token.NoPos || added >= removed {
				continue
			}
			at, runs := evidence.ReturnBetween(pass, p, fn, added, removed)
			if runs < mostOfRest*(1-share)*put.PerUnit {
				continue
			}
			k.release = true
			k.words += fmt.Sprintf(". %s adds one (%s) and removes it (%s), but not when it returns on line %d in between, which happens for %s of them: those stay.",
				fn.Name.Name, syntax.Where(p, added), syntax.Where(p, removed), syntax.Line(p, at), units.Percent(min(1, runs/put.PerUnit)))
			k.fix = fmt.Sprintf("Remove the entry of %s on every path of %s: with a defer right after it was added.", name, fn.Name.Name)
			return true
		}
	}
	return false
}

// around returns the function declaration of the package around a position; nil for none.
func around(p *gocode.Place, pos token.Pos) *ast.FuncDecl {
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && syntax.Inside(fn, pos) {
				return fn
			}
		}
	}
	return nil
}

func positions(nodes []ast.Node) (all []token.Pos) {
	for _, n := range nodes {
		all = append(all, n.Pos())
	}
	return all
}

// steps returns the first position in a function of one of some statements, or of a call of one of
// some functions; none if there is neither.
func steps(p *gocode.Place, fn *ast.FuncDecl, of []*ast.FuncDecl, own []token.Pos) (first token.Pos) {
	for _, pos := range own {
		if syntax.Inside(fn.Body, pos) {
			return pos
		}
	}
	calls := map[types.Object]bool{}
	for _, f := range of {
		if f != nil {
			calls[p.Object(f.Name)] = true
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && first == token.NoPos {
			if callee := p.Callee(call); callee != nil && calls[callee.Origin()] {
				first = call.Pos()
			}
		}
		return first == token.NoPos
	})
	return first
}
