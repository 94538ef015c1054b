// Package literalpercall finds tables of constants that are built on every call.
package literalpercall

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
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

// readers are functions that only read a map or slice.
var readers = []string{
	"len", "slices.Contains", "slices.Index", "slices.BinarySearch", "slices.Equal", "slices.Max", "slices.Min",
	"maps.Equal", "strings.Join",
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
constants.

Move the table to a package variable, or write a switch, which the compiler
turns into a binary search or a jump table.

It is fine when the map is changed afterwards, or passed to a function that may
change it; the rule reports only tables that the function just reads.

Seen in the field: jeduden/mdsmith#654.`

func take(s *site.Site) rule.Match {
	m := finder.TakeOwn(s)
	m.CPU = stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, building...) })
	return m
}

// entries adds the rows of the literal's other lines.
func entries(p *rule.Pass, place *gocode.Place, lit *ast.CompositeLit, m *rule.Match) {
	from, to := syntax.Line(place, lit.Lbrace), syntax.Line(place, lit.Rbrace)
	for _, s := range p.Table.Sites {
		if s.File == m.Site.File && s.Function == m.Site.Function && from < s.Line && s.Line < to {
			part := take(s)
			m.CPU = append(m.CPU, part.CPU...)
			m.Allocs = append(m.Allocs, part.Allocs...)
			m.Live = append(m.Live, part.Live...)
		}
	}
}

func judge(c *finder.Case) bool {
	lit, ok := guilty(c.Pass.Syntax, c.Place, c.Match)
	if ok {
		entries(c.Pass, c.Place, lit, c.Match)
	}
	return ok
}

func guilty(s *gocode.Syntax, p *gocode.Place, m *rule.Match) (*ast.CompositeLit, bool) {
	for _, n := range p.Nodes {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || !table(p, lit) {
			continue
		}
		if len(lit.Elts) == 0 || !constant(p, lit) || !loops.PerCall(p, lit) || !onlyRead(p, lit) && !returned(s, p, lit) || !alone(p, lit) {
			return nil, false
		}
		if syntax.Line(p, lit.Lbrace) != p.Line {
			return nil, false // an entry, whose rows count for the line of the brace
		}
		kind := "slice"
		if _, ok := p.TypeOf(lit).Underlying().(*types.Map); ok {
			kind = "map"
		}
		readers := "and only reads it"
		if _, ok := syntax.Parent(p, lit).(*ast.ReturnStmt); ok {
			readers = "for callers that only read it"
		}
		m.Cause = fmt.Sprintf("%s builds the same %s of %d constant entries on every call %s.", syntax.FuncName(p), kind, len(lit.Elts), readers)
		m.Fix = fmt.Sprintf("Move the %s to a package variable, or write a switch.", kind)
		return lit, true
	}
	return nil, false
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

// constant reports whether all entries of a literal are constants, or literals of constants.
func constant(p *gocode.Place, lit *ast.CompositeLit) bool {
	is := func(e ast.Expr) bool {
		if inner, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
			return constant(p, inner)
		}
		if _, ok := p.Const(e); ok {
			return true
		}
		tv, ok := p.Info.Types[e]
		return ok && tv.IsNil() || declared(p, e)
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if _, structure := p.TypeOf(lit).Underlying().(*types.Struct); !structure && !is(kv.Key) {
				return false
			}
			e = kv.Value
		}
		if !is(e) {
			return false
		}
	}
	return true
}

// declared reports whether an expression names a function, or a package variable that nothing sets.
func declared(p *gocode.Place, e ast.Expr) bool {
	var id *ast.Ident
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr: // package.Func; a method value has its receiver bound
		if p.Info.Selections[x] == nil {
			id = x.Sel
		}
	}
	if id == nil {
		return false
	}
	if v, ok := p.Object(id).(*types.Var); ok {
		return p.Initial(v) != nil
	}
	_, function := p.Object(id).(*types.Func)
	return function
}

// onlyRead reports whether the function only reads the table.
func onlyRead(p *gocode.Place, lit ast.Expr) bool {
	if reads(p, lit) {
		return true
	}
	to := syntax.AssignedTo(p, lit)
	if to == nil {
		return false
	}
	v := syntax.LocalVar(p, to)
	if v == nil || len(syntax.Assigned(p, v)) != 1 {
		return false
	}
	uses := syntax.Reads(p, v)
	for _, use := range uses {
		if !reads(p.Outer(), use) {
			return false
		}
	}
	return len(uses) > 0
}

// returned reports whether the function returns the table to callers that only read it.
func returned(s *gocode.Syntax, p *gocode.Place, lit ast.Expr) bool {
	ret, ok := syntax.Parent(p, lit).(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 || p.Func != p.Decl || s == nil {
		return false
	}
	self := p.Info.Defs[p.Decl.Name]
	calls, uses := 0, 0
	for _, obj := range p.Info.Uses {
		if obj == self {
			uses++
		}
	}
	for _, in := range s.Calls(func(fn *types.Func) bool { return fn == self }) {
		for _, call := range in.Calls() {
			if in.Callee(call) != self {
				continue
			}
			if calls++; !onlyRead(in, call) {
				return false
			}
		}
	}
	return calls > 0 && calls >= uses // else it is a value somewhere
}

// reads reports whether a use of a table or of one of its elements only reads it.
func reads(p *gocode.Place, e ast.Expr) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.IndexExpr:
		return ast.Unparen(n.X) == e && !changed(p, n) && flat(p.TypeOf(n))
	case *ast.RangeStmt:
		return ast.Unparen(n.X) == e && (n.Value == nil || flat(p.TypeOf(n.Value)))
	case *ast.CallExpr:
		return funcname.Match(p.CalleeName(n), readers...)
	}
	return false
}

// changed reports whether an element is assigned to, or its address is taken.
func changed(p *gocode.Place, elem ast.Expr) bool {
	switch n := syntax.Parent(p, elem).(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if ast.Unparen(lhs) == elem {
				return true
			}
		}
	case *ast.IncDecStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.AND
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.SliceExpr:
		return changed(p, n.(ast.Expr))
	}
	return false
}

// flat reports whether values of a type contain no references through which they could be changed.
func flat(t types.Type) bool {
	if t == nil {
		return true // the blank identifier
	}
	if tuple, ok := t.(*types.Tuple); ok { // v, ok
		return tuple.Len() > 0 && flat(tuple.At(0).Type())
	}
	_, function := t.Underlying().(*types.Signature)
	return function || syntax.PlainData(t)
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
