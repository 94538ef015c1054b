package scanperlookup

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// mostChanged is the largest share of the elements whose state the code sets between two
	// visits for which a list of the few is cheaper than the visit.
	mostChanged = 0.25
	// leastFound is how often a search that stops at the first hit must find one: otherwise it is
	// a check that never fails.
	leastFound = 0.3
)

// sifts returns what a loop over a list that the program keeps may look for, beyond what [shapeOf]
// recognises:
//
//	for … xs { if now.After(x.expires) { … } }    elements that are due, or in a state
//	for … xs { if !x.dirty { continue }; … }      the same
//	for … xs { x.offer(event) }                   where offer returns at once for most elements
//
// One for each test at the start of the body: what passes the first may fail the second.
func sifts(p *gocode.Place, loop ast.Stmt) []shape {
	over, vars := walked(p, loop)
	sh := shape{over: over, scan: loop}
	if over == nil || bytes(p.TypeOf(over)) || isRows(p.TypeOf(over)) || !sh.kept(p, over) {
		return nil
	}
	body := loops.Body(loop)
	if to, call, bound := offered(p, body.List, vars); to != nil {
		sh.in, sh.call, sh.until = to, call, syntax.Line(p, call.End())
		return sh.guards(to, to.Decl.Body.List, bound)
	}
	return sh.guards(p, body.List, vars)
}

// offered returns the function of the package to which a loop gives each element, and its variables
// that denote the element; nil when the loop does something else.
func offered(p *gocode.Place, body []ast.Stmt, vars elements) (*gocode.Place, *ast.CallExpr, elements) {
	if len(body) != 1 {
		return nil, nil, nil
	}
	stmt, ok := body[0].(*ast.ExprStmt)
	if !ok {
		return nil, nil, nil
	}
	call, ok := ast.Unparen(stmt.X).(*ast.CallExpr)
	if !ok {
		return nil, nil, nil
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return nil, nil, nil
	}
	to, bound := p.Entry(decl), elements{}
	params := fn.Signature().Params()
	for i, arg := range call.Args {
		if i < params.Len() && vars.in(p, arg) {
			bound[params.At(i)] = true
		}
	}
	if recv := fn.Signature().Recv(); recv != nil && vars.in(p, syntax.Receiver(call)) {
		bound[recv] = true
	}
	if len(bound) == 0 {
		return nil, nil, nil
	}
	return to, call, bound
}

// guards returns a shape for each test at the start of a body that leaves an element alone.
func (sh shape) guards(p *gocode.Place, body []ast.Stmt, vars elements) (found []shape) {
	for i, stmt := range body {
		if locking(p, stmt) {
			continue
		}
		if defined(p, stmt, vars) {
			continue
		}
		s, ok := stmt.(*ast.IfStmt)
		if !ok || s.Else != nil || len(s.Body.List) == 0 || s.Init != nil && !defined(p, s.Init, vars) {
			return found
		}
		rest := slices.IndexFunc(body[i+1:], func(s ast.Stmt) bool { return !locking(p, s) })
		skips := skipping(p, s.Body.List, sh.in != nil)
		test := sh
		test.cond = s.Cond
		tested := syntax.Line(p, s.Body.Lbrace)
		if skips {
			tested = syntax.Line(p, s.Body.End())
		}
		if sh.in == nil {
			test.until = tested
		} else {
			test.guard = tested
		}
		switch {
		case skips && rest >= 0:
			test.hit, test.inverted, test.filters = body[i+1+rest], true, sh.in != nil || !leaves(body[len(body)-1])
		case skips || rest >= 0:
			return found
		default:
			test.hit, test.filters = s.Body.List[0], sh.in != nil || !leaves(s.Body.List[len(s.Body.List)-1])
		}
		if test.sifts(p, vars) {
			found = append(found, test)
		}
		if !test.inverted {
			return found
		}
	}
	return found
}

// sifts reports whether the shape's test is one of the element's own state, or, in a function that
// gets each element, compares the element with something else.
func (sh *shape) sifts(p *gocode.Place, vars elements) bool {
	st := &state{p: p, vars: vars}
	if st.tests(sh.cond) {
		sh.kind, sh.clock, sh.fields = due, st.clock, st.fields
		return true
	}
	if sh.in == nil {
		return false // shapeOf recognises it
	}
	cond := sh.cond
	if sh.inverted {
		cond = negated(cond)
	}
	if cond == nil || !sh.compares(p, cond, vars) {
		return false
	}
	sh.cond, sh.inverted = cond, false
	return true
}

// defined reports whether a statement only defines variables, and adds those that come from the
// element.
func defined(p *gocode.Place, stmt ast.Stmt, vars elements) bool {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return false
	}
	for _, lhs := range a.Lhs {
		if id, ok := lhs.(*ast.Ident); ok && vars.in(p, a.Rhs...) {
			vars[p.Object(id)] = true
		}
	}
	return true
}

// locking reports whether a statement locks or unlocks something.
func locking(p *gocode.Place, stmt ast.Stmt) bool {
	var call *ast.CallExpr
	switch s := stmt.(type) {
	case *ast.ExprStmt:
		call, _ = ast.Unparen(s.X).(*ast.CallExpr)
	case *ast.DeferStmt:
		call = s.Call
	}
	return call != nil && syntax.OnMutex(p, call)
}

// skipping reports whether a branch does nothing but go on with the next element: it continues the
// loop or, in a function that gets each element, returns.
func skipping(p *gocode.Place, body []ast.Stmt, function bool) bool {
	for _, s := range body[:len(body)-1] {
		if !locking(p, s) {
			return false
		}
	}
	switch s := body[len(body)-1].(type) {
	case *ast.BranchStmt:
		return !function && s.Tok == token.CONTINUE && s.Label == nil
	case *ast.ReturnStmt:
		return function
	}
	return false
}

// sifted returns the search of a loop whose tests leave most elements alone; nil for none.
func sifted(p *rule.Pass, s *search, place *gocode.Place, line int) *search {
	for _, sh := range sifts(place, s.scan) {
		in := place
		if sh.in != nil {
			in = sh.in
		}
		hits, ok := evidence.ReachedAt(p, in, sh.hit.Pos())
		if !ok || line > sh.until {
			continue
		}
		found := *s
		found.shape, found.found = sh, hits/(s.Iterations*s.Entries)
		switch {
		case found.found > mostKept:
			continue
		case !sh.filters && found.found*s.Iterations < leastFound:
			return nil // a check of all elements, which nearly always passes
		case sh.kind == due && (found.renewed(p, place) || !found.harmless(p, place)):
			return nil
		}
		return &found
	}
	return nil
}

// harmless reports whether the functions of the package that a loop's tests call change nothing for
// nearly all elements.
func (s *search) harmless(p *rule.Pass, place *gocode.Place) bool {
	if s.in != nil {
		return true
	}
	_, vars := walked(place, s.scan)
	f := &followed{idling: &idling{pass: p, most: mostKept * s.Iterations * s.Entries}, Place: place, vars: vars, loop: s.scan, asked: elements{}}
	fine := true
	for _, stmt := range loops.Body(s.scan).List {
		var tested ast.Node = stmt
		if test, ok := stmt.(*ast.IfStmt); ok {
			tested = test.Cond
			if test.Init != nil {
				tested = test.Init
			}
		}
		ast.Inspect(tested, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && fine {
				decl := place.Declaration(place.Callee(call))
				fine = decl == nil || decl.Body == nil || effects.ChangesNothing(place.Entry(decl)) || f.call(call)
			}
			return fine
		})
		if tested != ast.Node(stmt) && syntax.Line(place, stmt.Pos()) >= s.until {
			break
		}
	}
	return fine
}

// renewed reports whether the code sets the state of many elements between two visits, or the whole
// list: a list of the few would change as often.
func (s *search) renewed(p *rule.Pass, place *gocode.Place) bool {
	list := syntax.Named(place, s.over)
	var sets, lists float64
	set := func(e ast.Expr) {
		if s.idling != nil && slices.Contains(s.idling.sets, ast.Node(e)) {
			return
		}
		if v := syntax.Named(place, e); v != nil && v != list && slices.Contains(s.fields, v.Origin()) {
			times, _ := evidence.ReachedAt(p, place, e.Pos())
			sets += times
		}
	}
	for _, f := range place.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IncDecStmt:
				set(n.X)
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					set(lhs)
					if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && list != nil && syntax.Named(place, x.X) == list {
						times, _ := evidence.ReachedAt(p, place, n.Pos())
						sets += times
					}
					v := syntax.Named(place, lhs)
					if v == nil || v != list {
						continue
					}
					times, _ := evidence.ReachedAt(p, place, n.Pos())
					if (elements{v: true}).in(place, n.Rhs[min(i, len(n.Rhs)-1)]) {
						sets += times // list = append(list, x)
					} else {
						lists += times
					}
				}
			case *ast.CompositeLit: // of the struct that has the list
				if list != nil && hasField(place.TypeOf(n), list) {
					times, _ := evidence.ReachedAt(p, place, n.Pos())
					lists += times
				}
			case *ast.CallExpr: // x.load.Add(1) of an atomic value
				if to := syntax.Receiver(n); to != nil && funcname.Match(place.CalleeName(n), "(*sync/atomic.*).Add", "(*sync/atomic.*).Store", "(*sync/atomic.*).Swap", "(*sync/atomic.*).CompareAndSwap") {
					set(to)
				}
			}
			return true
		})
	}
	return sets > mostChanged*s.Iterations*s.Entries || lists > mostChanged*s.Entries
}

// hasField reports whether a type is a struct with a field.
func hasField(t types.Type, field *types.Var) bool {
	if t == nil || !field.IsField() {
		return false
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f == field {
			return true
		}
	}
	return false
}

// listed returns the rows of the call that makes the list for the loop alone: who looks the key up
// may not need the list.
func (s *search) listed(p *rule.Pass, at *site.Site, lines *finder.Lines[search]) (u rule.Uncertain) {
	if _, call := s.made.(*ast.CallExpr); !call || s.key == nil {
		return u
	}
	head := &site.Site{Frame: at.Frame}
	head.Line = s.head
	u.CPU, u.Allocs = finder.Passing(p, head, func(r *site.Row) bool { return nearest(lines)(r) < 0 })
	return u
}

// beyond reports whether the frames below a loop, leaf first, are past the test in the function to
// which it gives each element, or of a call whose result it goes through, which it makes once.
func (s *search) beyond(below []*site.Frame) bool {
	if s.made != nil {
		for _, call := range syntax.CallsTo(s.at, below[len(below)-1].Function) {
			if syntax.Within(s.made, call) {
				return true
			}
		}
	}
	if s.idling != nil {
		return slices.ContainsFunc(below, func(f *site.Frame) bool { return s.idling.within(f.File, f.Line) })
	}
	if s.in == nil {
		return false
	}
	file, line := below[len(below)-1].File, below[len(below)-1].Line
	body := s.in.Decl.Body
	at := s.in.Fset.Position(body.Pos())
	return file == at.Filename && line > s.guard && line <= syntax.Line(s.in, body.End())
}

// isTime reports whether a type is a time or a duration.
func isTime(t types.Type) bool {
	return t != nil && funcname.Match(types.TypeString(t, nil), "time.Time", "time.Duration")
}
