package builtforpage

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// mostCallers is the number of callers up to which a list is followed.
const mostCallers = 3

// building is a loop that appends elements to a list that is empty before.
type building struct {
	list *types.Var
	add  *ast.CallExpr // append
	rows bool          // the loop goes through the rows of a query
	loop ast.Node
}

// body returns the statements that run for each element.
func body(loop ast.Node) *ast.BlockStmt {
	if lit, ok := loop.(*ast.FuncLit); ok {
		return lit.Body
	}
	return loops.Body(loop)
}

// built returns what a loop builds, or a function literal that something calls for each element;
// nil if it does not, or builds several lists.
func built(p *gocode.Place, loop ast.Node) *building {
	var found *building
	several := false
	ast.Inspect(body(loop), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || p.CalleeName(call) != "append" || !syntax.Same(p, a.Lhs[0], call.Args[0]) {
			return true
		}
		v := syntax.LocalVar(p, a.Lhs[0])
		if v == nil || syntax.Inside(loop, v.Pos()) {
			return true
		}
		several = several || found != nil
		found = &building{list: v, add: call, loop: loop}
		return true
	})
	if found == nil || several || !starts(p, found.list) || found.add.Ellipsis.IsValid() {
		return nil
	}
	around := loops.Around(p, found.add)
	if _, lit := loop.(*ast.FuncLit); lit && len(around) > 0 || !lit && (len(around) == 0 || around[0] != loop) {
		return nil
	}
	if l, ok := loop.(*ast.ForStmt); ok && l.Cond != nil {
		if call, ok := ast.Unparen(l.Cond).(*ast.CallExpr); ok {
			name := p.CalleeName(call)
			found.rows = strings.HasSuffix(name, "ows).Next") || strings.HasSuffix(name, ".Cursor).Next")
		}
	}
	return found
}

// starts reports whether a variable is declared as an empty list, or is a result.
func starts(p *gocode.Place, v *types.Var) bool {
	if syntax.IsResult(p, v) {
		return true
	}
	if syntax.Param(p.Outer(), v) {
		return false
	}
	stmt, value := syntax.Declared(p, v)
	if value == nil {
		_, spec := stmt.(*ast.ValueSpec)
		return spec
	}
	switch e := ast.Unparen(value).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		return p.CalleeName(e) == "make"
	}
	return false
}

// cut is what is used of a list.
type cut struct {
	size  float64 // elements; 0 for the length alone
	known bool    // the size is
	page  bool    // both ends are computed
	limit bool    // the first ones
	share float64 // of the elements that pass a test, which follows; 0 for a cut
	text  string  // source of the cut
	at    string  // position
}

// describe says what is used, for a sentence after "only".
func (c cut) describe() string {
	switch {
	case c.text == "":
		return "its length is used"
	case c.share > 0:
		return fmt.Sprintf("%s of them pass the test after that (%s, %s)", units.Percent(c.share), c.text, c.at)
	case c.known && c.size == 1:
		return fmt.Sprintf("one element is used (%s)", c.at)
	case c.known:
		return fmt.Sprintf("%s of them are used (%s, %s)", units.Number(c.size), c.text, c.at)
	}
	return fmt.Sprintf("a page of them is used (%s, %s)", c.text, c.at)
}

// used returns what is used of a list, in the function that builds it or in its callers, and
// whether a test removes elements before.
func (s *search) used(r *site.Row, i int, p *gocode.Place, b *building) (c cut, filtered, ok bool) {
	u := &uses{search: s, place: p.Outer(), skip: b.loop, rows: b.rows}
	if !u.variable(b.list) {
		return cut{}, false, false
	}
	i = declared(r, i, p)
	for level := 0; u.returned && !u.shortened.IsValid(); level++ {
		if i++; u.cut.text != "" || level == mostCallers || i >= len(r.Stack) || r.Stack[i].Owner.Kind != gocode.Main {
			return cut{}, false, false
		}
		caller, ok := s.pass.Syntax.At(r.Stack[i].File, r.Stack[i].Line)
		if !ok {
			return cut{}, false, false
		}
		call := loops.CallTo(caller, r.Stack[i-1].Function)
		if call == nil {
			return cut{}, false, false
		}
		u = &uses{search: s, place: caller.Outer(), rows: b.rows}
		if !u.result(call) {
			return cut{}, false, false
		}
	}
	if u.cut.text == "" { // its length alone
		u.cut.known = b.rows || u.skip != nil // a caller may count what a function in memory finds
	}
	return u.cut, u.filtered, u.any && (u.cut.known || u.cut.page)
}

// declared returns the index in a stack of the declared function around a function literal that the
// frame i runs.
func declared(r *site.Row, i int, p *gocode.Place) int {
	if _, ok := p.Func.(*ast.FuncLit); !ok {
		return i
	}
	for j := i + 1; j < len(r.Stack); j++ {
		if f := r.Stack[j]; f.File == r.Stack[i].File && syntax.Line(p, p.Decl.Pos()) <= f.Line && f.Line <= syntax.Line(p, p.Decl.End()) {
			return j
		}
	}
	return i
}

// uses collects what is used of a list.
type uses struct {
	*search
	place    *gocode.Place
	skip     ast.Node // the loop that builds it
	rows     bool
	any      bool
	returned bool
	cut      cut
	filtered bool       // elements are removed from it by a test
	helped   bool       // the place is a function that gets the list
	limited  []ast.Node // loops over the first elements
	// shortened is where the variable is set to the page; other uses after that are of the page.
	shortened token.Pos
}

// result examines what a caller does with the list that a call returns.
func (u *uses) result(call *ast.CallExpr) bool {
	switch n := syntax.Parent(u.place, call).(type) {
	case *ast.AssignStmt:
		lhs := n.Lhs[0]
		if to := syntax.AssignedTo(u.place, call); to != nil {
			lhs = to
		}
		v := syntax.LocalVar(u.place, lhs)
		return v != nil && !syntax.IsResult(u.place, v) && u.variable(v)
	case *ast.CallExpr, *ast.SliceExpr, *ast.IndexExpr, *ast.ReturnStmt, *ast.RangeStmt:
		return u.use(call)
	}
	return false
}

// given examines what a function of the package does with the list that it gets.
func (u *uses) given(call *ast.CallExpr, e ast.Expr) bool {
	fn := u.place.Callee(call)
	decl := u.place.Declaration(fn)
	if decl == nil || decl.Body == nil || u.helped {
		return false
	}
	for i, arg := range call.Args {
		if arg != e || i >= fn.Signature().Params().Len() {
			continue
		}
		in := u.place.Entry(decl)
		v, _ := in.Object(name(decl, i)).(*types.Var)
		sub := &uses{search: u.search, place: in, rows: u.rows, helped: true}
		if v == nil || !sub.variable(v) || sub.returned && !sub.shortened.IsValid() || sub.cut.text == "" {
			return false
		}
		u.any, u.filtered = u.any || sub.any, u.filtered || sub.filtered
		if u.cut.text == "" || sub.cut.known && u.cut.known && sub.cut.size > u.cut.size {
			u.cut = sub.cut
		}
		return true
	}
	return false
}

// name returns the name of the i-th parameter of a function; an empty one if it has none.
func name(decl *ast.FuncDecl, i int) *ast.Ident {
	for _, field := range decl.Type.Params.List {
		for _, id := range field.Names {
			if i == 0 {
				return id
			}
			i--
		}
	}
	return &ast.Ident{}
}

// variable examines all uses of the variable that has the list.
func (u *uses) variable(v *types.Var) bool {
	if syntax.IsResult(u.place, v) {
		u.returned = true
	}
	for _, id := range syntax.Reads(u.place, v) {
		if u.skip != nil && syntax.Within(u.skip, id) {
			if !u.adds(id) {
				return false // whether an element is added depends on those before
			}
			continue
		}
		if u.inLimited(id) {
			continue
		}
		if _, returns := syntax.Parent(u.place, id).(*ast.ReturnStmt); !returns && u.shortened.IsValid() && id.Pos() > u.shortened {
			continue
		}
		if !u.use(id) {
			return false
		}
	}
	return true
}

// adds reports whether a use of the list in the loop that builds it adds to it, or asks for its
// length.
func (u *uses) adds(id *ast.Ident) bool {
	call, ok := syntax.Parent(u.place, id).(*ast.CallExpr)
	return ok && slices.Contains([]string{"append", "len", "cap"}, u.place.CalleeName(call))
}

// use notes one use of the list; false if that is a use of all of it, or is not known.
func (u *uses) use(e ast.Expr) bool {
	p := u.place
	switch n := syntax.Parent(p, e).(type) {
	case *ast.ReturnStmt:
		u.returned = true
		return true
	case *ast.CallExpr:
		switch name := p.CalleeName(n); {
		case name == "len":
			u.any = true
			if loop := conditionOf(p, n); loop != nil {
				u.untilLimit(loop, e)
			}
			return true
		case name == "slices.DeleteFunc" && n.Args[0] == e:
			u.filtered = true
			to := syntax.AssignedTo(p, n)
			return to != nil && syntax.Same(p, to, e) || u.result(n)
		case (u.rows || u.filtered) && funcname.Match(name, "slices.Sort*", "sort.*"):
			return true
		}
		return u.given(n, e)
	case *ast.RangeStmt:
		return n.X == e && (u.untilLimit(n, e) || !u.rows && u.tested(n))
	case *ast.SliceExpr:
		if n.X != e || len(loops.Around(p, n)) > 0 && u.skip != nil && len(loops.Around(p, n)) > len(loops.Around(p, u.skip)) {
			return false
		}
		u.any = true
		if to := syntax.AssignedTo(p, n); to != nil && syntax.Same(p, to, e) {
			u.shortened = n.Pos()
		}
		return u.slice(n)
	case *ast.IndexExpr:
		if i, ok := syntax.ConstInt(p, n.Index); ok && n.X == e {
			u.any = true
			u.keep(n, cut{size: float64(i + 1), known: true})
			return true
		}
		return false
	case *ast.BinaryExpr: // == nil
		return true
	}
	return false
}

// tested notes a loop over the list that does nothing but to take the elements that pass a test.
func (u *uses) tested(loop *ast.RangeStmt) bool {
	action, test := acts(loop.Body)
	if action == nil {
		return false
	}
	all, ok1 := evidence.ReachedAt(u.pass, u.place, test.Pos())
	taken, ok2 := evidence.ReachedAt(u.pass, u.place, action.Pos())
	if !ok1 || !ok2 || all <= 0 || taken <= 0 {
		return false
	}
	u.any = true
	c := cut{share: taken / all, known: true, text: syntax.Short(syntax.Text(test)), at: syntax.Where(u.place, test.Pos())}
	if u.cut.text == "" || u.cut.share > 0 && c.share > u.cut.share {
		u.cut = c
	}
	return true
}

// acts returns what a loop does with the elements that pass a test, and the test: the only
// statement of its body, if that is an if statement, or what follows some that continue.
func acts(body *ast.BlockStmt) (action ast.Stmt, test ast.Expr) {
	for i, stmt := range body.List {
		s, ok := stmt.(*ast.IfStmt)
		if !ok {
			if test == nil {
				return nil, nil
			}
			return stmt, test
		}
		if s.Else != nil || s.Init != nil || len(s.Body.List) == 0 {
			return nil, nil
		}
		if test == nil {
			test = s.Cond
		}
		if b, ok := s.Body.List[0].(*ast.BranchStmt); ok && b.Tok == token.CONTINUE {
			continue
		}
		if i+1 < len(body.List) {
			return nil, nil
		}
		return s.Body.List[0], test
	}
	return nil, nil
}

// keep notes a cut.
func (u *uses) keep(n ast.Node, c cut) {
	if e, ok := n.(ast.Expr); ok {
		c.text = syntax.Text(e)
	}
	c.at = syntax.Where(u.place, n.Pos())
	switch {
	case u.cut.text == "", c.known && u.cut.known && c.size > u.cut.size, !c.known && u.cut.known:
		u.cut = c
	}
}

// slice notes the part that a slice expression cuts out.
func (u *uses) slice(n *ast.SliceExpr) bool {
	list := n.X
	if n.High == nil {
		k, ok := u.fromEnd(n.Low, list)
		if ok {
			u.keep(n, cut{size: k, known: true})
		}
		return ok
	}
	low := 0.0
	lowFixed := n.Low == nil
	if v, ok := u.number(n.Low); ok {
		low, lowFixed = v, true
	}
	for _, high := range u.ends(n.High, 4) {
		if isLen(u.place, high, list) {
			continue
		}
		if v, ok := u.number(high); ok && lowFixed {
			u.keep(n, cut{size: v - low, known: true, limit: low == 0})
			return v > low
		}
		if n.Low == nil {
			return u.iterated(n)
		}
		if lowFixed {
			return false // how much is not known
		}
		if v, ok := u.span(high); ok {
			u.keep(n, cut{size: v, known: true, page: true})
			return true
		}
		if _, computed := ast.Unparen(high).(*ast.BinaryExpr); computed {
			u.keep(n, cut{page: true})
			return true
		}
		return false
	}
	return false
}

// ends returns the expressions that the end of a slice may be: through min, max and what a variable
// is set to.
func (u *uses) ends(e ast.Expr, steps int) (all []ast.Expr) {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if name := u.place.CalleeName(x); steps > 0 && (name == "min" || name == "max") {
			for _, arg := range x.Args {
				all = append(all, u.ends(arg, steps-1)...)
			}
			return all
		}
	case *ast.Ident:
		v := syntax.LocalVar(u.place, x)
		if values := syntax.Assigned(u.place, v); v != nil && steps > 0 && len(values) > 0 {
			for _, value := range values {
				all = append(all, u.ends(value, steps-1)...)
			}
			return all
		}
	}
	return []ast.Expr{e}
}

// span returns the size of a page whose end is computed as x + size.
func (u *uses) span(e ast.Expr) (float64, bool) {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD && b.Op != token.MUL {
		return 0, false
	}
	for _, x := range []ast.Expr{b.Y, b.X} {
		if v, ok := u.number(x); ok && v > 0 && (b.Op == token.MUL || v > 1) {
			return v, true
		}
	}
	return 0, false
}

// number returns the largest constant that an expression can be; false if it can be others.
func (u *uses) number(e ast.Expr) (most float64, ok bool) {
	if e == nil {
		return 0, false
	}
	values := flow.Constants(u.pass.Syntax, u.place, e)
	for _, v := range values {
		if v.Kind() != constant.Int {
			return 0, false
		}
		n, _ := constant.Float64Val(v)
		most = max(most, n)
	}
	return most, len(values) > 0
}

// fromEnd returns n of len(list)-n, also in max(0, …).
func (u *uses) fromEnd(e, list ast.Expr) (float64, bool) {
	if e == nil {
		return 0, false
	}
	for _, x := range u.ends(e, 4) {
		if b, ok := ast.Unparen(x).(*ast.BinaryExpr); ok && b.Op == token.SUB && isLen(u.place, b.X, list) {
			return u.number(b.Y)
		}
	}
	return 0, false
}

func isLen(p *gocode.Place, e, list ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "len" && syntax.Same(p, call.Args[0], list)
}
