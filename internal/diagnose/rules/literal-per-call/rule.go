// Package literalpercall finds tables of constants that are built on every call.
package literalpercall

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// building are the runtime's functions that build a literal.
var building = []string{
	"runtime.mapassign*", "runtime.makemap*", "runtime.mapinit*", "runtime.newobject", "runtime.malloc*", "runtime.rand*",
	"internal/runtime/maps.NewMap*", "internal/runtime/maps.NewEmptyMap", "internal/runtime/maps.rand",
}

// Rule is literal-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "literal-per-call",
		Kind:  rule.Alloc,
		Title: "Table of constants built on every call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes:     true,
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.9, High: 1}, // a package variable is built once
				Specificity: 1,
			},
			Start: finder.Rows(take),
			Judge: judge,
		},
	}
}

const doc = `A map literal in a function is built each time it is evaluated: that takes
memory for the table, and a hash and a store for each entry, to look up one key
and discard the map. The compiler does not keep it, even if all entries are
constants. So is a map that is made empty, and then gets constants one by one.

Move the table to a package variable, or write a switch, which the compiler
turns into a binary search or a jump table.

The entries of a table of functions that use variables of the function around
them differ on every call: write a switch, or let them take these as parameters.
Entries may also be functions that use none, and what functions make of
constants, such as a list of built-in functions. A map that is kept in a field
to which a few entries are added, and one that is copied into another map,
repeat all others for each object: share one map, and look a key up in a small
map of the object first.

It is fine when the map is changed afterwards, or passed to a function that may
change it; the rule reports only tables that are just read, copied, or kept in a
field whose entries are looked up or set one by one.

Seen in the field: jeduden/mdsmith#654, bebop/poly#273.`

func take(s *site.Site) rule.Match {
	m := finder.TakeOwn(s)
	m.CPU = stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, building...) })
	return m
}

// add adds the rows of other lines: of the literal's entries, also in what they call, and of
// statements that copy the table.
func (l lines) add(p *rule.Pass, m *rule.Match) {
	in := func(f *site.Frame) bool {
		return f.File == l.file && f.Function == l.function && l.from <= f.Line && f.Line <= l.to
	}
	below := func(r *site.Row) bool {
		return r.Owner >= 0 && r.Owner < len(r.Stack) && slices.ContainsFunc(r.Stack[r.Owner:], in)
	}
	for _, s := range p.Table.Sites {
		if s == m.Site {
			continue
		}
		part := finder.Take(s, below)
		if in(&s.Frame) {
			part = take(s)
		}
		m.CPU = append(m.CPU, part.CPU...)
		m.Allocs = append(m.Allocs, part.Allocs...)
		m.Live = append(m.Live, part.Live...)
	}
}

// growth are the runtime's functions in which a map grows.
var growth = []string{
	"internal/runtime/maps.(*table).grow", "internal/runtime/maps.(*table).rehash", "internal/runtime/maps.(*table).split",
	"internal/runtime/maps.(*Map).growToTable", "internal/runtime/maps.(*Map).growToSmall",
}

// addGrowth adds the rows in which a line lets the map grow: it would hold only the added entries.
func (l lines) addGrowth(p *rule.Pass, m *rule.Match) {
	grows := func(r *site.Row) bool { return slices.ContainsFunc(growth, r.Below) }
	for _, s := range p.Table.Sites {
		if s == m.Site || s.File != l.file || s.Function != l.function || s.Line < l.from || s.Line > l.to {
			continue
		}
		m.CPU = append(m.CPU, stacks.Select(s.CPU, grows)...)
		m.Allocs = append(m.Allocs, stacks.Select(s.Allocs, stacks.Leaf)...)
	}
}

func judge(c *finder.Case) bool {
	for _, n := range c.Place.Nodes {
		if lit, ok := n.(*ast.CompositeLit); ok && table(c.Place, lit) {
			return guilty(c, lit)
		}
	}
	return filled(c)
}

// leastAdded is the minimum number of entries of a map that further ones are added to.
const leastAdded = 8

func guilty(c *finder.Case, lit *ast.CompositeLit) bool {
	s, p := c.Pass.Syntax, c.Place
	fixed := constant(s, p, lit)
	if len(lit.Elts) == 0 || !fixed && !dispatches(p, lit) || !loops.PerCall(p, lit) || !alone(p, lit) {
		return false
	}
	u := &use{syntax: s, seen: map[types.Object]bool{}}
	if !u.onlyRead(p, lit) && !u.returned(p, lit) || u.adds && len(lit.Elts) < leastAdded {
		return false
	}
	if syntax.Line(p, lit.Lbrace) != p.Line {
		return false // an entry, whose rows count for the line of the brace
	}
	kind := "slice"
	if syntax.IsMap(p.TypeOf(lit)) {
		kind = "map"
	}
	if !fixed && (u.field != nil || u.ranged || len(u.copies) > 0) {
		return false
	}
	u.describe(c, kind, len(lit.Elts), lit)
	if !fixed {
		describeDispatch(c, len(lit.Elts))
	}
	lines{c.Site.File, c.Site.Function, syntax.Line(p, lit.Lbrace) + 1, syntax.Line(p, lit.Rbrace) - 1}.add(c.Pass, c.Match)
	for _, l := range u.copies {
		l.add(c.Pass, c.Match)
	}
	for _, l := range u.grown {
		l.addGrowth(c.Pass, c.Match)
	}
	return true
}

// describe fills in cause and fix.
func (u *use) describe(c *finder.Case, kind string, entries int, lit ast.Expr) {
	how := "and only reads it"
	if _, ok := syntax.Parent(c.Place, lit).(*ast.ReturnStmt); ok {
		how = "for callers that only read it"
	}
	c.Fix = fmt.Sprintf("Move the %s to a package variable, or write a switch.", kind)
	const once = "Create the map once, in a package variable or with sync.OnceValue"
	switch {
	case u.adds:
		how = fmt.Sprintf("to keep it in %s, where a few entries are added", u.field.Name())
		c.Fix = once + ", and share it: keep only the added entries in " + u.field.Name() + ", and look a key up there first, then in the shared map."
		c.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.5, High: 0.97}
	case len(u.copies) > 0:
		how = fmt.Sprintf("and line %d copies it, entry by entry", u.copies[0].from)
		c.Fix = once + ". Do not copy it either if the copy is only read, or gets a few more entries: keep those in a map of their own, and look a key up there first, then in the shared map. maps.Clone costs less than a loop."
		c.Fraction = &rule.Fraction{Expect: 0.8, Low: 0.4, High: 0.97}
	case u.field != nil:
		how = fmt.Sprintf("to keep it in %s, where it is only read", u.field.Name())
		c.Fix = fmt.Sprintf("Create the %s once, in a package variable or with sync.OnceValue, and share it.", kind)
	}
	c.Cause = fmt.Sprintf("%s builds the same %s of %d constant entries on every call %s.", syntax.FuncName(c.Place), kind, entries, how)
}

// table reports whether a literal is a map or a slice.
func table(p *gocode.Place, lit *ast.CompositeLit) bool {
	t := p.TypeOf(lit)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Map, *types.Slice:
		return true
	}
	return false
}

// alone reports whether nothing else allocates on the line.
func alone(p *gocode.Place, lit *ast.CompositeLit) bool {
	var ours []ast.Node
	ast.Inspect(lit, func(n ast.Node) bool {
		if n != nil {
			ours = append(ours, n)
		}
		return true
	})
	if parent, ok := syntax.Parent(p, lit).(*ast.CallExpr); ok {
		ours = append(ours, parent)
	}
	return syntax.AllocatesOnly(p, ours...)
}
