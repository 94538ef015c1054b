package writebeforeanswer

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// unneeded reports whether a call sends a record to others, and its function goes on in the same
// way whatever comes of it.
func unneeded(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil || answers(p, call) {
		return false
	}
	if !awaited.Writes(p, call) && !records(fn) {
		return false
	}
	outer := p.Outer()
	switch n := syntax.Parent(outer, call).(type) {
	case *ast.ExprStmt:
		return true
	case *ast.DeferStmt:
		return true // the response is sent when the handler has returned
	case *ast.AssignStmt:
		return len(n.Rhs) == 1 && dropped(outer, n)
	}
	return false
}

// records reports whether the name of a function says that it stores or sends something for others
// to read later.
func records(fn *types.Func) bool {
	if !awaited.ReturnsNothing(fn) {
		return false
	}
	words := awaited.Words(fn.Name())
	if slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"begin", "commit", "rollback", "lock", "unlock", "acquire", "release", "flush", "serve", "handle", "handler", "next", "respond", "render",
			"encode", "wait", "close", "reply", "response", "json", "body", "header"}, w)
	}) {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"audit", "insert", "post", "publish", "record", "log", "notify", "push", "emit", "track", "report", "save", "store", "send", "touch",
			"produce", "trail", "event", "metric", "metrics", "stat", "stats", "usage", "seen", "visit", "hit"}, w)
	})
}

// answers reports whether a call gets the response, or a variable to fill: then it is part of the
// answer.
func answers(p *gocode.Place, call *ast.CallExpr) bool {
	args := call.Args
	if to := syntax.Receiver(call); to != nil {
		args = append(slices.Clip(args), to)
	}
	return slices.ContainsFunc(args, func(e ast.Expr) bool {
		if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
			_, literal := ast.Unparen(u.X).(*ast.CompositeLit)
			return !literal
		}
		t := p.TypeOf(e)
		return t != nil && strings.HasSuffix(t.String(), "net/http.ResponseWriter")
	})
}

// dropped reports whether the results of a call are dropped, or are an error that is only logged.
func dropped(p *gocode.Place, n *ast.AssignStmt) bool {
	var err *types.Var
	for _, lhs := range n.Lhs {
		id, ok := lhs.(*ast.Ident)
		if !ok {
			return false
		}
		if id.Name == "_" {
			continue
		}
		v := syntax.LocalVar(p, id)
		if v == nil || err != nil || v.Type().String() != "error" || syntax.IsResult(p, v) {
			return false
		}
		err = v
	}
	if err == nil {
		return true
	}
	test, ok := syntax.Parent(p, n).(*ast.IfStmt)
	if !ok || test.Init != ast.Stmt(n) {
		test = following(p, n)
	}
	if test == nil || test.Else != nil || !onlyLogs(p, test.Body) {
		return false
	}
	next := nextSet(p, err, n)
	for _, use := range syntax.Reads(p, err) {
		if use.Pos() > n.End() && use.Pos() < next && !syntax.Within(test, use) {
			return false
		}
	}
	return syntax.Text(test.Cond) == err.Name()+" != nil"
}

// following returns the if statement right after a statement; nil for none.
func following(p *gocode.Place, n ast.Stmt) *ast.IfStmt {
	var list []ast.Stmt
	switch b := syntax.Parent(p, n).(type) {
	case *ast.BlockStmt:
		list = b.List
	case *ast.CaseClause:
		list = b.Body
	}
	if i := slices.Index(list, n); i >= 0 && i+1 < len(list) {
		test, _ := list[i+1].(*ast.IfStmt)
		return test
	}
	return nil
}

// nextSet returns the position at which a function sets a variable again after a statement.
func nextSet(p *gocode.Place, v *types.Var, n ast.Node) token.Pos {
	next := p.Decl.End()
	for _, id := range syntax.Uses(p, v) {
		if id.Pos() > n.End() && id.Pos() < next && syntax.Defines(p, id) {
			next = id.Pos()
		}
	}
	return next
}

// onlyLogs reports whether a block only calls functions that log or count.
func onlyLogs(p *gocode.Place, body *ast.BlockStmt) bool {
	for _, s := range body.List {
		if inc, ok := s.(*ast.IncDecStmt); ok && inc.Tok == token.INC {
			continue
		}
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		call, ok := e.X.(*ast.CallExpr)
		if !ok || answers(p, call) || !effects.LogsOrCounts(p.CalleeName(call)) {
			return false
		}
	}
	return true
}
