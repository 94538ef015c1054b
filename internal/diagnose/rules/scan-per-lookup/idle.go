package scanperlookup

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// idling is a visit of all elements of a list, nearly all of which have nothing to do: what runs
// for nearly all of them, also in the functions that get the element, changes nothing. The counts
// tell it from the work, which runs for a few:
//
//	for … xs { for _, y := range x.take() { … } }
//	for … xs { if y, ok := x.next(); ok { … } }
//	for … xs { n += x.flush(now) }
type idling struct {
	pass  *rule.Pass
	most  float64 // executions of work, for each unit of work
	works []work
	reads []*types.Var // fields that decide whether there is work
	sets  []ast.Node   // assignments that leave an element with nothing to do unchanged
	clock bool
	// limits are comparisons of an element with a value that the function was asked for.
	limits []*ast.BinaryExpr
}

// work is code that runs for a few elements.
type work struct {
	file     string
	from, to int // lines
	pos      token.Pos
	times    float64
}

// deepest is the number of nested calls that are followed.
const deepest = 3

// fewestVisits is how often a list must be visited in each run of a program that exits.
const fewestVisits = 8

// idle makes a search of a loop that visits all elements of a list for the few that have something
// to do.
func (s *search) idle(p *rule.Pass, place *gocode.Place) bool {
	over, vars := walked(place, s.scan)
	if over == nil || bytes(place.TypeOf(over)) || isRows(place.TypeOf(over)) || plain(place.TypeOf(over)) {
		return false
	}
	s.shape = shape{over: over, scan: s.scan, kind: idle, filters: true}
	s.given = !s.kept(place, over)
	if s.given && !passed(place, over) || p.Manifest.Unit() == "run" && s.visited(p, place) < fewestVisits {
		return false
	}
	all := s.Iterations * s.Entries
	i := &idling{pass: p, most: mostKept * all}
	f := &followed{idling: i, Place: place, vars: vars, loop: s.scan, asked: elements{}}
	f.list, _ = syntax.Var(place, over)
	if !f.statements(loops.Body(s.scan).List) || len(i.works) == 0 {
		return false
	}
	times := i.times()
	s.found = times / all
	if times == 0 || s.found > mostKept {
		return false
	}
	s.fields, s.clock, s.idling = i.reads, i.clock, i
	return !s.renewed(p, place)
}

// plain reports whether the elements are numbers, such as the words of a set of bits.
func plain(t types.Type) bool {
	if l, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
		if _, array := l.Elem().Underlying().(*types.Array); array { // a pointer to an array
			return plain(l.Elem())
		}
		b, basic := l.Elem().Underlying().(*types.Basic)
		return basic && b.Info()&types.IsString == 0
	}
	return false
}

// visited returns how often all elements are visited: for a table, the loop around the one over a
// row counts.
func (s *search) visited(p *rule.Pass, place *gocode.Place) float64 {
	n := s.Entries
	for _, outer := range loops.Around(place, s.scan) {
		if loops.FromOutside(place, outer, s.over) {
			break
		}
		at := place.Fset.Position(outer.Pos())
		l, ok := p.Counts.Loop(place.Pkg.Path(), at.Filename, at.Line)
		if !ok {
			return 0
		}
		n = l.Entries
	}
	return n
}

// times returns how often the work runs, for each unit of work.
func (i *idling) times() (sum float64) {
	for _, w := range i.works {
		sum += w.times
	}
	return sum
}

// main returns the work that runs most often.
func (i *idling) main() work {
	return slices.MaxFunc(i.works, func(a, b work) int { return cmp.Compare(a.times, b.times) })
}

// within reports whether a line is one of the work.
func (i *idling) within(file string, line int) bool {
	return slices.ContainsFunc(i.works, func(w work) bool { return w.file == file && w.from <= line && line <= w.to })
}

// followed is a function, or the loop itself, of which a visit executes a part for nearly all
// elements.
type followed struct {
	*idling
	*gocode.Place
	vars  elements
	asked elements   // parameters that get what the function with the loop was asked for
	loop  ast.Node   // the loop, or the function literal that is called for each element; nil in a function
	list  *types.Var // what the loop visits, or its owner
	depth int
}

func (f *followed) statements(list []ast.Stmt) bool {
	for i, s := range list {
		if i > 0 && f.rare(list[i:]) { // after if len(x) == 0 { return }
			return true
		}
		if !f.statement(s) {
			return false
		}
	}
	return true
}

// rare reports whether a block runs for a few elements, and records it: as work, unless it only
// leaves the loop or fails.
func (f *followed) rare(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	times, ok := evidence.ReachedAt(f.pass, f.Place, list[0].Pos())
	if !ok || times > f.most {
		return false
	}
	if len(list) == 1 && f.skips(list[0]) {
		return true
	}
	at := f.Fset.Position(list[0].Pos())
	f.works = append(f.works, work{at.Filename, at.Line, syntax.Line(f.Place, list[len(list)-1].End()), list[0].Pos(), times})
	return true
}

// skips reports whether a statement only leaves the element, or reports a failure.
func (f *followed) skips(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.BranchStmt:
		return true
	case *ast.ReturnStmt:
		return len(s.Results) == 0 || failure(f.Place, s.Results[len(s.Results)-1])
	}
	return false
}

func (f *followed) statement(stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case nil, *ast.EmptyStmt, *ast.BranchStmt:
		return true
	case *ast.DeclStmt:
		return f.expressions(s)
	case *ast.AssignStmt:
		return f.assigns(s)
	case *ast.ExprStmt:
		return f.expressions(s)
	case *ast.DeferStmt:
		return locking(f.Place, s)
	case *ast.ReturnStmt:
		_, literal := f.loop.(*ast.FuncLit)
		return (f.loop == nil || literal) && f.expressions(s)
	case *ast.BlockStmt:
		return f.statements(s.List)
	case *ast.IfStmt:
		return f.statement(s.Init) && f.decides(s.Cond) && f.block(s.Body.List) && (s.Else == nil || f.otherwise(s))
	case *ast.ForStmt:
		return f.statement(s.Init) && f.decides(s.Cond) && f.rare(s.Body.List)
	case *ast.RangeStmt:
		return f.decides(s.X) && f.rare(s.Body.List)
	case *ast.SwitchStmt:
		return f.statement(s.Init) && f.decides(s.Tag) && f.clauses(s.Body)
	case *ast.SelectStmt:
		return f.clauses(s.Body)
	}
	return false
}

func (f *followed) block(list []ast.Stmt) bool {
	return f.rare(list) || f.statements(list)
}

func (f *followed) otherwise(s *ast.IfStmt) bool {
	if b, ok := s.Else.(*ast.BlockStmt); ok {
		return f.block(b.List)
	}
	return f.statement(s.Else)
}

func (f *followed) clauses(body *ast.BlockStmt) bool {
	waits := true
	for _, stmt := range body.List {
		switch c := stmt.(type) {
		case *ast.CaseClause:
			waits = false
			for _, e := range c.List {
				if !f.decides(e) {
					return false
				}
			}
			if !f.block(c.Body) {
				return false
			}
		case *ast.CommClause:
			waits = waits && c.Comm != nil
			if _, sends := c.Comm.(*ast.SendStmt); sends || !f.block(c.Body) {
				return false
			}
		}
	}
	return !waits
}

// assigns reports whether an assignment changes only variables of the iteration, adds up what
// functions return that get the element, or leaves an element that has nothing unchanged: x.all =
// nil.
func (f *followed) assigns(s *ast.AssignStmt) bool {
	calls := slices.ContainsFunc(s.Rhs, func(e ast.Expr) bool { return f.follows(e) != nil })
	for i, lhs := range s.Lhs {
		v := syntax.LocalVar(f.Place, lhs)
		switch {
		case v != nil && (f.loop == nil || syntax.Inside(f.loop, v.Pos())) && !syntax.Param(f.Place, v):
			if f.vars.in(f.Place, s.Rhs...) {
				f.vars[v] = true
			}
			if slices.ContainsFunc(s.Rhs, f.asks) {
				f.asked[v] = true
			}
		case v != nil && calls && s.Tok != token.DEFINE:
		case isBlank(lhs):
		case len(s.Lhs) == len(s.Rhs) && f.loop == nil && f.vars.in(f.Place, lhs) && f.empty(s.Rhs[i]):
			f.sets = append(f.sets, lhs)
		default:
			return false
		}
	}
	return f.expressions(s)
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// empty reports whether an expression is nil or a part without elements: x[:0].
func (f *followed) empty(e ast.Expr) bool {
	if s, ok := ast.Unparen(e).(*ast.SliceExpr); ok && s.High != nil {
		n, ok := syntax.ConstInt(f.Place, s.High)
		return ok && n == 0
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && f.Object(id) == types.Universe.Lookup("nil")
}

// decides records what a condition depends on. A value that the caller asked for may only be a
// limit: if the list is sorted by the other side of the comparison, the elements that pass are all
// at one end.
func (f *followed) decides(e ast.Expr) bool {
	if e == nil {
		return true
	}
	for _, leaf := range leafs(e) {
		if !f.asks(leaf) {
			continue
		}
		b, ok := leaf.(*ast.BinaryExpr)
		if !ok || !unequal(b.Op) || f.vars.in(f.Place, b.X) == f.vars.in(f.Place, b.Y) {
			return false
		}
		limit := b.X
		if f.vars.in(f.Place, b.X) {
			limit = b.Y
		}
		if f.loop != nil && !f.fixed(limit) || f.asks(element(b, limit)) {
			return false // the first in an order, or one that depends on what was asked for
		}
		if f.loop != nil && !isTime(f.TypeOf(limit)) {
			f.limits = append(f.limits, b)
		} else {
			f.clock = true
		}
	}
	return f.expressions(e)
}

// fixed reports whether a limit is the same for all elements.
func (f *followed) fixed(limit ast.Expr) bool {
	if _, literal := f.loop.(*ast.FuncLit); literal {
		v := syntax.LocalVar(f.Place, limit)
		return v != nil && !syntax.Changes(f.Place, f.loop, v)
	}
	return loops.Invariant(f.Place, f.loop, limit)
}

// element returns the other side of a comparison than the limit.
func element(b *ast.BinaryExpr, limit ast.Expr) ast.Expr {
	if limit == b.X {
		return b.Y
	}
	return b.X
}

// asks reports whether an expression depends on what was asked for, other than by the arguments of
// a call that is followed.
func (f *followed) asks(e ast.Expr) bool {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && f.Declaration(f.Callee(call)) != nil {
		return false
	}
	if f.asked.in(f.Place, e) {
		return true
	}
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(*ast.IndexExpr); ok && f.vars.in(f.Place, x.Index) && livesOn(f.Place, x.X) {
			return false // what is kept of the element elsewhere
		}
		if id, ok := n.(*ast.Ident); ok && f.loop != nil && !found {
			v, ok := f.Object(id).(*types.Var)
			found = ok && v != f.list && !v.IsField() && !f.vars[v] && syntax.Local(f.Place, v) && !isTime(v.Type()) && !syntax.Inside(f.loop, v.Pos())
		}
		return !found
	})
	return found
}

// expressions reports whether calls in a node change nothing, and records the fields that it reads.
func (f *followed) expressions(n ast.Node) bool {
	fine := true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			fine = false
		case *ast.UnaryExpr:
			fine = fine && (n.Op != token.ARROW || f.polled(n))
		case *ast.SelectorExpr:
			if v, ok := f.Object(n.Sel).(*types.Var); ok && v.IsField() && f.vars.in(f.Place, n.X) {
				f.reads = append(f.reads, v.Origin())
			}
		case *ast.CallExpr:
			fine = fine && f.call(n)
		}
		return fine
	})
	return fine
}

// polled reports whether a receive is that of a clause of a select.
func (f *followed) polled(n *ast.UnaryExpr) bool {
	for _, around := range f.Enclosing(n) {
		if c, ok := around.(*ast.CommClause); ok && c.Comm != nil && syntax.Within(c.Comm, n) {
			return true
		}
	}
	return false
}

// follows returns the declaration of the function of the package that an expression calls with the
// element, or as its method; nil for none.
func (f *followed) follows(e ast.Expr) *ast.FuncDecl {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	decl := f.Declaration(f.Callee(call))
	if decl == nil || decl.Body == nil {
		return nil
	}
	to := syntax.Receiver(call)
	if to != nil && f.vars.in(f.Place, to) || f.vars.in(f.Place, call.Args...) {
		return decl
	}
	return nil
}

// call reports whether a call changes nothing for nearly all elements.
func (f *followed) call(call *ast.CallExpr) bool {
	if _, conversion := f.Conversion(call); conversion {
		return true
	}
	name := f.CalleeName(call)
	if syntax.OnMutex(f.Place, call) || funcname.Match(name, "(*sync/atomic.*).Load") {
		return true
	}
	if funcname.Match(name, "time.Now", "time.Since", "time.Until") {
		f.clock = true
		return true
	}
	fn := f.Callee(call)
	if fn == nil {
		return slices.Contains([]string{"len", "cap", "append", "make", "new", "min", "max"}, name)
	}
	if fn.Pkg() != f.Pkg {
		return !effects.Impure(fn) && !effects.Changes(fn) && fn.Signature().Results().Len() > 0
	}
	decl := f.Declaration(fn)
	if decl == nil || decl.Body == nil || f.depth >= deepest {
		return false
	}
	in := &followed{idling: f.idling, Place: f.Entry(decl), vars: elements{}, asked: elements{}, depth: f.depth + 1}
	params := fn.Signature().Params()
	for i, arg := range call.Args {
		if i < params.Len() && f.vars.in(f.Place, arg) {
			in.vars[params.At(i)] = true
		} else if i < params.Len() && f.asks(arg) {
			in.asked[params.At(i)] = true
		}
	}
	if recv := fn.Signature().Recv(); recv != nil && f.vars.in(f.Place, syntax.Receiver(call)) {
		in.vars[recv] = true
	}
	return in.statements(decl.Body.List)
}
