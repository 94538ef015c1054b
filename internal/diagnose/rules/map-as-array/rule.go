// Package mapasarray finds maps whose keys are small numbers or places in a grid.
package mapasarray

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare is the minimum share of the CPU that the lookups of a line take.
	leastShare = 0.03
	// largestConst is the largest constant of a type whose values may index an array.
	largestConst = 1024
)

// Rule is map-as-array.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "map-as-array",
		Kind:  rule.CPU,
		Title: "Map whose keys are small numbers or places in a grid",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A lookup takes 5 to 20 ns, with a struct as the key up to 40, and more where the
				// map does not fit into the caches; a load from an array takes 1 to 3.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.5, High: 1},
				Specificity: 1,
			},
			Start: finder.Rows(lookups),
			Judge: judge,
		},
	}
}

const doc = `A lookup in a map hashes the key, probes a group of slots, and compares: 5 to
20 ns, and more for a key of several numbers. Where the keys are bytes, letters,
constants of an enumeration or the index of a loop, an array or a slice
answers with one load. Where they are coordinates, so does a slice indexed by
y*width+x; it also keeps neighbours close together in memory.

Use [256]T for bytes, an array of as many elements as there are constants, a
slice for an index. For letters, use an array for ASCII and the map for the
others. If coordinates have no bounds, at least pack them into one uint64: maps
have a shorter way for such keys, and hash nothing else of them. For a table of
constants that never changes, such as the transitions of a state machine, use an
array indexed by the parts of the key, or a switch.

It is fine where keys are few of many (numbers of users, hashes). The rule
reports lines whose lookups take 3 % of the CPU.

Seen in the field: golang/go#19984 (a third of the time of regexp's
makeOnePass), golang/go#76622 (keywords of Go), Humpheh/goboy#20.`

// lookups selects the rows in which a line looks up, sets or deletes a key.
func lookups(s *site.Site) rule.Match {
	return finder.TakeCalls(s, "runtime.mapaccess*", "runtime.mapassign*", "runtime.mapdelete*")
}

func judge(c *finder.Case) bool {
	p := c.Place
	value, _ := stacks.Sum(c.CPU)
	share := float64(value) * 1e-9 / max(c.Pass.Table.Totals.TotalSeconds, 1e-9)
	if share < leastShare {
		return false
	}
	for _, x := range indexed(p) {
		m := p.TypeOf(x.X).Underlying().(*types.Map)
		keys, instead, ok := table(p, x.X)
		if !ok {
			keys, instead, ok = array(p, m.Key(), x.Index)
		}
		if !ok {
			continue
		}
		c.Allocs, c.Live = nil, nil // what is stored is allocated all the same
		c.Confidence = rule.Likely
		c.Cause = fmt.Sprintf("%s is looked up by %s: hashing the key and searching the map take %s of CPU, where an array or a slice needs one load.",
			syntax.Text(x.X), keys, units.Percent(share))
		c.Fix = instead
		return true
	}
	return false
}

// indexed returns the map lookups on the line.
func indexed(p *gocode.Place) (found []*ast.IndexExpr) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		x, ok := n.(*ast.IndexExpr)
		if !ok || syntax.Line(p, x.Pos()) != p.Line {
			return true
		}
		if t := p.TypeOf(x.X); t != nil {
			if _, ok := t.Underlying().(*types.Map); ok {
				found = append(found, x)
			}
		}
		return true
	})
	return found
}

// forPlaces is the advice for coordinates.
const forPlaces = "If the coordinates have bounds, use a slice indexed by y*width+x (add a margin around it, and neighbours need no check). If not, pack them into one uint64 as the key."

// array returns what the keys of a map are, and the advice, if an array could take its place.
func array(p *gocode.Place, key types.Type, index ast.Expr) (keys, instead string, ok bool) {
	switch t := key.Underlying().(type) {
	case *types.Basic:
		switch {
		case t.Kind() == types.Uint8 || t.Kind() == types.Int8:
			return "bytes", "Use an array with 256 elements, indexed by the byte.", true
		case t.Info()&types.IsInteger == 0:
			return "", "", false
		}
		if n := constants(key); n > 0 {
			name := types.TypeString(key, types.RelativeTo(p.Pkg))
			return "constants of " + name, fmt.Sprintf("Use an array with %d elements, indexed by the constants of %s.", n, name), true
		}
		if fromByte(p, index) {
			return "bytes", "Use an array with 256 elements, indexed by the byte.", true
		}
		if key == types.Universe.Lookup("rune").Type() || t.Kind() == types.Int32 && ranged(p, index) == letters {
			return "letters", "Use an array with 128 elements for the letters of ASCII, and the map for all others.", true
		}
		if ranged(p, index) == numbers {
			return "the index of a loop", "Use a slice, indexed by the same number.", true
		}
	case *types.Struct:
		if coordinates(t) && (axes(t) || moved(p, index)) {
			return "coordinates", forPlaces, true
		}
	case *types.Array:
		if b, ok := t.Elem().Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 && t.Len() >= 2 && t.Len() <= 3 && b.Kind() != types.Uint8 && moved(p, index) {
			return "coordinates", forPlaces, true
		}
	}
	return "", "", false
}

// constants returns how many elements an array for all constants of an enumeration needs: a named
// integer type with several constants, all of them small. It is 0 for other types.
func constants(t types.Type) int64 {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return 0
	}
	scope, n, largest := named.Obj().Pkg().Scope(), 0, int64(0)
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if !ok || !types.Identical(c.Type(), t) {
			continue
		}
		v, exact := constant.Int64Val(constant.ToInt(c.Val()))
		if !exact || v < 0 || v > largestConst {
			return 0
		}
		n, largest = n+1, max(largest, v)
	}
	if n < 3 {
		return 0
	}
	return largest + 1
}

// fromByte reports whether an index is a byte that was converted to another type.
func fromByte(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	if _, ok := p.Conversion(call); !ok {
		return false
	}
	b, ok := p.TypeOf(call.Args[0]).Underlying().(*types.Basic)
	return ok && b.Kind() == types.Uint8
}

// What a range loop steps through.
const (
	nothing = iota
	numbers // the indexes of a slice, or the numbers below one
	letters // of a string
)

// ranged returns what an index counts, if it is the variable of a range loop around the line.
func ranged(p *gocode.Place, e ast.Expr) int {
	v := syntax.LocalVar(p, e)
	if v == nil {
		return nothing
	}
	what := nothing
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		if !ok {
			return true
		}
		text, isString := p.TypeOf(r.X).Underlying().(*types.Basic)
		switch {
		case is(p, r.Value, v) && isString && text.Info()&types.IsString != 0:
			what = letters
		case is(p, r.Key, v) && (!isString || text.Info()&types.IsInteger != 0):
			if _, m := p.TypeOf(r.X).Underlying().(*types.Map); !m {
				what = numbers
			}
		}
		return true
	})
	return what
}

func is(p *gocode.Place, e ast.Expr, v *types.Var) bool {
	id, ok := e.(*ast.Ident)
	return ok && p.Object(id) == v
}

// coordinates reports whether a struct is two or three integers of one type and nothing else.
func coordinates(t *types.Struct) bool {
	if t.NumFields() < 2 || t.NumFields() > 3 {
		return false
	}
	for i := range t.NumFields() {
		b, ok := t.Field(i).Type().Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsInteger == 0 || t.Field(i).Type() != t.Field(0).Type() {
			return false
		}
	}
	return true
}

// axes reports whether the fields of a struct have the names of coordinates.
func axes(t *types.Struct) bool {
	names := strings.ToLower(t.Field(0).Name() + " " + t.Field(1).Name())
	return slices.Contains([]string{"x y", "y x", "row col", "row column", "col row", "r c", "i j"}, names)
}

// moved reports whether the function computes a key from another by adding to its parts: the keys
// are places, not pairs of names.
func moved(p *gocode.Place, index ast.Expr) bool {
	key := p.TypeOf(index)
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if !types.Identical(p.TypeOf(n), key) {
				return true
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Value
				}
				b, ok := ast.Unparen(e).(*ast.BinaryExpr)
				found = found || ok && (b.Op == token.ADD || b.Op == token.SUB)
			}
		case *ast.CallExpr: // p.add(q), of the program or of package image
			sel, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && len(n.Args) > 0 && p.TypeOf(n) != nil && types.Identical(p.TypeOf(n), key) && types.Identical(p.TypeOf(sel.X), key)
		}
		return !found
	})
	return found
}
