package mergechain

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastEach is the minimum time of a merge, in seconds, that copies a long list, if its elements
// are not counted: 64 entries of a map take about 3 µs.
const leastEach = 3e-6

// leastBytes is the minimum size of such a copy, in bytes, if it takes less time: 64 entries of a
// map of numbers take about 2 KiB.
const leastBytes = 4096

// fold is a statement of a loop that replaces a list by its merger with another:
// all = merge(all, x). The loop may be in the caller of a method: t.all = merge(t.all, x). A
// recursion is the same: return merge(xs[0], all(xs[1:])).
type fold struct {
	call *ast.CallExpr
	all  ast.Expr
	loop ast.Node      // nil for a recursion, and if it is in a caller
	by   *loops.Caller // that has the loop
	self *ast.CallExpr // the recursive call
	// of is what the called function copies, set when a row was seen in which that is a union.
	of *union
}

// foldAt returns the fold on a line; nil for none.
func foldAt(p *gocode.Place) *fold {
	for _, n := range p.Nodes {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || syntax.Line(p, call.Lparen) != p.Line || !takes(p, call, a.Lhs[0]) {
			continue
		}
		for _, loop := range loops.Around(p, a) {
			if !loops.FromOutside(p, loop, a.Lhs[0]) {
				break
			}
			return &fold{call: call, all: a.Lhs[0], loop: loop}
		}
		if v, part := syntax.Var(p, a.Lhs[0]); part && v != nil && syntax.Param(p, v) && len(loops.Around(p, a)) == 0 {
			return &fold{call: call, all: a.Lhs[0]}
		}
	}
	return recursion(p)
}

// recursion returns the merger on a line whose other operand is what the function returns for the
// lists after the first; nil for none.
func recursion(p *gocode.Place) *fold {
	for _, call := range syntax.Calls(p) {
		if _, returned := syntax.Parent(p, call).(*ast.ReturnStmt); !returned {
			continue
		}
		for _, arg := range call.Args {
			self, ok := ast.Unparen(arg).(*ast.CallExpr)
			if !ok || p.Decl == nil || p.Declaration(p.Callee(self)) != p.Decl || p.Func != ast.Node(p.Decl) || len(self.Args) == 0 {
				continue
			}
			rest, ok := ast.Unparen(self.Args[0]).(*ast.SliceExpr)
			if !ok || rest.High != nil || rest.Low == nil {
				continue
			}
			if n, constant := syntax.ConstInt(p, rest.Low); constant && n == 1 {
				return &fold{call: call, all: self, self: self}
			}
		}
	}
	return nil
}

// takes reports whether a call's receiver or one of its arguments is an expression.
func takes(p *gocode.Place, call *ast.CallExpr, e ast.Expr) bool {
	if to := syntax.Receiver(call); to != nil && syntax.Same(p, to, e) {
		return true
	}
	for _, arg := range call.Args {
		if syntax.Same(p, arg, e) {
			return true
		}
	}
	return false
}

// folds remembers the statements that lines have.
type folds struct {
	pass  *rule.Pass
	calls *finder.Lines[fold]
}

// line returns the frame of a row at which a loop calls a function that returns a new list with the
// elements of both its operands; -1 for none.
func (s *folds) line(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		found := s.calls.At(f)
		if found == nil {
			continue
		}
		if found.of == nil {
			found.of = s.unionOf(r.Stack[i-1])
		}
		if found.of != nil && r.Stack[i-1].Function == found.of.function && (found.loop != nil || found.self != nil || s.repeated(found, r.Stack, i)) {
			return i
		}
	}
	return -1
}

// repeated reports whether a loop of a caller calls the method of a fold again for the same object.
func (s *folds) repeated(f *fold, stack []*site.Frame, i int) bool {
	by, ok := loops.Calling(s.pass.Syntax, stack, i, 1)
	if !ok {
		return false
	}
	if to := syntax.Receiver(by.Call); to == nil || !loops.FromOutside(by.Place, by.Loop, to) {
		return false
	}
	f.by = &by
	return true
}

// unionOf returns what the function of a frame merges; nil when it does not.
func (s *folds) unionOf(f *site.Frame) *union {
	p, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || p.Decl == nil || p.Func != ast.Node(p.Decl) {
		return nil
	}
	u := unites(p)
	if u == nil {
		return nil
	}
	u.function, u.name = f.Function, syntax.FuncName(p)
	u.calls, _ = evidence.ReachedAt(s.pass, p, p.Decl.Body.List[0].Pos())
	for v, o := range u.operands {
		for _, n := range o.each {
			if reached, ok := evidence.ReachedAt(s.pass, p, n.Pos()); ok {
				o.elements += reached
			}
		}
		u.operands[v] = o
	}
	return u
}

// operandOf returns the operand of the called function for which the fold passes the result so far.
func (f *fold) operandOf(p *gocode.Place) operand {
	sig, _ := p.TypeOf(f.call.Fun).(*types.Signature)
	if to := syntax.Receiver(f.call); to != nil && syntax.Same(p, to, f.all) {
		return f.of.operand(-1)
	}
	for i, arg := range f.call.Args {
		if sig != nil && (syntax.Same(p, arg, f.all) || ast.Unparen(arg) == f.all) {
			return f.of.operand(min(i, sig.Params().Len()-1))
		}
	}
	return operand{}
}

// lists returns how many lists are merged one after the other, on average, and by what.
func (f *fold) lists(c *finder.Case) (n float64, by string) {
	if f.self != nil {
		calls, ok := evidence.ReachedAt(c.Pass, c.Place, c.Place.Decl.Body.List[0].Pos())
		own, known := evidence.ReachedAt(c.Pass, c.Place, f.self.Pos())
		if !ok || !known || own >= calls {
			return 0, ""
		}
		return own / (calls - own), syntax.FuncName(c.Place) + " calls itself and"
	}
	pkg, file, line := c.Site.Owner.Package, c.Site.File, 0
	if f.by != nil {
		pkg, file, line = f.by.Frame.Owner.Package, f.by.Frame.File, f.by.Line()
		by = fmt.Sprintf("%s is called in the loop on line %d of %s, and", syntax.FuncName(c.Place), line, f.by.Name())
	} else {
		line = syntax.Line(c.Place, f.loop.Pos())
		by = fmt.Sprintf("The loop on line %d", line)
	}
	l, ok := c.Pass.Counts.Loop(pkg, file, line)
	if !ok {
		return 0, ""
	}
	return l.Iterations, by
}

func (f *fold) judge(c *finder.Case) bool {
	lists, by := f.lists(c)
	if lists < leastLevels || f.of == nil || f.of.variadic && lists < 2*leastLevels {
		return false
	}
	all := f.operandOf(c.Place)
	if !all.found {
		return false
	}
	each := ""
	switch of, calls := f.of, f.of.calls; {
	case calls > 0 && all.elements > 0:
		rest := of.total() - all.elements
		if all.elements < leastElements*calls || all.elements < leastRatio*rest {
			return false
		}
		each = fmt.Sprintf(", %s elements on average", units.Number(float64(int(all.elements/calls))))
	case !all.whole:
		return false
	default:
		value, _ := stacks.Sum(c.CPU)
		seconds, ok := evidence.PerExecution(c.Pass, c.Site.Frame, float64(value)*1e-9)
		bytes, _ := stacks.Sum(c.Allocs)
		size, _ := evidence.PerExecution(c.Pass, c.Site.Frame, float64(bytes))
		if !ok || seconds < leastEach && size < leastBytes || lists < 2*leastLevels {
			return false
		}
		each = fmt.Sprintf(", %s for each", units.Seconds(seconds))
	}
	name := syntax.Text(f.all)
	c.Cause = fmt.Sprintf("%s merges %s lists one after the other: %s returns a new one each time, into which it copies what %s has so far%s. "+
		"Of k lists, each is copied k/2 times on average.", by, units.Number(lists), f.of.name, name, each)
	if f.self != nil {
		name = "the result"
	}
	c.Fix = fmt.Sprintf("Create %s once before the loop and add the elements of each list to it, without a copy. "+
		"If it has to be sorted, append all and sort once, or merge all lists at once with a heap (container/heap).", name)
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: units.Number(lists) + " lists for each loop"})
	return true
}
