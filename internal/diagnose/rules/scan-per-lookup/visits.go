package scanperlookup

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// visit is a search without a loop of its own: a function literal that another function calls for
// each element (ast.Inspect, sync.Map.Range, the method of a tree), or a function that calls itself
// for each node below.
type visit struct {
	shape
	call     *ast.CallExpr // that gets the literal; nil for a recursion
	by       string        // the function that visits all elements
	searches float64       // for each unit of work
	visited  float64       // elements for each search
	found    float64       // for each element
}

// visitAt returns the visit of many elements that a line starts, or that it is part of, to find a
// few by a key; nil for none.
func visitAt(p *rule.Pass, place *gocode.Place) *visit {
	v := callbackAt(p, place)
	if v == nil {
		v = recursionAt(p, place)
	}
	if v == nil || v.key == nil && v.idling == nil || v.visited < least || v.found > mostKept {
		return nil
	}
	return v
}

// nearestVisit returns the frame of a row that is part of a visit; -1 for none, and for the work on
// the few elements that have some.
func nearestVisit(visits *finder.Lines[visit]) func(*site.Row) int {
	return func(r *site.Row) int {
		i := visits.Nearest(r)
		if i < 0 {
			return i
		}
		idle := visits.At(r.Stack[i]).idling
		if idle != nil && slices.ContainsFunc(r.Stack[:i], func(f *site.Frame) bool { return idle.within(f.File, f.Line) }) {
			return -1
		}
		return i
	}
}

// callbackAt returns the call on a line that gives a search as a function literal.
func callbackAt(p *rule.Pass, place *gocode.Place) *visit {
	for _, call := range syntax.Calls(place) {
		var lit *ast.FuncLit
		over := receiver(place, call)
		for _, arg := range call.Args {
			if l, ok := ast.Unparen(arg).(*ast.FuncLit); ok {
				lit = l
			} else if over == nil {
				over = arg
			}
		}
		name := place.CalleeName(call)
		if lit == nil || over == nil || len(lit.Body.List) == 0 || foreign(name) {
			continue
		}
		sh, ok := literal(place, lit)
		if !ok {
			if v := idleCallback(p, place, call, lit, over); v != nil {
				return v
			}
			continue
		}
		sh.over = over
		searches, ok1 := evidence.ReachedAt(p, place, call.Pos())
		tested, ok2 := evidence.ReachedAt(p, place, lit.Body.List[0].Pos())
		hits, ok3 := evidence.ReachedAt(p, place, sh.hit.Pos())
		if !ok1 || !ok2 || !ok3 || searches <= 0 || tested <= 0 {
			continue
		}
		return &visit{shape: sh, call: call, by: symbol.Short(name), searches: searches, visited: tested / searches, found: hits / tested}
	}
	return nil
}

// idleCallback returns the visit of a method of a collection that gives each element to a function
// literal, which has nothing to do for nearly all; nil for none.
func idleCallback(p *rule.Pass, place *gocode.Place, call *ast.CallExpr, lit *ast.FuncLit, over ast.Expr) *visit {
	searches, ok1 := evidence.ReachedAt(p, place, call.Pos())
	tested, ok2 := evidence.ReachedAt(p, place, lit.Body.List[0].Pos())
	if !ok1 || !ok2 || searches <= 0 || tested < least*searches || p.Manifest.Unit() == "run" && searches < fewestVisits {
		return nil
	}
	i := &idling{pass: p, most: mostKept * tested}
	f := &followed{idling: i, Place: place, vars: elements{}, asked: elements{}, loop: lit}
	f.list, _ = syntax.Var(place, over)
	for _, field := range lit.Type.Params.List {
		for _, id := range field.Names {
			f.vars[place.Object(id)] = true
		}
	}
	if f.list == nil || receiver(place, call) == nil || !f.statements(lit.Body.List) {
		return nil
	}
	s := &search{shape: shape{over: over, kind: idle, fields: i.reads, idling: i, clock: i.clock}}
	s.Iterations, s.Entries = tested/searches, searches
	times := i.times()
	if times == 0 || times > i.most || s.renewed(p, place) {
		return nil
	}
	return &visit{shape: s.shape, call: call, by: symbol.Short(place.CalleeName(call)), searches: searches, visited: tested / searches, found: times / tested}
}

// receiver returns the value whose method a call calls; nil for a function of a package.
func receiver(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && p.Info.Selections[sel] != nil {
		return sel.X
	}
	return nil
}

// foreign reports whether a function calls literals for other reasons than to visit elements in
// memory, or has a pattern of its own.
func foreign(name string) bool {
	return funcname.Match(name, append(append(testers(), firsts()...), "sort.*", "slices.*", "net/*", "os.*", "path/filepath.*", "io/*", "bufio.*", "database/*",
		"testing.*", "context.*", "time.*", "strings.*", "bytes.*")...)
}

// literal returns the test of a function literal that only looks for elements by a variable of the
// function around it.
func literal(p *gocode.Place, lit *ast.FuncLit) (shape, bool) {
	vars := elements{}
	for _, field := range lit.Type.Params.List {
		for _, id := range field.Names {
			vars[p.Object(id)] = true
		}
	}
	sh, ok := onlyTest(p, lit.Body.List, vars)
	if !ok || sh.key == nil {
		return shape{}, false
	}
	v, _ := syntax.Var(p, sh.key)
	return sh, v != nil && !v.IsField() && syntax.Local(p, v) && !syntax.Inside(lit, v.Pos())
}

// onlyTest returns the only test in a list of statements that otherwise define variables, select a
// type, or return.
func onlyTest(p *gocode.Place, list []ast.Stmt, vars elements) (sh shape, ok bool) {
	for i, stmt := range list {
		switch s := stmt.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				return shape{}, false
			}
			for _, lhs := range s.Lhs {
				if id, is := lhs.(*ast.Ident); is && vars.in(p, s.Rhs...) {
					vars[p.Object(id)] = true
				}
			}
		case *ast.IfStmt:
			if last := s.Body.List; len(last) == 1 && leaves(last[0]) && s.Else == nil && s.Init == nil && i+1 < len(list) {
				if sh, ok := tested(p, s, nil, shape{}, vars); ok && sh.key != nil {
					return sh, true
				}
				continue // if !ok { return true }
			}
			if i+1 < len(list) && !leaves(list[i+1]) {
				return shape{}, false
			}
			return tested(p, s, nil, shape{}, vars)
		case *ast.TypeSwitchStmt:
			if sh, ok = clause(p, s, vars); !ok {
				return shape{}, false
			}
		case *ast.ReturnStmt:
			return sh, ok
		default:
			return shape{}, false
		}
	}
	return sh, ok
}

// clause returns the test in a type switch of which only one clause does something.
func clause(p *gocode.Place, s *ast.TypeSwitchStmt, vars elements) (sh shape, ok bool) {
	for _, stmt := range s.Body.List {
		c, is := stmt.(*ast.CaseClause)
		if !is || len(c.Body) == 0 || len(c.Body) == 1 && leaves(c.Body[0]) {
			continue
		}
		if ok {
			return shape{}, false
		}
		if obj := p.Info.Implicits[c]; obj != nil {
			vars[obj] = true
		}
		if sh, ok = onlyTest(p, c.Body, vars); !ok {
			return shape{}, false
		}
	}
	return sh, ok
}

// recursionAt returns the search that a function does by calling itself for the nodes below: it
// compares a part of the node with a parameter that it passes on unchanged.
func recursionAt(p *rule.Pass, place *gocode.Place) *visit {
	decl := place.Decl
	if decl == nil || place.Func != decl || decl.Body == nil || len(decl.Body.List) == 0 {
		return nil
	}
	fn, _ := place.Info.Defs[decl.Name].(*types.Func)
	calls := recursive(place, decl, fn)
	if len(calls) == 0 {
		return nil
	}
	vars := changing(place, fn.Signature(), calls)
	for _, stmt := range decl.Body.List {
		test, ok := stmt.(*ast.IfStmt)
		if !ok || recurses(test, calls) {
			continue
		}
		sh, ok := tested(place, test, nil, shape{}, vars)
		if !ok || sh.key == nil || sh.kind != matching {
			continue
		}
		if k := syntax.LocalVar(place, sh.key); k == nil || !syntax.Param(place, k) {
			continue
		}
		entries, ok1 := evidence.ReachedAt(p, place, decl.Body.List[0].Pos())
		hits, ok2 := evidence.ReachedAt(p, place, sh.hit.Pos())
		searches := entries
		for _, call := range calls {
			n, ok := evidence.ReachedAt(p, place, call.Pos())
			searches -= n
			ok1 = ok1 && ok
		}
		if !ok1 || !ok2 || entries <= 0 || searches <= 0 {
			return nil
		}
		return &visit{shape: sh, by: syntax.FuncName(place), searches: searches, visited: entries / searches, found: hits / entries}
	}
	return nil
}

// recursive returns the calls of a function by itself; nil if it calls anything else that is not
// built in.
func recursive(p *gocode.Place, decl *ast.FuncDecl, fn *types.Func) (calls []*ast.CallExpr) {
	others := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch callee := p.Callee(call); {
		case callee != nil && fn != nil && callee.Origin() == fn:
			calls = append(calls, call)
		case callee != nil:
			others = true
		}
		return true
	})
	if others {
		return nil
	}
	return calls
}

// changing returns the receiver and the parameters that recursive calls do not pass on unchanged.
func changing(p *gocode.Place, sig *types.Signature, calls []*ast.CallExpr) elements {
	vars := elements{}
	if sig.Recv() != nil {
		vars[sig.Recv()] = true
	}
	for i := range sig.Params().Len() {
		param := sig.Params().At(i)
		for _, call := range calls {
			if i >= len(call.Args) || syntax.LocalVar(p, call.Args[i]) != param {
				vars[param] = true
			}
		}
	}
	return vars
}

func recurses(n ast.Node, calls []*ast.CallExpr) bool {
	for _, call := range calls {
		if syntax.Within(n, call) {
			return true
		}
	}
	return false
}

// judge judges a visit: the elements must be the same each time.
func (v *visit) judge(c *finder.Case) bool {
	if !v.again(c) {
		return false
	}
	n := units.Number(v.visited)
	if v.idling != nil {
		v.idleWords(c, n)
		return true
	}
	result := fmt.Sprintf("finds one in %s of its runs", units.Percent(min(1, v.found*v.visited)))
	if v.filters {
		result = "finds " + units.Percent(v.found) + " of them"
	}
	elem := "T"
	if t := c.Place.TypeOf(v.key); t != nil {
		elem = syntax.TypeText(c.Place, t)
	}
	c.Cause = fmt.Sprintf("%s visits %s elements each time to find those where %s, and %s.", v.by, n, syntax.Text(v.cond), result)
	c.Fix = fmt.Sprintf("Visit all elements once, fill a map[%s] from %s to what is looked for, and look %s up in it; update the map when the elements change.",
		elem, syntax.Text(v.element), syntax.Text(v.key))
	c.Confidence = rule.Likely
	c.Fraction = &rule.Fraction{Expect: 0.9, Low: 0.5, High: 0.99}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s elements for each search", n)})
	return true
}

// again reports whether the searches visit the same elements: those of a field or a package
// variable, or what a loop around the search, or one of a caller, passes each time.
func (v *visit) again(c *finder.Case) bool {
	for _, r := range c.CPU {
		i := -1
		for j, f := range r.Stack {
			// Of a recursion, the outermost call is what a search starts with.
			if f.File == c.Site.File && f.Line == c.Site.Line || v.call == nil && i >= 0 && f.Function == r.Stack[i].Function {
				i = j
			}
		}
		if i < 0 {
			continue
		}
		if v.call != nil {
			return sameIn(c.Pass, r.Stack, i, c.Place, v.call, v.over)
		}
		if i+1 >= len(r.Stack) {
			return false
		}
		place, ok := c.Pass.Syntax.At(r.Stack[i+1].File, r.Stack[i+1].Line)
		if !ok {
			return false
		}
		call := loops.CallTo(place, r.Stack[i].Function)
		if call == nil {
			return false
		}
		root := receiver(place, call)
		if root == nil && len(call.Args) > 0 {
			root = call.Args[0]
		}
		return root != nil && sameIn(c.Pass, r.Stack, i+1, place, call, root)
	}
	return false
}

// sameIn reports whether an expression at a node has the same value in each of many calls.
func sameIn(p *rule.Pass, stack []*site.Frame, i int, place *gocode.Place, at ast.Node, e ast.Expr) bool {
	if livesOn(place, e) {
		return true
	}
	for _, loop := range loops.Around(place, at) {
		if loops.FromOutside(place, loop, e) {
			return true
		}
	}
	caller, ok := loops.Calling(p.Syntax, stack, i, 3)
	return ok && caller.Shares(place, e)
}
