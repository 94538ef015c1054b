package costlytestfirst

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// after returns the cheap tests that follow a call whose result is a test.
func (s *search) after(p *gocode.Place, call *ast.CallExpr) (all []*order) {
	if b := boolean(p.TypeOf(call)); !b {
		return nil
	}
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if o := s.operands(p, n, call); o != nil {
				all = append(all, o)
			}
		case *ast.AssignStmt:
			if test := tester(p, n, call); test != nil {
				all = append(all, s.statements(p, test, call)...)
			}
			return all
		case *ast.IfStmt:
			if syntax.Within(n.Cond, call) {
				all = append(all, s.statements(p, n, call)...)
			}
			return all
		case ast.Stmt:
			return all
		}
	}
	return all
}

func boolean(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// operands returns the order of the operands of && and ||, of which the left one is the call.
func (s *search) operands(p *gocode.Place, b *ast.BinaryExpr, call *ast.CallExpr) *order {
	if b.Op != token.LAND && b.Op != token.LOR || !is(b.X, call) || !cheap(p, b.Y, 2) || !s.independent(p, call, b.Y) {
		return nil
	}
	yes, ok := s.returnsTrue(p, call)
	if !ok {
		return nil
	}
	if _, negated := ast.Unparen(b.X).(*ast.UnaryExpr); negated {
		yes = 1 - yes
	}
	if b.Op == token.LOR { // the cheap one runs if the call is false, and decides if it is true
		yes = 1 - yes
	}
	holds, ok := s.holds(p, b)
	if !ok || yes <= 0 {
		return nil
	}
	if b.Op == token.LOR {
		holds = 1 - holds
	}
	return &order{call: call, cheap: b.Y, passes: yes, rejected: max(0, 1-holds/yes)}
}

// tester returns the if statement that tests the variable which a statement sets to a call, if
// nothing else reads it: if ok := call(); !ok { … }, or the statement after ok := call(). It
// returns nil for others.
func tester(p *gocode.Place, set *ast.AssignStmt, call *ast.CallExpr) *ast.IfStmt {
	v := resultOf(p, call)
	if v == nil || len(set.Lhs) != 1 {
		return nil
	}
	switch up := syntax.Parent(p, set).(type) {
	case *ast.IfStmt:
		if up.Init == ast.Stmt(set) {
			return up
		}
	case *ast.BlockStmt:
		if i := slices.Index(up.List, ast.Stmt(set)); i >= 0 && i+1 < len(up.List) {
			test, _ := up.List[i+1].(*ast.IfStmt)
			return test
		}
	}
	return nil
}

// resultOf returns the variable that has the result of a call, if it is read once; nil for none.
func resultOf(p *gocode.Place, call *ast.CallExpr) *types.Var {
	v := syntax.Result(p, call)
	if v == nil || len(syntax.Reads(p, v)) != 1 || len(syntax.Assigned(p, v)) != 1 {
		return nil
	}
	return v
}

// tests reports whether a condition is a call, its negation, or the same of a variable that has the
// call's result.
func tests(p *gocode.Place, cond ast.Expr, call *ast.CallExpr) bool {
	if is(cond, call) {
		return true
	}
	e := ast.Unparen(cond)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		e = u.X
	}
	v := resultOf(p, call)
	return v != nil && syntax.LocalVar(p, e) == v
}

// is reports whether an expression is a call, or its negation.
func is(e ast.Expr, call *ast.CallExpr) bool {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		e = ast.Unparen(u.X)
	}
	return e == ast.Expr(call)
}

// returnsTrue returns the share of the calls of a function of the package that return true, by the
// executions of its return statements; false if they return other values.
func (s *search) returnsTrue(p *gocode.Place, call *ast.CallExpr) (float64, bool) {
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil {
		return 0, false
	}
	yes, no, known := 0.0, 0.0, true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			runs, ok := evidence.ReachedAt(s.pass, p, n.Pos())
			v, constant := constantBool(p, n)
			if known = known && ok && constant; v {
				yes += runs
			} else {
				no += runs
			}
		}
		return true
	})
	return yes / (yes + no), known && yes+no > 0
}

func constantBool(p *gocode.Place, r *ast.ReturnStmt) (value, ok bool) {
	if len(r.Results) != 1 {
		return false, false
	}
	v, ok := p.Const(r.Results[0])
	return ok && v.Kind() == constant.Bool && constant.BoolVal(v), ok
}

// holds returns the share of its evaluations in which a condition holds: that of an if statement,
// or what a function returns to one.
func (s *search) holds(p *gocode.Place, cond ast.Expr) (float64, bool) {
	switch up := syntax.Parent(p, cond).(type) {
	case *ast.IfStmt:
		if up.Cond == cond {
			return s.taken(p, up)
		}
	case *ast.ReturnStmt:
		return s.returned(p, up)
	}
	return 0, false
}

// taken returns the share of the executions of an if statement that run its body.
func (s *search) taken(p *gocode.Place, test *ast.IfStmt) (float64, bool) {
	if len(test.Body.List) == 0 {
		return 0, false
	}
	all, ok1 := evidence.ReachedAt(s.pass, p, test.Cond.Pos())
	if !ok1 {
		all, ok1 = evidence.ReachedAt(s.pass, p, test.Pos())
	}
	body, ok2 := evidence.ReachedAt(s.pass, p, test.Body.List[0].Pos())
	return body / all, ok1 && ok2 && all > 0
}

// returned returns the share of its calls in which a function returns true, by the if statements
// that test it; r is the last of its return statements.
func (s *search) returned(p *gocode.Place, r *ast.ReturnStmt) (float64, bool) {
	if len(r.Results) != 1 {
		return 0, false
	}
	yes, all := 0.0, 0.0
	count := func(in *gocode.Place, of func(*ast.CallExpr) bool) {
		ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
			test, ok := n.(*ast.IfStmt)
			if !ok {
				return true
			}
			e, negated := ast.Unparen(test.Cond), false
			if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.NOT {
				e, negated = ast.Unparen(u.X), true
			}
			if call, ok := e.(*ast.CallExpr); ok && of(call) {
				share, known := s.taken(in, test)
				runs, _ := evidence.ReachedAt(s.pass, in, test.Pos())
				if negated {
					share = 1 - share
				}
				if known {
					yes, all = yes+share*runs, all+runs
				}
			}
			return true
		})
	}
	var around ast.Node
	for _, n := range p.Enclosing(r) {
		if lit, ok := n.(*ast.FuncLit); ok {
			around = lit
			break
		}
	}
	if lit, ok := around.(*ast.FuncLit); ok {
		in, param := s.receiver(p, lit)
		if in == nil {
			return 0, false
		}
		count(in, func(call *ast.CallExpr) bool { return syntax.LocalVar(in, call.Fun) == param })
	} else if fn, ok := p.Object(p.Decl.Name).(*types.Func); ok {
		seen := map[*ast.FuncDecl]bool{}
		for _, in := range s.pass.Syntax.CallsOf(gocode.FullName(fn)) {
			if in.Decl != nil && in.Decl.Body != nil && !seen[in.Decl] {
				seen[in.Decl] = true
				count(in, func(call *ast.CallExpr) bool { return in.Callee(call) == fn })
			}
		}
	}
	return yes / all, all > 0
}

// receiver returns the function of the package that gets a function literal, and its parameter for
// it.
func (s *search) receiver(p *gocode.Place, lit *ast.FuncLit) (*gocode.Place, *types.Var) {
	call, ok := syntax.Parent(p, lit).(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return nil, nil
	}
	for i, arg := range call.Args {
		if ast.Unparen(arg) == ast.Expr(lit) && i < fn.Signature().Params().Len() {
			return p.Entry(decl), fn.Signature().Params().At(i)
		}
	}
	return nil, nil
}

// statements returns the orders of an if statement whose condition is the call, and which leaves
// the block, and the cheap test in the next statement.
func (s *search) statements(p *gocode.Place, first *ast.IfStmt, call *ast.CallExpr) (all []*order) {
	block, ok := syntax.Parent(p, first).(*ast.BlockStmt)
	if !ok || first.Else != nil || first.Init != nil && !syntax.Within(first.Init, call) || !tests(p, first.Cond, call) || len(first.Body.List) != 1 || !leaves(first.Body.List[0]) {
		return nil
	}
	for i, stmt := range block.List {
		if stmt != ast.Stmt(first) || i+1 == len(block.List) {
			continue
		}
		next := block.List[i+1]
		ran, ok1 := evidence.ReachedAt(s.pass, p, first.Pos())
		passed, ok2 := evidence.ReachedAt(s.pass, p, next.Pos())
		if !ok1 || !ok2 || ran <= 0 || passed <= 0 {
			return nil
		}
		o := &order{call: call, passes: passed / ran}
		switch next := next.(type) {
		case *ast.IfStmt:
			if next.Else != nil || next.Init != nil || !cheap(p, next.Cond, 2) || !s.independent(p, call, next.Cond) {
				return nil
			}
			share, ok := s.taken(p, next)
			if !ok {
				return nil
			}
			o.cheap, o.rejected = next.Cond, share
			if last := i+2 == len(block.List); last && skips(p, block, first.Body.List[0]) && !leaves(next.Body.List[len(next.Body.List)-1]) {
				o.rejected = 1 - share // the body is what the tests are for
			} else if len(next.Body.List) > 1 || !sameWay(first.Body.List[0], next.Body.List[0]) {
				return nil
			}
			return []*order{o}
		case *ast.ReturnStmt:
			if len(next.Results) != 1 || !cheap(p, next.Results[0], 2) || !s.independent(p, call, next.Results[0]) {
				return nil
			}
			if _, constant := p.Const(next.Results[0]); constant {
				return nil
			}
			if ret, ok := first.Body.List[0].(*ast.ReturnStmt); !ok || !returnsFalse(p, ret) {
				return nil // the first one accepts
			}
			yes, ok := s.returned(p, next)
			if !ok {
				return nil
			}
			o.cheap, o.rejected = next.Results[0], max(0, 1-yes/o.passes)
			return []*order{o}
		}
	}
	return nil
}

// leaves reports whether a statement does nothing but leave the block, without work for a result.
func leaves(stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE || s.Tok == token.BREAK
	case *ast.ReturnStmt:
		for _, e := range s.Results {
			switch ast.Unparen(e).(type) {
			case *ast.Ident, *ast.BasicLit:
			default:
				return false
			}
		}
		return true
	}
	return false
}

// sameWay reports whether two statements leave the block in the same way, so that it does not
// matter which runs.
func sameWay(a, b ast.Stmt) bool {
	switch a := a.(type) {
	case *ast.BranchStmt:
		b, ok := b.(*ast.BranchStmt)
		return ok && leaves(a) && a.Tok == b.Tok && label(a) == label(b)
	case *ast.ReturnStmt:
		b, ok := b.(*ast.ReturnStmt)
		return ok && leaves(a) && slices.EqualFunc(a.Results, b.Results, func(x, y ast.Expr) bool { return types.ExprString(x) == types.ExprString(y) })
	}
	return false
}

func label(b *ast.BranchStmt) string {
	if b.Label == nil {
		return ""
	}
	return b.Label.Name
}

// skips reports whether a statement does what the end of the block does.
func skips(p *gocode.Place, block *ast.BlockStmt, stmt ast.Stmt) bool {
	switch stmt := stmt.(type) {
	case *ast.BranchStmt:
		switch syntax.Parent(p, block).(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return stmt.Tok == token.CONTINUE && stmt.Label == nil
		}
	case *ast.ReturnStmt:
		switch syntax.Parent(p, block).(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return len(stmt.Results) == 0
		}
	}
	return false
}

func returnsFalse(p *gocode.Place, r *ast.ReturnStmt) bool {
	value, ok := constantBool(p, r)
	return ok && !value
}
