package copiedperbranch

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastSteps is the minimum mean number of steps of a search whose state is copied for each.
	leastSteps = 16
	// mostChanged is the largest share of the copied elements that a step may change: more of them
	// have to be stored in any case.
	mostChanged = 0.75
)

// step is a loop that changes some elements of a list in each iteration, and puts a copy of the
// list into another one, so that the way to the result can be read back from the copies.
//
//	for d := range most { trace = append(trace, slices.Clone(v)); …; v[k] = x }
type step struct {
	loop   ast.Node
	state  *types.Var // the list that is copied
	copies ast.Expr   // the list that gets the copies
	writes []ast.Node // of elements of the state
}

// stepOf returns the step for which a copy is made; nil for none.
func stepOf(p *gocode.Place, c *copied) *step {
	state := stateOf(p, c)
	if state == nil {
		return nil
	}
	for _, loop := range loops.Around(p, c.created(p)) {
		s := &step{loop: loop, state: state}
		if s.state.Pos() >= loop.Pos() && s.state.Pos() < loop.End() {
			continue
		}
		if s.copies = keeper(p, loop, c); s.copies == nil {
			continue
		}
		if s.writes = elementsSet(p, loop, state); len(s.writes) > 0 {
			return s
		}
	}
	return nil
}

// stateOf returns the local slice of which all, or a part, is copied; nil for others.
func stateOf(p *gocode.Place, c *copied) *types.Var {
	e := c.source
	if part, ok := syntax.Origin(p, e).(*ast.SliceExpr); ok {
		e = part.X
	}
	v := syntax.LocalVar(p, e)
	if v == nil || !syntax.Local(p, v) {
		return nil
	}
	if _, slice := v.Type().Underlying().(*types.Slice); !slice {
		return nil
	}
	return v
}

// keeper returns the local list, declared before a loop, to which the loop adds the copy, if it is
// only read: nil for a list that others get, who may want the states.
func keeper(p *gocode.Place, loop ast.Node, c *copied) ast.Expr {
	var to ast.Expr
	ast.Inspect(loop, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if to != nil || !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return to == nil
		}
		if at, ok := a.Lhs[0].(*ast.IndexExpr); ok && c.goesInto(p, a.Rhs[0]) {
			to = at.X
		} else if call, ok := a.Rhs[0].(*ast.CallExpr); ok && p.CalleeName(call) == "append" && len(call.Args) == 2 && c.goesInto(p, call.Args[1]) && !call.Ellipsis.IsValid() {
			to = call.Args[0]
		}
		return to == nil
	})
	v := syntax.LocalVar(p, to)
	if v == nil || syntax.Param(p, v) || v.Pos() >= loop.Pos() || !onlyRead(p, v, true) {
		return nil
	}
	return to
}

// onlyRead reports whether a function reads or sets elements of a list, and stores the list
// nowhere. It may return the list, if all its callers only read it.
func onlyRead(p *gocode.Place, v *types.Var, returns bool) bool {
	for _, use := range syntax.Uses(p, v) {
		switch up := syntax.Parent(p, use).(type) {
		case *ast.IndexExpr, *ast.RangeStmt, *ast.AssignStmt, *ast.ValueSpec:
		case *ast.CallExpr: // a function that reads it, len, append
		case *ast.ReturnStmt:
			if !returns || !readByCallers(p, slices.Index(up.Results, ast.Expr(use))) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// readByCallers reports whether all callers of a function that is not exported only read one of its
// results.
func readByCallers(p *gocode.Place, result int) bool {
	if p.Decl.Name.IsExported() || result < 0 {
		return false
	}
	self, calls := p.Object(p.Decl.Name), 0
	fine := true
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !fine {
					return fine
				}
				if callee := p.Callee(call); callee == nil || types.Object(callee.Origin()) != self {
					return true
				}
				calls++
				in := p.Entry(fn)
				to, ok := syntax.Parent(in, call).(*ast.AssignStmt)
				if !ok || len(to.Rhs) != 1 || result >= len(to.Lhs) {
					fine = false
					return false
				}
				got := syntax.LocalVar(in, to.Lhs[result])
				fine = got != nil && onlyRead(in, got, false)
				return fine
			})
		}
	}
	return fine && calls > 0
}

// elementsSet returns the assignments to elements of a slice in a loop; none if the loop also sets
// the slice itself, as one does whose steps create a new list each.
func elementsSet(p *gocode.Place, loop ast.Node, v *types.Var) (sets []ast.Node) {
	whole := false
	ast.Inspect(loop, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for _, lhs := range a.Lhs {
			if syntax.LocalVar(p, lhs) == v {
				whole = true
			}
			if at, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && syntax.LocalVar(p, at.X) == v {
				sets = append(sets, a)
			}
		}
		return true
	})
	if whole {
		return nil
	}
	return sets
}

// few returns the mean number of elements that a step changes, and whether these are few of those
// that it copies, of which it needs the mean size in bytes.
func (s *step) few(pass *rule.Pass, p *gocode.Place, each float64) (changed, all float64, few bool) {
	at := p.Fset.Position(s.loop.Pos())
	l, ok := pass.Counts.Loop(p.Pkg.Path(), at.Filename, at.Line)
	if !ok || l.Iterations < leastSteps {
		return 0, 0, false
	}
	size := syntax.Sizes().Sizeof(s.state.Type().Underlying().(*types.Slice).Elem())
	if size <= 0 {
		return 0, 0, false
	}
	all = each / float64(size)
	for _, w := range s.writes {
		n, ok := evidence.ReachedAt(pass, p, w.Pos())
		if !ok {
			return 0, 0, false
		}
		changed += n / (l.Iterations * l.Entries)
	}
	return changed, all, changed <= mostChanged*all
}

// words says what the steps of a search copy.
func (s *step) words(changed, all float64, size string) (cause, fix string) {
	state, copies := s.state.Name(), syntax.Text(s.copies)
	cause = fmt.Sprintf("Each step of the loop copies the whole state %s into %s, %s elements on average, and changes only %s of them: %s. All copies stay until the result is read back from %s, so n steps take time and memory for n²/2 elements.",
		state, copies, units.Number(all), units.Number(changed), size, copies)
	fix = fmt.Sprintf("Keep in %s only what each step changes: the elements that it sets, or a link from each result to the one that it came from; a difference of two texts can use the variant of Myers' algorithm that needs linear space. Until then, limit the size of inputs, or cut off what is equal at both ends first.",
		copies)
	return cause, fix
}
