package builtbeforereturn

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// early is an object that is built before a return, or a continue, which mostly drops it.
type early struct {
	name    string // of the variable
	in      string // the function
	line    int    // of the test before the return
	test    string // its condition
	kept    float64
	lines   []span // that build the object
	applies bool   // functional options are applied to it
	lookup  bool   // the test asks whether there is such an object already
	method  string // that stores the value unless there is one: LoadOrStore; "" for others
	callee  string // that makes the value, as the type checker names it; "" for a literal
	place   *gocode.Place
}

// span is a range of lines, both inclusive.
type span struct{ from, to int }

func (e *early) builds(line int) bool {
	for _, s := range e.lines {
		if s.from <= line && line <= s.to {
			return true
		}
	}
	return false
}

// words returns cause and fix.
func (e *early) words(share string) (cause, fix string) {
	switch {
	case e.method != "":
		cause = fmt.Sprintf("%s makes %s each time for %s on line %d, which mostly finds one that is there already, and drops the new one: %s.", e.in, e.name, e.test, e.line, share)
		fix = fmt.Sprintf("Look up first (Load, Get), and make the value for %s only if nothing is found.", e.method)
	case e.applies:
		cause = fmt.Sprintf("%s allocates %s on the heap and applies the options (closures) to it before line %d tests %s, which mostly returns: %s.", e.in, e.name, e.line, e.test, share)
		fix = fmt.Sprintf("Check first: test what line %d tests before the options are applied, and give the common call a path without options.", e.line)
	case e.lookup:
		cause = fmt.Sprintf("%s allocates and fills %s before the lookup on line %d, which mostly finds one that is there already, and drops it: %s.", e.in, e.name, e.line, share)
		fix = fmt.Sprintf("Look up first, with a key computed from what %s is copied or built from, and build %[1]s only if nothing is found.", e.name)
	default:
		cause = fmt.Sprintf("%s allocates and fills %s before line %d tests %s, which mostly returns and drops it: %s.", e.in, e.name, e.line, e.test, share)
		fix = fmt.Sprintf("Test first, and build %s after the return.", e.name)
	}
	return cause, fix
}

// blocks finds such objects in the body of a function and in its loops.
func (s *search) blocks(p *gocode.Place) (all []*early) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if b, ok := n.(*ast.BlockStmt); ok {
			all = append(all, s.block(p, b)...)
		}
		return true
	})
	return all
}

// block finds such objects in one block: a variable that it declares, fills, and keeps only after a
// test that mostly leaves the block.
func (s *search) block(p *gocode.Place, b *ast.BlockStmt) (all []*early) {
	for i, stmt := range b.List {
		test, ok := stmt.(*ast.IfStmt)
		if !ok || i == 0 || i+1 == len(b.List) || !leaves(p, b, test) {
			continue
		}
		before, ok1 := evidence.ReachedAt(s.pass, p, b.List[0].Pos())
		after, ok2 := evidence.ReachedAt(s.pass, p, b.List[i+1].Pos())
		if !ok1 || !ok2 || before <= 0 || after > mostKept*before {
			continue
		}
		for _, at := range b.List[:i] {
			if found := dropped(p, b, at, test); found != nil {
				found.kept = after / before
				all = append(all, found)
			}
		}
		break // what comes after is seldom reached
	}
	return all
}

// leaves reports whether the body of a test ends with a return, or with a continue of the loop
// whose body the block is.
func leaves(p *gocode.Place, b *ast.BlockStmt, test *ast.IfStmt) bool {
	if test.Else != nil || len(test.Body.List) == 0 {
		return false
	}
	switch last := test.Body.List[len(test.Body.List)-1].(type) {
	case *ast.ReturnStmt:
		return b == p.Decl.Body
	case *ast.BranchStmt:
		switch syntax.Parent(p, b).(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return last.Tok == token.CONTINUE && last.Label == nil
		}
	}
	return false
}

// dropped returns the object that a statement of a block declares, if it is needed only after the
// test.
func dropped(p *gocode.Place, b *ast.BlockStmt, at ast.Stmt, test *ast.IfStmt) *early {
	a, ok := at.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	v := syntax.LocalVar(p, a.Lhs[0])
	if v == nil {
		return nil
	}
	found := &early{name: v.Name(), in: syntax.FuncName(p), line: syntax.Line(p, test.Pos()), test: syntax.Text(test.Cond), lookup: looksUp(p, test)}
	call, isCall := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	switch {
	case object(a.Rhs[0]) && !makesText(p, a):
	case isCall && p.Callee(call) != nil && takesOptions(p.Callee(call).Signature()) && syntax.HoldsPointers(v.Type()):
		found.applies = true
	default:
		return nil
	}
	u := uses{Place: p, v: v, test: test}
	if !u.fine() || !found.applies && !u.kept || !u.after {
		return nil
	}
	for _, stmt := range b.List {
		if stmt.Pos() >= test.Pos() {
			break
		}
		if stmt == at || !found.applies && u.fills(stmt) && !makesText(p, stmt) {
			found.lines = append(found.lines, span{syntax.Line(p, stmt.Pos()), syntax.Line(p, stmt.End())})
		}
	}
	return found
}

// object reports whether an expression makes an object: &T{} or new(T).
func object(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		_, literal := ast.Unparen(x.X).(*ast.CompositeLit)
		return x.Op == token.AND && literal
	case *ast.CallExpr:
		id, ok := ast.Unparen(x.Fun).(*ast.Ident)
		return ok && id.Name == "new" && len(x.Args) == 1
	}
	return false
}

// makesText reports whether a statement concatenates or converts texts: that may be what the test
// needs, and the profile of allocations does not tell it from the object itself.
func makesText(p *gocode.Place, stmt ast.Stmt) bool {
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			_, constant := p.Const(n)
			found = found || n.Op == token.ADD && syntax.IsString(p, n) && !constant
		case *ast.CallExpr:
			to, ok := p.Conversion(n)
			found = found || ok && syntax.StringOrBytes(to)
		}
		return !found
	})
	return found
}

// looksUp reports whether a test asks for an element of a map.
func looksUp(p *gocode.Place, test *ast.IfStmt) bool {
	found := false
	look := func(n ast.Node) bool {
		if x, ok := n.(*ast.IndexExpr); ok {
			_, isMap := p.TypeOf(x.X).Underlying().(*types.Map)
			found = found || isMap
		}
		return !found
	}
	if test.Init != nil {
		ast.Inspect(test.Init, look)
	}
	ast.Inspect(test.Cond, look)
	return found
}

// takesOptions reports whether the last parameter of a function is a list of functions that get a
// pointer: functional options.
func takesOptions(s *types.Signature) bool {
	if !s.Variadic() {
		return false
	}
	list, ok := s.Params().At(s.Params().Len() - 1).Type().(*types.Slice)
	if !ok {
		return false
	}
	f, ok := list.Elem().Underlying().(*types.Signature)
	if !ok || f.Params().Len() != 1 {
		return false
	}
	_, pointer := f.Params().At(0).Type().Underlying().(*types.Pointer)
	return pointer
}

// uses are those of a variable around a test.
type uses struct {
	*gocode.Place
	v     *types.Var
	test  *ast.IfStmt
	kept  bool // as a whole, after the test
	after bool // there are some after the test
}

// fine reports whether the object is needed only after the test: before, it is filled, its parts
// are read, and methods that change nothing are called; the body of the test does not use it.
func (u *uses) fine() bool {
	for _, id := range syntax.Uses(u.Place, u.v) {
		parent := syntax.Parent(u.Place, id)
		sel, part := parent.(*ast.SelectorExpr)
		part = part && sel.X == ast.Expr(id)
		switch {
		case u.Info.Defs[id] != nil:
		case id.Pos() > u.test.End():
			u.after = true
			u.kept = u.kept || !part
		case syntax.Within(u.test.Body, id) || !part || !u.reads(sel):
			return false
		}
	}
	return true
}

// reads reports whether a selection of the object reads or sets a field, without taking its
// address, or calls a method that changes nothing.
func (u *uses) reads(sel *ast.SelectorExpr) bool {
	if fn, ok := u.Object(sel.Sel).(*types.Func); ok {
		decl := u.Declaration(fn)
		return decl != nil && decl.Body != nil && effects.ChangesNothing(u.Entry(decl))
	}
	for _, n := range u.Enclosing(sel) {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				return false
			}
		case *ast.FuncLit:
			return false
		}
	}
	return true
}

// fills reports whether a statement sets parts of the object, and calls nothing with it.
func (u *uses) fills(stmt ast.Stmt) bool {
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				v, part := syntax.Var(u.Place, lhs)
				found = found || v == u.v && part
			}
		}
		return !found
	})
	return found
}
