package scanperlookup

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// helpers finds calls of functions that search a list which they get, with a test or a key which
// they get as well: find(list, func(x T) bool { … }), lo.Contains(list, x). What the list is, and
// what is compared, only the caller shows.
type helpers struct {
	pass  *rule.Pass
	lines *finder.Lines[search]
	known *finder.Lines[helper]
	paths *finder.Paths[delegated]
}

// helper is the search of such a function, on a line.
type helper struct {
	over    ast.Expr   // the list: a parameter, the receiver, or a field of one
	list    *types.Var // that has it
	test    *types.Var // the parameter whose function tests each element; nil for none
	key     *types.Var // the parameter with which the elements are compared; nil for none
	n       float64    // elements for each search
	filters bool       // all elements that pass are wanted
	foreign bool       // the function is in another module
}

// delegated is a call of such a function.
type delegated struct {
	helper
	place *gocode.Place
	call  *ast.CallExpr
	name  string   // of the list
	by    ast.Expr // the test or the key; nil if a function in between makes it
	lit   *ast.FuncLit
}

const (
	// callers is the number of functions between the loop and the call that has the list.
	callers = 3
	// leastSearch is the minimum time of a search, in seconds, that shows a list of some length.
	leastSearch = 30e-9
)

func newHelpers(p *rule.Pass, lines *finder.Lines[search]) *helpers {
	h := &helpers{pass: p, lines: lines}
	h.known = finder.Remember(p, h.helperAt)
	h.paths = finder.RememberPaths(callers+1, h.look)
	return h
}

// caller returns the index of the frame that has the list of a search; -1 for none. leave says that
// the search is one of a function of another module, which is not at fault.
func (h *helpers) caller(r *site.Row) (at int, leave bool) {
	for i, f := range r.Stack {
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		s := h.lines.At(f)
		if s != nil && i > 0 && s.beyond(r.Stack[:i]) {
			return -1, false
		}
		if found := h.known.At(f); found != nil {
			return h.paths.From(r.Stack, i), found.foreign
		}
		if s != nil {
			return -1, false
		}
	}
	return -1, false
}

// helperAt returns the search on a line if it is of a list that the function gets.
func (h *helpers) helperAt(f *site.Frame, p *gocode.Place) *helper {
	found := &helper{foreign: f.Owner.Kind == gocode.Dependency}
	s := h.lines.At(f)
	if s == nil && found.foreign {
		s = h.filterOf(f, p)
	}
	switch {
	case s != nil && s.kind == matching && s.in == nil:
		found.over, found.test, found.key = s.over, s.tester(p), parameter(p, s.key)
		found.n, found.filters = s.Iterations, s.filters
	case s == nil:
		calls := syntax.CallsOf(p, testers()...)
		if len(calls) != 1 || len(calls[0].Args) != 2 {
			return nil
		}
		found.over, found.test = calls[0].Args[0], parameter(p, calls[0].Args[1])
	default:
		return nil
	}
	found.list, _ = syntax.Var(p, found.over)
	if found.list == nil || !syntax.Param(p, found.list) || found.test == nil && (s == nil || !found.foreign) {
		return nil
	}
	return found
}

// filterOf returns the filter that is all that a function of another module does, for a line before
// or after its loop: what it allocates there is for the result.
func (h *helpers) filterOf(f *site.Frame, p *gocode.Place) *search {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	var only *search
	for _, stmt := range p.Decl.Body.List {
		switch stmt.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			head := *f
			head.Line = syntax.Line(p, stmt.Pos())
			if only = h.lines.At(&head); only == nil || !only.filters {
				return nil
			}
		case *ast.AssignStmt, *ast.ReturnStmt:
		default:
			return nil
		}
	}
	return only
}

// look returns the call that gives the list to the search at a frame of a stack, with the index of
// its frame.
func (h *helpers) look(stack []*site.Frame, from int) (*delegated, int) {
	p, ok := h.pass.Syntax.At(stack[from].File, stack[from].Line)
	of := h.known.At(stack[from])
	if !ok || of == nil {
		return nil, -1
	}
	d := &delegated{helper: *of, name: syntax.Text(of.over)}
	list, by := of.list, of.test
	if by == nil {
		by = of.key
	}
	for j := from + 1; j < len(stack) && j <= from+callers; j++ {
		up, ok := h.pass.Syntax.At(stack[j].File, stack[j].Line)
		if !ok {
			return nil, -1
		}
		d.place, d.call = up, flow.CallAbove(p, up)
		if d.call == nil {
			return nil, -1
		}
		passed := flow.ArgumentFor(p, d.call, list)
		if passed == nil {
			return nil, -1
		}
		d.name = syntax.Text(passed) + strings.TrimPrefix(d.name, list.Name())
		if d.by = nil; by != nil {
			d.by = flow.ArgumentFor(p, d.call, by)
		}
		list, by = parameter(up, passed), parameter(up, d.by)
		if list != nil && (by != nil || d.test == nil && stack[j].Owner.Kind == gocode.Dependency) {
			p = up
			continue
		}
		if d.test != nil {
			d.lit, _ = syntax.Origin(up, syntax.OrBad(d.by)).(*ast.FuncLit)
		}
		if !keptAt(up.Outer(), d.call, passed) && list == nil || !h.many(d) {
			return nil, -1
		}
		return d, j
	}
	return nil, -1
}

// tester returns the parameter whose function a search calls to test each element; nil for none.
func (s *search) tester(p *gocode.Place) *types.Var {
	call, ok := ast.Unparen(syntax.OrBad(s.cond)).(*ast.CallExpr)
	if !ok || s.key != nil || p.CalleeName(call) != "" {
		return nil
	}
	return parameter(p, call.Fun)
}

// parameter returns the parameter or receiver that an expression is; nil for others.
func parameter(p *gocode.Place, e ast.Expr) *types.Var {
	if v := syntax.LocalVar(p, syntax.OrBad(e)); v != nil && syntax.Param(p, v) {
		return v
	}
	return nil
}

// many reports whether a call searches many elements, as its function literal shows if it has one.
func (h *helpers) many(d *delegated) bool {
	if d.test == nil {
		return d.n >= least
	}
	p := d.place.Outer()
	if d.lit == nil || len(d.lit.Body.List) == 0 || !keyed(p, d.lit) {
		return false
	}
	searches, ok1 := evidence.ReachedAt(h.pass, p, d.call.Pos())
	tested, ok2 := evidence.ReachedAt(h.pass, p, d.lit.Body.List[0].Pos())
	if !ok1 || !ok2 || searches <= 0 || tested < least*searches {
		return false
	}
	d.n = tested / searches
	return true
}

func (h *helpers) judge(c *finder.Case) bool {
	d := h.paths.At(&c.Site.Frame)
	if d == nil {
		return false
	}
	callee, n := calleeText(d.place, d.call), units.Number(d.n)
	if d.lit != nil {
		return testWords(c.Match, d.place.Outer(), predicated{callee, d.name, n, d.lit, d.filters})
	}
	spent, _ := stacks.Sum(c.CPU)
	if each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(spent)*1e-9); known && each < leastSearch {
		return false
	}
	c.Cause = fmt.Sprintf("%s compares up to %s elements of %s each time, one after the other, to find one.", callee, n, d.name)
	c.Fix = fmt.Sprintf("Keep a map beside %s whose keys are its elements, and look up in that.", d.name)
	if d.by != nil {
		c.Cause = fmt.Sprintf("%s compares up to %s elements of %s with %s each time, one after the other.", callee, n, d.name, syntax.Text(d.by))
		c.Fix = fmt.Sprintf("Keep a map[%s]struct{} beside %s, and look %s up in it; or keep the list sorted and use slices.BinarySearch.",
			keyType(d.place, d.by), d.name, syntax.Text(d.by))
	}
	c.Fraction = lookup(d.n)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s elements for each search", n)})
	return true
}

// calleeText names the function that a call calls, for a sentence.
func calleeText(p *gocode.Place, call *ast.CallExpr) string {
	if fn := p.Callee(call); fn != nil && fn.Pkg() == p.Pkg {
		return fn.Name()
	}
	return symbol.Short(p.CalleeName(call))
}

// keyType returns the type of a key for a sentence.
func keyType(p *gocode.Place, key ast.Expr) string {
	if t := p.TypeOf(key); t != nil {
		return syntax.TypeText(p, types.Default(t))
	}
	return "T"
}

// predicated is a search by a function literal.
type predicated struct {
	callee, list string
	n            string // elements for each search
	test         *ast.FuncLit
	all          bool // that pass are wanted, not only the first
}

// testWords fills in a search by a function literal.
func testWords(m *rule.Match, p *gocode.Place, t predicated) bool {
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s tests for each search", t.n)})
	what, find := "one", fmt.Sprintf("keep %s sorted and use slices.BinarySearchFunc", t.list)
	if t.all {
		what, find = "those", fmt.Sprintf("keep %s sorted, and go on from the first that slices.BinarySearchFunc finds", t.list)
	}
	cond, sh := compared(p, t.test)
	if sh == nil && cond != nil {
		m.Cause = fmt.Sprintf("%s calls its function for %s elements of %s each time, to find %s where %s.", t.callee, t.n, t.list, what, syntax.Text(cond))
		m.Fix = fmt.Sprintf("Keep %s sorted by what that compares: slices.BinarySearchFunc finds where the elements that pass begin or end, and how many there are.", t.list)
		m.Confidence = rule.Likely // the order may change often
		return true
	}
	if sh == nil {
		m.Cause = fmt.Sprintf("%s calls its function for %s elements of %s each time, to find %s.", t.callee, t.n, t.list, what)
		m.Fix = fmt.Sprintf("Keep a map beside %s from what the function compares to the element, and look it up; or %s.", t.list, find)
		m.Confidence = rule.Likely // the function does not show whether its test can be indexed
		return true
	}
	element, key := sh.sides()
	m.Cause = fmt.Sprintf("%s calls its function for %s elements of %s each time, to find %s where %s.", t.callee, t.n, t.list, what, syntax.Text(cond))
	of, to := "", "element"
	if t.all {
		to = "elements"
		if params := t.test.Type.Params.List; len(params) > 0 {
			of = "[]" + syntax.TypeText(p, p.TypeOf(params[0].Type))
		}
	}
	m.Fix = fmt.Sprintf("Keep a map[%s]%s beside %s from %s to the %s, and look %s up in it; or %s.", keyType(p, sh.key), of, t.list, element, to, key, find)
	return true
}

// compared returns the comparison for which a function literal looks, and its sides, which are nil
// if it is which of two comes first; nil for other functions.
func compared(p *gocode.Place, lit *ast.FuncLit) (ast.Expr, *shape) {
	list := lit.Body.List
	ret, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || len(list) != 1 || len(ret.Results) != 1 {
		return nil, nil
	}
	vars := elements{}
	for _, field := range lit.Type.Params.List {
		for _, id := range field.Names {
			vars[p.Object(id)] = true
		}
	}
	sh := &shape{}
	if sh.compares(p, ret.Results[0], vars) && sh.key != nil {
		return ret.Results[0], sh
	}
	if b, ok := ast.Unparen(ret.Results[0]).(*ast.BinaryExpr); ok && unequal(b.Op) && vars.in(p, b.X) != vars.in(p, b.Y) {
		return b, nil
	}
	return nil, nil
}

// passes says what the caller of a function passes for the list that it searches.
func passes(c *finder.Case, s *search) string {
	if parameter(c.Place, s.over) == nil {
		return ""
	}
	for _, r := range c.CPU {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.File == c.Site.File && f.Line == c.Site.Line })
		if i < 0 || i+1 == len(r.Stack) {
			continue
		}
		f := r.Stack[i+1]
		caller, ok := c.Pass.Syntax.At(f.File, f.Line)
		if !ok {
			continue
		}
		call := flow.CallAbove(c.Place, caller)
		if call == nil {
			continue
		}
		if e := flow.ArgumentFor(c.Place, call, parameter(c.Place, s.over)); e != nil {
			if text := syntax.Text(e); text != syntax.Text(s.over) {
				return fmt.Sprintf(" %s is %s in %s (%s).", syntax.Text(s.over), text, syntax.FuncName(caller), syntax.Where(caller, call.Pos()))
			}
		}
	}
	return ""
}
