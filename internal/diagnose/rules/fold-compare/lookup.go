package foldcompare

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// lookedUp judges conversions whose results are only keys of lookups in maps.
func lookedUp(c *finder.Case) bool {
	var in ast.Expr
	if len(c.Allocs) == 0 || !c.All(func(call *ast.CallExpr) bool {
		maps := lookups(c.Place, call)
		if len(maps) > 0 {
			in = maps[0]
		}
		return len(maps) > 0
	}) {
		return false
	}
	call := c.Calls[0]
	c.Cause = fmt.Sprintf("%s makes a new string of %s for each lookup in %s, and drops it.",
		symbol.Short(c.Name()), syntax.Text(call.Args[0]), syntax.Text(in))
	c.Fix = fmt.Sprintf("Write the converted letters into an array on the stack (var buf [64]byte), and look up %s[string(buf[:n])]: that conversion does not copy. Convert longer texts, and those that are not ASCII, as before.",
		syntax.Text(in))
	// The letters are still converted; the rest is the copy and its allocation.
	c.Fraction = &rule.Fraction{Expect: 0.7, Low: 0.4, High: 0.9}
	return true
}

// lookups returns the maps that the result of a conversion is looked up in, if it has no other use.
// A key that is stored needs the copy.
func lookups(p *gocode.Place, call *ast.CallExpr) (maps []ast.Expr) {
	uses, at := usesOf(p, call)
	for _, use := range uses {
		m := lookup(at, use, true)
		if m == nil {
			return nil
		}
		maps = append(maps, m)
	}
	return maps
}

// lookup returns the map of an index expression that reads the entry with a key, here or in a
// function of the package that gets the key; nil for any other use of the key.
func lookup(p *gocode.Place, key ast.Expr, follow bool) ast.Expr {
	index, ok := syntax.Parent(p, key).(*ast.IndexExpr)
	if !ok && follow {
		return lookupIn(p, key)
	}
	if !ok || ast.Unparen(index.Index) != ast.Unparen(key) {
		return nil
	}
	t := p.TypeOf(index.X)
	if t == nil {
		return nil
	}
	if _, ok := t.Underlying().(*types.Map); !ok {
		return nil
	}
	switch n := syntax.Parent(p, index).(type) {
	case *ast.AssignStmt:
		if slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return ast.Unparen(e) == index }) {
			return nil
		}
	case *ast.IncDecStmt:
		return nil
	case *ast.RangeStmt:
		if ast.Unparen(n.X) != index {
			return nil
		}
	}
	return index.X
}

// lookupIn returns the map that a function of the package looks its argument up in, if it does
// nothing else with it.
func lookupIn(p *gocode.Place, key ast.Expr) (m ast.Expr) {
	call, ok := syntax.Parent(p, key).(*ast.CallExpr)
	if !ok {
		return nil
	}
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() != p.Pkg {
		return nil
	}
	i := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return ast.Unparen(e) == ast.Unparen(key) })
	decl := p.Declaration(fn)
	if i < 0 || i >= fn.Signature().Params().Len() || fn.Signature().Variadic() || decl == nil || decl.Body == nil {
		return nil
	}
	in := p.Entry(decl)
	for _, id := range syntax.Reads(in, fn.Signature().Params().At(i)) {
		if m = lookup(in, id, false); m == nil {
			return nil
		}
	}
	return m
}
