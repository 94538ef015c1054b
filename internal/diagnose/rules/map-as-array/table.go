package mapasarray

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

const (
	// leastKeys is the minimum number of constant keys of a table.
	leastKeys = 3
	// An array for the keys has at most mostElements elements, or mostPerKey for each key.
	mostElements = 1024
	mostPerKey   = 16
)

// table returns what the keys of a map are, and the advice, if the map is a table: a package
// variable that is declared with constant keys, small numbers or several of them, and never
// changed.
func table(p *gocode.Place, m ast.Expr) (keys, instead string, ok bool) {
	v := syntax.Named(p, m)
	lit, isLit := p.Initial(v).(*ast.CompositeLit)
	if !isLit || v.Exported() || len(lit.Elts) < leastKeys || changed(p, v) {
		return "", "", false
	}
	var largest []int64
	for _, e := range lit.Elts {
		kv, isPair := e.(*ast.KeyValueExpr)
		if !isPair {
			return "", "", false
		}
		parts, known := numbersOf(p, kv.Key)
		if !known || largest != nil && len(parts) != len(largest) {
			return "", "", false
		}
		if largest == nil {
			largest = make([]int64, len(parts))
		}
		for i, n := range parts {
			largest[i] = max(largest[i], n)
		}
	}
	size := int64(1)
	for _, n := range largest {
		if size *= n + 1; size > max(mostElements, mostPerKey*int64(len(lit.Elts))) {
			return "", "", false
		}
	}
	if len(largest) == 1 {
		return fmt.Sprintf("one of %d constants up to %d", len(lit.Elts), largest[0]),
			fmt.Sprintf("Use an array with %d elements, indexed by the key after a test that it is below that, or a switch: the table never changes.", size), true
	}
	return fmt.Sprintf("several small numbers (%d constant keys)", len(lit.Elts)),
		fmt.Sprintf("Use a nested array, indexed by the parts of the key (%d elements in all), or a function with a switch: the table never changes.", size), true
}

// numbersOf returns the numbers of a constant key: one, or those of an array or a struct. It
// reports false if one of them is negative, or not a constant.
func numbersOf(p *gocode.Place, key ast.Expr) (parts []int64, ok bool) {
	lit, isLit := ast.Unparen(key).(*ast.CompositeLit)
	if !isLit {
		n, ok := number(p, key)
		return []int64{n}, ok
	}
	for _, e := range lit.Elts {
		if _, named := e.(*ast.KeyValueExpr); named {
			return nil, false // parts may be left out
		}
		n, ok := number(p, e)
		if !ok {
			return nil, false
		}
		parts = append(parts, n)
	}
	return parts, len(parts) > 1
}

func number(p *gocode.Place, e ast.Expr) (int64, bool) {
	v, ok := p.Const(e)
	if !ok || v.Kind() != constant.Int {
		return 0, false
	}
	n, exact := constant.Int64Val(v)
	return n, exact && n >= 0 && n < mostElements*mostPerKey
}

// changed reports whether the package does something with a map other than looking up keys and
// going through it: it may then change.
func changed(p *gocode.Place, v *types.Var) bool {
	uses, read := 0, 0
	written := map[ast.Expr]bool{}
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if p.Info.Uses[n] == v {
					uses++
				}
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					written[ast.Unparen(e)] = true
				}
			case *ast.IncDecStmt:
				written[ast.Unparen(n.X)] = true
			case *ast.IndexExpr:
				if syntax.Named(p, n.X) == v && !written[n] {
					read++
				}
			case *ast.RangeStmt:
				if syntax.Named(p, n.X) == v {
					read++
				}
			case *ast.CallExpr:
				if p.CalleeName(n) == "len" && syntax.Named(p, n.Args[0]) == v {
					read++
				}
			}
			return true
		})
	}
	return uses != read
}
