package used

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// key is a local variable or a part of it: a field (".F") or its length ("#").
type key struct {
	v    *types.Var
	part string
}

const (
	length  = "#"
	element = "@" // nobody needs only one
)

// step is a statement without those in it.
type step struct {
	node    ast.Node
	around  []ast.Node // statements with a body around it
	targets []key      // what it sets; a statement without targets is needed
	needed  bool       // it has side effects
}

// needs finds what the used parts of the results, and the side effects of a function, depend on.
type needs struct {
	syntax *gocode.Syntax
	place  *gocode.Place
	parts  []Part
	steps  []*step
	keys   map[key]bool
	live   map[ast.Node]bool // statements
	idle   map[ast.Node]bool // expressions in live statements
	// elements are the expressions for elements of lists and maps that are not needed.
	elements map[ast.Node]bool
}

// solve adds what is needed until nothing changes.
func (n *needs) solve() {
	for before := -1; before != len(n.keys)+len(n.live); {
		before = len(n.keys) + len(n.live)
		clear(n.idle)
		clear(n.elements)
		for _, st := range n.steps {
			if st.needed || n.wants(st) {
				n.add(st)
			}
		}
	}
}

// wants reports whether a step computes something that is needed.
func (n *needs) wants(st *step) bool {
	if b, ok := st.node.(*ast.BranchStmt); ok {
		return n.leavesLive(st, b)
	}
	for _, t := range st.targets {
		if n.keys[key{t.v, ""}] || n.keys[t] || t.part == "" && n.any(t.v) {
			return true
		}
	}
	return false
}

// any reports whether a part of a variable is needed.
func (n *needs) any(v *types.Var) bool {
	for k := range n.keys {
		if k.v == v {
			return true
		}
	}
	return false
}

// leavesLive reports whether break or continue is in a loop or switch that does something.
func (n *needs) leavesLive(st *step, b *ast.BranchStmt) bool {
	for _, x := range st.around {
		switch x.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if n.live[x] {
				return true
			}
			if b.Label == nil {
				return false
			}
		}
	}
	return false
}

// add adds a step, what it reads, and the statements around it.
func (n *needs) add(st *step) {
	n.live[st.node] = true
	for _, x := range st.around {
		n.live[x] = true
	}
	switch s := st.node.(type) {
	case *ast.ReturnStmt:
		n.returns(s)
	case *ast.AssignStmt:
		if st.needed || len(s.Lhs) != len(s.Rhs) {
			n.whole(s.Lhs, s.Rhs)
			return
		}
		for i, lhs := range s.Lhs {
			if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
				n.read(lhs)
			}
			n.sets(lhs, s.Rhs[i])
		}
	case *ast.ValueSpec:
		if st.needed || len(s.Names) != len(s.Values) {
			n.whole(nil, s.Values)
			return
		}
		for i, id := range s.Names {
			n.sets(id, s.Values[i])
		}
	default:
		for _, part := range heads(s) {
			n.read(part)
		}
	}
}

// whole adds what an assignment is computed from, and what it sets a part of.
func (n *needs) whole(lhs, values []ast.Expr) {
	for _, e := range lhs {
		if syntax.LocalVar(n.place, e) == nil {
			n.read(e)
		}
	}
	for _, e := range values {
		n.read(e)
	}
}

// sets adds what the value that an assignment sets is computed from, as far as it is needed.
func (n *needs) sets(lhs, value ast.Expr) {
	k, through := n.target(lhs)
	if k.v == nil {
		n.read(lhs)
		n.read(value)
		return
	}
	if !n.keys[k] && !n.keys[key{k.v, ""}] && !n.any(k.v) {
		return // another one of the statement is needed
	}
	n.index(lhs)
	if n.keys[key{k.v, ""}] || through && k.part != length || k.part != "" && k.part != length {
		n.read(value)
		return
	}
	if through { // m[k] = value, and only the length of m is needed
		n.element(value)
		return
	}
	n.value(value, n.partOf(k.v))
}

// partOf returns which parts of a variable are needed.
func (n *needs) partOf(v *types.Var) (u Part) {
	for k := range n.keys {
		switch {
		case k.v != v:
		case k.part == "":
			u.Whole = true
		case k.part == length:
			u.Length = true
		default:
			u.add(Part{Fields: []string{k.part[1:]}})
		}
	}
	return u
}

// returns adds what the results of a return statement are computed from, as far as they are used.
func (n *needs) returns(s *ast.ReturnStmt) {
	results := syntax.SignatureOf(n.place).Results()
	switch {
	case len(s.Results) == 0:
		for i := range results.Len() {
			n.variable(results.At(i), n.parts[i])
		}
	case len(s.Results) != len(n.parts):
		n.read(s)
	default:
		for i, e := range s.Results {
			n.value(e, n.parts[i])
		}
	}
}

// variable adds the used parts of a variable.
func (n *needs) variable(v *types.Var, u Part) {
	if u.Whole || u.Tested {
		n.keys[key{v, ""}] = true
	}
	if u.Length || len(u.Keys) > 0 {
		n.keys[key{v, length}] = true
	}
	for _, f := range u.Fields {
		n.keys[key{v, "." + f}] = true
	}
}

// value adds what the used parts of the value of an expression are computed from.
func (n *needs) value(e ast.Expr, u Part) {
	if u.Whole || !n.harmless(e) {
		n.read(e)
		return
	}
	if u.None() {
		n.drop(e)
		return
	}
	x := ast.Unparen(e)
	if ref, ok := x.(*ast.UnaryExpr); ok && ref.Op == token.AND {
		x = ast.Unparen(ref.X)
	}
	switch x := x.(type) {
	case *ast.Ident:
		if v := syntax.LocalVar(n.place, x); v != nil {
			n.variable(v, u)
		}
	case *ast.CompositeLit:
		n.literal(x, u)
	case *ast.CallExpr:
		if n.place.CalleeName(x) == "append" && !x.Ellipsis.IsValid() && len(u.Fields) == 0 {
			n.value(x.Args[0], u)
			for _, arg := range x.Args[1:] {
				n.element(arg)
			}
			return
		}
		n.read(x)
	default:
		n.read(x)
	}
}

// literal adds what the used parts of a composite literal are computed from.
func (n *needs) literal(lit *ast.CompositeLit, u Part) {
	_, fields := n.place.TypeOf(lit).Underlying().(*types.Struct)
	for _, e := range lit.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		switch {
		case fields && !keyed:
			n.read(e)
		case fields:
			if id, ok := kv.Key.(*ast.Ident); ok && slices.Contains(u.Fields, id.Name) {
				n.read(kv.Value)
			} else {
				n.drop(kv.Value)
			}
		case keyed:
			n.read(kv.Key)
			n.element(kv.Value)
		default:
			n.element(e)
		}
	}
}

// drop notes an expression whose value is not needed.
func (n *needs) drop(e ast.Expr) {
	if !n.harmless(e) {
		n.read(e)
		return
	}
	n.idle[e] = true
}

// element is drop for an element of a list or map.
func (n *needs) element(e ast.Expr) {
	n.drop(e)
	n.elements[e] = true
}

// index adds what chooses the element that an assignment sets.
func (n *needs) index(lhs ast.Expr) {
	for {
		switch x := ast.Unparen(lhs).(type) {
		case *ast.IndexExpr:
			n.read(x.Index)
			lhs = x.X
		case *ast.SelectorExpr:
			lhs = x.X
		case *ast.StarExpr:
			lhs = x.X
		default:
			return
		}
	}
}

// read adds all that a node mentions.
func (n *needs) read(node ast.Node) {
	p := n.place
	ast.Inspect(node, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.CallExpr:
			if v := countedVar(p, x); v != nil {
				n.keys[key{v, length}] = true
				return false
			}
		case *ast.SelectorExpr:
			if k, ok := fieldOf(p, x); ok {
				n.keys[k] = true
				return false
			}
		case *ast.Ident:
			if v, ok := p.Object(x).(*types.Var); ok && syntax.Local(p, v) {
				n.keys[key{v, ""}] = true
			}
		}
		return true
	})
}

// countedVar returns the local list or map whose length a call is; nil for other calls.
func countedVar(p *gocode.Place, call *ast.CallExpr) *types.Var {
	if p.CalleeName(call) != "len" || syntax.IsString(p, call.Args[0]) {
		return nil
	}
	v := syntax.LocalVar(p, call.Args[0])
	if v == nil || !syntax.Local(p, v) {
		return nil
	}
	return v
}

// fieldOf returns the field of a local variable that a selector is.
func fieldOf(p *gocode.Place, sel *ast.SelectorExpr) (key, bool) {
	s := p.Info.Selections[sel]
	v := syntax.LocalVar(p, sel.X)
	if s == nil || s.Kind() != types.FieldVal || len(s.Index()) != 1 || v == nil || !syntax.Local(p, v) {
		return key{}, false
	}
	return key{v, "." + s.Obj().Name()}, true
}
