package used

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Idle is the code of a function that computes nothing else than what is not used.
type Idle struct {
	Nodes []ast.Node // statements and expressions
	// Elements are the expressions of which each makes an element of a list or map that is not used
	// as such.
	Elements []Access

	place *gocode.Place
	lines map[int]bool // that have a part of them
	live  map[int]bool // that have other code
}

// Of returns the code of a function that is idle if only some parts of its results are used. The
// elements of a map that is used by its keys count as not used: see [Part.Keys]. It returns nil for
// none.
func Of(s *gocode.Syntax, p *gocode.Place, parts []Part) *Idle {
	if p.Decl == nil || p.Decl.Body == nil || syntax.SignatureOf(p) == nil || syntax.SignatureOf(p).Results().Len() != len(parts) {
		return nil
	}
	n := &needs{syntax: s, place: p, parts: parts, keys: map[key]bool{}, live: map[ast.Node]bool{}, idle: map[ast.Node]bool{}, elements: map[ast.Node]bool{}}
	n.collect()
	n.solve()
	idle := &Idle{place: p, lines: map[int]bool{}, live: map[int]bool{}}
	for _, st := range n.steps {
		if n.live[st.node] {
			idle.mark(n, st.node)
			continue
		}
		idle.Nodes = append(idle.Nodes, st.node)
		idle.note(st.node, idle.lines)
	}
	if len(idle.Nodes) == 0 {
		return nil
	}
	for e := range n.elements {
		idle.Elements = append(idle.Elements, Access{p, e})
	}
	return idle
}

// mark notes the lines of a live statement, and the expressions in it that are idle.
func (i *Idle) mark(n *needs, node ast.Node) {
	for _, part := range heads(node) {
		ast.Inspect(part, func(x ast.Node) bool {
			if x == nil {
				return false
			}
			if n.idle[x] {
				i.Nodes = append(i.Nodes, x)
				i.note(x, i.lines)
				return false
			}
			i.live[syntax.Line(i.place, x.Pos())] = true
			return true
		})
	}
}

// note notes the lines of an idle node. Of a statement with a body, these are the lines of its
// head: those in the body have their own.
func (i *Idle) note(node ast.Node, lines map[int]bool) {
	for _, part := range heads(node) {
		for line := syntax.Line(i.place, part.Pos()); line <= syntax.Line(i.place, part.End()); line++ {
			lines[line] = true
		}
	}
}

// heads returns the parts of a statement outside of its body.
func heads(node ast.Node) (parts []ast.Node) {
	add := func(n ast.Node, ok bool) {
		if ok {
			parts = append(parts, n)
		}
	}
	switch s := node.(type) {
	case *ast.IfStmt:
		add(s.Cond, true)
	case *ast.ForStmt:
		add(s.Cond, s.Cond != nil)
	case *ast.RangeStmt:
		add(s.X, true)
	case *ast.SwitchStmt:
		add(s.Tag, s.Tag != nil)
		parts = append(parts, cases(s.Body)...)
	case *ast.TypeSwitchStmt:
		add(s.Assign, true)
	default:
		add(node, true)
	}
	return parts
}

// cases returns the expressions of the cases of a switch.
func cases(body *ast.BlockStmt) (all []ast.Node) {
	for _, c := range body.List {
		if c, ok := c.(*ast.CaseClause); ok {
			for _, e := range c.List {
				all = append(all, e)
			}
		}
	}
	return all
}

// Has reports whether what the function does on a line is idle: the calls of a function, given as a
// profile names it, or for one that the line does not call, everything.
func (i *Idle) Has(line *gocode.Place, callee string) bool {
	calls := syntax.CallsTo(line, callee)
	for _, call := range calls {
		if !i.inside(call) {
			return false
		}
	}
	return len(calls) > 0 || i.lines[line.Line] && !i.live[line.Line]
}

func (i *Idle) inside(n ast.Node) bool {
	for _, x := range i.Nodes {
		if syntax.Within(x, n) && !heading(x, n) {
			return true
		}
	}
	return false
}

// heading reports whether an idle statement has a node in its body, whose statements are judged on
// their own.
func heading(stmt, n ast.Node) bool {
	for _, part := range heads(stmt) {
		if syntax.Within(part, n) {
			return false
		}
	}
	return true
}
