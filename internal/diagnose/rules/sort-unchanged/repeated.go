package sortunchanged

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// repeated is a function that calls another several times for the same list, each of which sorts it
// or a copy of it.
type repeated struct {
	place  *gocode.Place
	callee string // as profiles name it
	list   ast.Expr
	times  float64
	how    string // "in the loop on line 7"
	sort   string // the line that sorts, in the called function or below
}

type call struct {
	at, sort gocode.Pos
}

// mostCallers is the number of calls between the line that sorts and the one that has the list.
const mostCallers = 4

// repeats follows the parameter that frame i of a stack sorts up to the function that has the list,
// and returns its frame if it gets the list sorted several times; -1 if not.
func (s *search) repeats(r *site.Row, i int) int {
	place, ok := s.pass.Syntax.At(r.Stack[i].File, r.Stack[i].Line)
	if !ok || place.Decl == nil {
		return -1
	}
	place = place.Outer()
	param := sortedHere(place)
	for j := i + 1; param != nil && j < len(r.Stack) && j <= i+mostCallers; j++ {
		f := r.Stack[j]
		up, ok := s.pass.Syntax.At(f.File, f.Line)
		if !ok || up.Decl == nil {
			return -1
		}
		key := call{gocode.Pos{File: f.File, Line: f.Line}, gocode.Pos{File: r.Stack[i].File, Line: r.Stack[i].Line}}
		found, next := s.repeated[key], (*types.Var)(nil)
		if found == nil {
			found, next = s.callsAgain(place, up, r.Stack[j-1], param)
			if found != nil {
				found.sort = fmt.Sprintf("%s:%d", filepath.Base(r.Stack[i].File), r.Stack[i].Line)
				s.again[key.at] = found
			}
			s.repeated[key] = found
		}
		if found != nil {
			return j
		}
		place, param = up, next
	}
	return -1
}

// sortedHere returns the parameter or the receiver whose list, or a copy of it, a line sorts; nil
// for none.
func sortedHere(p *gocode.Place) *types.Var {
	for _, c := range syntax.Calls(p) {
		if _, o := sorted(p, c); o != nil && len(o.given) == 0 {
			return rootParam(p, o)
		}
	}
	return nil
}

// rootParam returns the parameter or receiver that has a list.
func rootParam(p *gocode.Place, o *origin) *types.Var {
	if o.param != nil {
		return o.param
	}
	if v, _ := syntax.Var(p, o.expr); v != nil && syntax.Param(p, v) {
		return v
	}
	return nil
}

// callsAgain returns the calls on a line of a function which sorts its parameter, if they get the
// same list several times. Otherwise it returns the parameter of the caller that has the list.
func (s *search) callsAgain(below, p *gocode.Place, callee *site.Frame, param *types.Var) (*repeated, *types.Var) {
	for _, c := range syntax.CallsTo(p, callee.Function) {
		list := flow.ArgumentFor(below, c, param)
		if list == nil {
			continue
		}
		if _, plain := p.TypeOf(list).Underlying().(*types.Slice); !plain && !effects.ChangesNothing(below.Entry(below.Decl)) {
			return nil, nil // it may change the list that its object has
		}
		found := &repeated{place: p.Outer(), callee: callee.Function, list: list}
		if s.inLoop(p, c, callee, found) || calledTwice(p, c, below, param, found) {
			return found, nil
		}
		if o := (sources{Place: p.Outer(), before: c.End()}).of(list); o != nil {
			return nil, rootParam(p, o)
		}
		if v, _ := syntax.Var(p, list); v != nil && syntax.Param(p, v) {
			return nil, v
		}
	}
	return nil, nil
}

// inLoop reports whether a loop makes the call in each iteration with a list that does not change.
func (s *search) inLoop(p *gocode.Place, c *ast.CallExpr, callee *site.Frame, found *repeated) bool {
	for _, loop := range loops.Around(p, c) {
		if p.Drives(loop) || !loops.Invariant(p, loop, found.list) || changedIn(p, loop, found.list, p.Callee(c)) {
			return false
		}
		line := syntax.Line(p, loop.Pos())
		at := p.Fset.Position(loop.Pos())
		l, ok := s.pass.Counts.Loop(p.Pkg.Path(), at.Filename, line)
		if !ok && !s.pass.Counts.Ran(p.Pkg.Path(), at.Filename) { // the file of a benchmark
			runs, _ := evidence.Executions(s.pass, *callee)
			l.Iterations = runs.PerUnit
		}
		if l.Iterations >= 2 {
			found.times, found.how = l.Iterations, fmt.Sprintf("in the loop on line %d", line)
			return true
		}
	}
	return false
}

// calledTwice reports whether a block has several calls of the function with the same list, which
// nothing changes between them.
func calledTwice(p *gocode.Place, c *ast.CallExpr, below *gocode.Place, param *types.Var, found *repeated) bool {
	v, _ := syntax.Var(p, found.list)
	if v == nil {
		return false
	}
	same := 0
	first, last := c, c
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		other, ok := n.(*ast.CallExpr)
		if !ok || p.Callee(other) != p.Callee(c) || syntax.Exclusive(p, c, other) {
			return true
		}
		if list := flow.ArgumentFor(below, other, param); list == nil || !syntax.Same(p, list, found.list) {
			return true
		}
		if len(loops.Around(p, other)) != len(loops.Around(p, c)) {
			return true
		}
		same++
		if other.Pos() < first.Pos() {
			first = other
		}
		if other.Pos() > last.Pos() {
			last = other
		}
		return true
	})
	for _, n := range p.Enclosing(first) {
		block, ok := n.(*ast.BlockStmt)
		if !ok || !syntax.Within(block, last) {
			continue
		}
		for _, stmt := range block.List {
			if stmt.Pos() > first.Pos() && stmt.Pos() <= last.Pos() && changedIn(p, stmt, found.list, p.Callee(c)) {
				return false
			}
		}
		break
	}
	found.times = float64(same)
	found.how = fmt.Sprintf("on lines %d to %d", syntax.Line(p, first.Pos()), syntax.Line(p, last.Pos()))
	if syntax.Line(p, first.Pos()) == syntax.Line(p, last.Pos()) {
		found.how = fmt.Sprintf("on line %d", syntax.Line(p, first.Pos()))
	}
	return same >= 2
}

// changedIn reports whether code may change a list: it assigns to it or to its elements, or passes
// it, or what has it, to a function other than the one that sorts a copy.
func changedIn(p *gocode.Place, code ast.Node, list ast.Expr, callee *types.Func) bool {
	v, _ := syntax.Var(p, list)
	if v == nil || syntax.Changes(p, code, v) {
		return true
	}
	_, plain := p.TypeOf(list).Underlying().(*types.Slice)
	found := false
	ast.Inspect(code, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		fn := (*types.Func)(nil)
		if ok {
			fn = p.Callee(c)
		}
		if fn == nil || found {
			return !found
		}
		given := c.Args
		if receiver := syntax.Receiver(c); receiver != nil {
			given = append(given[:len(given):len(given)], receiver)
		}
		if !slices.ContainsFunc(given, func(e ast.Expr) bool { w, _ := syntax.Var(p, e); return w == v }) {
			return true
		}
		found = fn != callee && changes(p, fn, plain)
		return !found
	})
	return found
}

// changes reports whether a function may change a list, or an object that has one: it is one of the
// package that changes something, or its name says so. Only names of readers say that an object of
// another package stays the same.
func changes(p *gocode.Place, fn *types.Func, list bool) bool {
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
		return !effects.ChangesNothing(p.Entry(decl))
	}
	words := []string{"percentile", "quantile", "mean", "median", "min", "max", "count", "len", "sum", "std", "var", "rank", "rate", "name", "snapshot"}
	if list {
		words = []string{"add", "put", "set", "append", "push", "update", "insert", "fill", "shuffle", "reverse", "delete", "read"}
	}
	name := strings.ToLower(fn.Name())
	return list == slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(name, word) })
}

func (a *repeated) describe(c *finder.Case) {
	name, list := symbol.Short(funcname.Typed(a.callee)), syntax.Text(a.list)
	c.Cause = fmt.Sprintf("%s calls %s %s times with the same %s (%s), and each call sorts all of it again (%s): the order is the same each time.",
		syntax.FuncName(a.place), name, units.Number(a.times), list, a.how, a.sort)
	c.Fix = fmt.Sprintf("Sort %s once, and let all calls read the sorted list: a function that takes all ranks at once, or one that gets a list that is sorted already, instead of %s.", list, name)
	saved := 1 - 1/a.times
	c.Fraction = &rule.Fraction{Expect: 0.95 * saved, Low: 0.6 * saved, High: min(1, saved+0.05)}
	c.Confidence, c.Callees = rule.Likely, []string{a.callee}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: units.Number(a.times) + " sorts for each list"})
}
