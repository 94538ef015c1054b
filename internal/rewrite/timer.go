package rewrite

import (
	"errors"
	"go/ast"
	"go/token"
)

// timer makes a loop reuse one timer instead of the one that time.After creates in each iteration:
//
//	for { select { case x := <-ch: …; case <-time.After(d): … } }
//
// Since Go 1.23 (by the go line of go.mod) no value of the time before a Reset can be received
// after it (documentation of time.Timer.Reset), so the timer needs no draining. A receive that is
// the only statement becomes time.Sleep.
func timer(s *site, n ast.Node) (*proposal, error) {
	call, ok := n.(*ast.CallExpr)
	if !ok || s.callee(call) != "time.After" {
		return nil, nil
	}
	receive, ok := s.parent(1).(*ast.UnaryExpr)
	if !ok || receive.Op != token.ARROW {
		return nil, errors.New("the channel of time.After is kept")
	}
	if s.pkg.Module == nil || olderThan(s.pkg.Module.GoVersion, 23) {
		return nil, errors.New("a timer that is Reset may deliver an old value before Go 1.23 in go.mod")
	}
	if stmt, ok := s.parent(2).(*ast.ExprStmt); ok {
		if _, comm := s.parent(3).(*ast.CommClause); !comm {
			lib := s.text(call.Fun.(*ast.SelectorExpr).X)
			return &proposal{risk: ByTypes, why: "a single receive from time.After only sleeps",
				edits: []edit{{stmt.Pos(), stmt.End(), lib + ".Sleep(" + s.text(call.Args[0]) + ")"}}}, nil
		}
	}
	return s.oneTimer(call)
}

// oneTimer finds the select and the loop around a time.After.
func (s *site) oneTimer(call *ast.CallExpr) (*proposal, error) {
	// select, block, clause, statement, receive, call
	clause, ok := s.parent(3).(*ast.CommClause)
	if !ok {
		return nil, errors.New("time.After is not the whole of a case")
	}
	wait, ok := s.parent(5).(*ast.SelectStmt)
	body, _ := s.parent(6).(*ast.BlockStmt)
	loop := s.parent(7)
	var loopBody *ast.BlockStmt
	switch l := loop.(type) {
	case *ast.ForStmt:
		loopBody = l.Body
	case *ast.RangeStmt:
		loopBody = l.Body
	}
	if !ok || body == nil || body != loopBody {
		return nil, errors.New("the select is not a statement of a loop's body itself")
	}
	for _, c := range wait.Body.List {
		if c != ast.Stmt(clause) && !s.pureComm(c.(*ast.CommClause).Comm) {
			return nil, errors.New("another case calls something, which could change how long to wait")
		}
	}
	d := call.Args[0]
	if !s.pure(d) || s.declaredIn(d, loop) {
		return nil, errors.New("how long to wait is not known before the loop")
	}
	before := loop.Pos()
	if l, ok := s.parent(8).(*ast.LabeledStmt); ok {
		before = l.Pos()
	}
	if s.jumps() {
		return nil, errors.New("a goto could jump over the timer")
	}
	name, lib := s.freeName("timeout"), s.text(call.Fun.(*ast.SelectorExpr).X)
	length, first := s.text(d), "0" // the Reset before the first select removes what a timer of 0 sends
	if s.harmless(d) {
		first = length
	}
	return &proposal{risk: ByContext, why: "the timer is only used in this select, and a Reset leaves no old value behind", edits: []edit{
		{before, before, name + " := " + lib + ".NewTimer(" + first + ")\n"},
		{wait.Pos(), wait.Pos(), name + ".Reset(" + length + ")\n"},
		{call.Pos(), call.End(), name + ".C"},
	}}, nil
}

// pureComm reports whether the channel of a case (and the value that is sent) is available without
// a call.
func (s *site) pureComm(comm ast.Stmt) bool {
	fine := true
	if comm != nil {
		ast.Inspect(comm, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && !s.pure(call) {
				fine = false
			}
			return true
		})
	}
	return fine
}

// declaredIn reports whether an expression uses a name that is declared within a node.
func (s *site) declaredIn(e ast.Expr, in ast.Node) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if obj := s.pkg.TypesInfo.Uses[id]; obj != nil && in.Pos() <= obj.Pos() && obj.Pos() < in.End() {
				found = true
			}
		}
		return true
	})
	return found
}

// jumps reports whether the function has a goto.
func (s *site) jumps() bool {
	found := false
	ast.Inspect(s.fn, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			found = true
		}
		return true
	})
	return found
}
