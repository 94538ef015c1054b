package wholeperchange

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// mostLevels is the number of functions from the one that copies a collection to the one that
// stores the copy where the original is.
const mostLevels = 4

// clone is a copy of a collection, which may be part of a state that is copied with it.
type clone struct {
	place    *gocode.Place
	by       ast.Node // the call or loop that copies the elements
	from     ast.Expr
	elements float64 // of each copy; 0 if the allocations show it
	copies   float64 // for each unit of work
}

// cloneAt returns the copy that a line makes; nil for none.
func (s *search) cloneAt(f *site.Frame, p *gocode.Place) *clone {
	if p.Decl == nil {
		return nil
	}
	c := &clone{place: p}
	for _, call := range syntax.Calls(p) {
		if from := cloned(p, call); from != nil {
			e, _ := evidence.ExecutionsAt(s.pass, p, call.Pos())
			c.by, c.from, c.copies = call, from, e.PerUnit
			return c
		}
	}
	loop := filling(p)
	if loop == nil {
		return nil
	}
	l, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
	if !ok || l.Iterations < leastElements {
		return nil
	}
	c.by, c.from, c.elements, c.copies = loop, loop.X, l.Iterations, l.Entries
	return c
}

// filling returns the loop of a function that copies a collection, if the place's line is in it, or
// makes the new collection; nil for none.
func filling(p *gocode.Place) (found *ast.RangeStmt) {
	var made []*types.Var
	for _, call := range syntax.Calls(p) {
		if p.CalleeName(call) == "make" {
			next, _ := destination(p, call)
			made = append(made, next)
		}
	}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || !copies(p, loop) {
			return found == nil
		}
		to, _ := syntax.Var(p, copiedTo(p, loop))
		if syntax.Line(p, loop.Pos()) <= p.Line && p.Line <= syntax.Line(p, loop.End()) || to != nil && slices.Contains(made, to) {
			found = loop
		}
		return found == nil
	})
	return found
}

// copies reports whether all that a loop does is to set to[k] to the element k.
func copies(p *gocode.Place, loop *ast.RangeStmt) bool { return copiedTo(p, loop) != nil }

// published is a copy that is changed and then stored where the original is.
type published struct {
	by      string     // the function that stores it
	at      string     // its line
	holder  *types.Var // the field or variable that has the original
	changes float64    // for each unit of work
}

// publishes follows a copy up a stack, whose first frame makes it, to the function that stores it
// where the original is; nil if none does, or if it is not clear how many elements change before.
func (s *search) publishes(c *clone, stack []*site.Frame) *published {
	p, made, from := c.place, c.by, c.from
	w := &edits{search: s, clone: c}
	for level := 0; level < mostLevels && level < len(stack); level++ {
		w.above = stack[level+1:]
		next, returned := destination(p, made)
		if next != nil {
			w.of(p, next, mostLevels)
		}
		holder := holderOf(p, from, 4)
		if w.unclear || holder == nil && level+1 == len(stack) {
			return nil
		}
		if holder != nil && publishedBy(p, made, next, holder) {
			f := stack[level]
			return &published{by: syntax.FuncName(p), at: fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line), holder: holder, changes: w.most}
		}
		root, _ := syntax.Var(p, from)
		if !returned || root == nil || !syntax.Param(p, root) || level+1 >= len(stack) {
			return nil
		}
		up := s.pass.Place(&site.Site{Frame: *stack[level+1]})
		if up == nil || up.Decl == nil {
			return nil
		}
		made = nil
		for _, call := range syntax.CallsTo(up, stack[level].Function) {
			if from = given(p, call, root); from != nil {
				made = call
				break
			}
		}
		if made == nil {
			return nil
		}
		p = up
	}
	return nil
}

// destination returns the local variable that has a copy, itself or in a field, nil for none; and
// whether the function returns the copy.
func destination(p *gocode.Place, made ast.Node) (next *types.Var, returned bool) {
	if loop, ok := made.(*ast.RangeStmt); ok {
		next, _ = syntax.Var(p, copiedTo(p, loop))
	}
	for n := made; n != nil && next == nil; n = syntax.Parent(p, n) {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			return nil, true
		case ast.Expr:
			if to := syntax.AssignedTo(p, n); to != nil {
				next, _ = syntax.Var(p, to)
			}
		case ast.Stmt:
			return nil, false
		}
	}
	if next == nil || next.Parent() == p.Pkg.Scope() {
		return nil, false
	}
	copy := &copied{next: next, made: &ast.CallExpr{Lparen: made.Pos(), Fun: &ast.Ident{NamePos: made.Pos()}}}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			returned = returned || copy.in(p, r.Results[0])
		}
		return !returned
	})
	return next, returned
}

// publishedBy reports whether a function stores a copy, or the variable that has it, in holder.
func publishedBy(p *gocode.Place, made ast.Node, next, holder *types.Var) bool {
	has := func(e ast.Expr) bool {
		if syntax.Within(e, made) {
			return true
		}
		copy := &copied{next: next, made: &ast.CallExpr{Fun: &ast.Ident{NamePos: made.Pos()}}}
		return next != nil && copy.in(p, e)
	}
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if stores(p, n, holder) {
				for _, arg := range n.Args {
					found = found || has(arg)
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				found = found || syntax.Named(p, lhs) == holder && syntax.LocalVar(p, lhs) == nil && !own(p, lhs, next) && has(n.Rhs[min(i, len(n.Rhs)-1)])
			}
		}
		return !found
	})
	return found
}

// own reports whether an expression is a part of the copy.
func own(p *gocode.Place, e ast.Expr, next *types.Var) bool {
	v, _ := syntax.Var(p, e)
	return next != nil && v == next
}

// way returns how the copy that the first frame of a stack makes is published; nil if it is not.
func (s *search) way(c *clone, stack []*site.Frame) *published {
	key := ""
	for _, f := range stack[:min(len(stack), mostLevels+1)] {
		key += fmt.Sprintf("%s:%d ", f.File, f.Line)
	}
	found, seen := s.ways[key]
	if !seen {
		found = s.publishes(c, stack)
		s.ways[key] = found
	}
	return found
}

// published returns how the copies of a site's rows are published, with the share of them that are.
func (c *clone) published(s *search, at *site.Site, rows []*site.Row) (way *published, share float64) {
	var all, fine int64
	for _, r := range rows {
		all += r.Value
		for i, f := range r.Stack {
			if f.File != at.File || f.Line != at.Line {
				continue
			}
			if found := s.way(c, r.Stack[i:]); found != nil {
				way, fine = found, fine+r.Value
			}
			break
		}
	}
	return way, float64(fine) / float64(max(1, all))
}

// describe fills in a match; it reports false if the copies are small or few, if most are not
// published, or after many changes.
func (c *clone) describe(s *search, m *finder.Case) bool {
	rows := m.Allocs
	if len(rows) == 0 {
		rows = m.CPU
	}
	way, share := c.published(s, m.Site, rows)
	if share < mostlyOne || way.changes <= 0 || way.changes > mostChanges*c.copies {
		return false
	}
	n, known := done(m.Pass, m.Site.Frame)
	copies := n * c.copies
	if !known || copies < leastCopies {
		return false
	}
	length := units.Some(float64(int64(c.elements)), "element")
	if c.elements == 0 {
		bytes, _ := stacks.Sum(m.Allocs)
		size := elementSize(typeOf(c.place, c.from))
		if bytes < leastBytes || size == 0 || float64(bytes)/copies < float64(leastElements*size) {
			return false
		}
		length = units.Bytes(float64(bytes) / copies)
	}
	m.Cause = fmt.Sprintf("%s copies all of %s (%s), %s times. %s stores each copy in %s (%s), after about %s changed in it: nearly all that is copied stays as it was.",
		syntax.FuncName(m.Place), syntax.Text(c.from), length, units.Count(int64(copies+0.5)),
		way.by, way.holder.Name(), way.at, units.Some(max(1, way.changes/c.copies), "element"))
	m.Fix = fmt.Sprintf("Collect the changes that come within some milliseconds, apply all of them to one copy, and store it in %s once. "+
		"If readers must see each change at once, change the original in place under a sync.RWMutex, or split it into parts, of which only the changed one is copied.", way.holder.Name())
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s copies and %s changed elements per %s", units.Number(c.copies), units.Number(way.changes), m.Pass.Manifest.Unit())})
	return true
}

// elementSize returns the size of an element of a list or a map; 0 when it is not known.
func elementSize(t types.Type) (size int64) {
	switch t := t.(type) {
	case *types.Map:
		if !syntax.Generic(t.Key()) && !syntax.Generic(t.Elem()) {
			size = syntax.Sizes().Sizeof(t.Key()) + syntax.Sizes().Sizeof(t.Elem())
		}
	case *types.Slice:
		if !syntax.Generic(t.Elem()) {
			size = syntax.Sizes().Sizeof(t.Elem())
		}
	}
	return size
}
