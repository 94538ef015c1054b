package bodynotdrained

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/httpconn"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// often is the minimum share of responses that an early return must leave unread.
const often = 0.05

// early is a return statement of a function that reads most responses: there, the body is unread.
type early struct {
	line  int
	share float64 // of the responses, as counted
}

// earlyReturn returns the return statement on which most responses are left unread, by counted
// executions; false if there is none, or executions were not counted.
func earlyReturn(pass *rule.Pass, p *gocode.Place, f *site.Frame, resp *types.Var) (early, bool) {
	all, ok := evidence.Executions(pass, *f)
	if !ok || all.PerUnit <= 0 {
		return early{}, false
	}
	var most early
	for _, ret := range unreadReturns(p, resp) {
		at := *f
		at.Line = syntax.Line(p, ret.Pos())
		e, ok := evidence.Executions(pass, at)
		if share := e.PerUnit / all.PerUnit; ok && share >= often && share <= 1 && share > most.share {
			most = early{line: at.Line, share: share}
		}
	}
	return most, most.share > 0
}

// unreadReturns returns the return statements below a condition on the response that come before
// the function reads its body. It returns nil unless the function closes the body, and is seen to
// read it elsewhere.
func unreadReturns(p *gocode.Place, resp *types.Var) (returns []*ast.ReturnStmt) {
	var reads []*ast.Ident
	closed := false
	for _, id := range syntax.Uses(p, resp) {
		path := p.Enclosing(id)
		if len(path) < 1 {
			return nil // in a closure, which may read it
		}
		switch usage(p, path, id) {
		case closesBody:
			closed = true
		case readsBody:
			reads = append(reads, id)
		case handsOver:
			return nil // to a function that may read it
		}
	}
	if !closed || len(reads) == 0 {
		return nil
	}
	ast.Inspect(p.Func, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == p.Func
		case *ast.ReturnStmt:
			read := slices.ContainsFunc(reads, func(id *ast.Ident) bool { return id.Pos() < n.End() })
			if !read && conditional(p, n, resp) {
				returns = append(returns, n)
			}
		}
		return true
	})
	return returns
}

// use is what an expression does with a response.
type use int

const (
	looks      use = iota // at its status or header, compares it, assigns it
	closesBody            // of the response
	readsBody             // or may read it
	handsOver             // the response itself
)

// usage returns what a use of a response, whose path is given, does with it.
func usage(p *gocode.Place, path []ast.Node, id *ast.Ident) use {
	switch n := path[0].(type) {
	case *ast.SelectorExpr:
		switch {
		case n.X != id || n.Sel.Name != "Body":
			return looks
		case httpconn.Closes(p, path):
			return closesBody
		}
		return readsBody
	case *ast.AssignStmt:
		if slices.Contains(n.Lhs, ast.Expr(id)) {
			return looks
		}
	case *ast.BinaryExpr:
		return looks
	case *ast.CallExpr:
		if httpconn.ClosesIn(p, n, id) {
			return closesBody
		}
	}
	return handsOver
}

// conditional reports whether a return statement is below a condition on the response, other than
// that it has no body.
func conditional(p *gocode.Place, ret ast.Node, resp *types.Var) bool {
	for _, n := range p.Enclosing(ret) {
		var conds []ast.Expr
		switch n := n.(type) {
		case *ast.IfStmt:
			conds = []ast.Expr{n.Cond}
		case *ast.SwitchStmt:
			if n.Tag != nil {
				conds = []ast.Expr{n.Tag}
			}
		case *ast.CaseClause:
			conds = n.List
		}
		for _, cond := range conds {
			switch mentions, empty := looksAt(p, cond, resp); {
			case empty:
				return false
			case mentions:
				return true
			}
		}
	}
	return false
}

// looksAt reports whether a condition mentions the response, and whether it is true for responses
// without a body.
func looksAt(p *gocode.Place, cond ast.Expr, resp *types.Var) (mentions, empty bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if v, ok := p.Const(e); ok && v.Kind() == constant.Int {
			if code, _ := constant.Int64Val(v); code == 204 || code == 304 {
				empty = true
			}
		}
		switch e := e.(type) {
		case *ast.Ident:
			mentions = mentions || p.Object(e) == resp
		case *ast.SelectorExpr:
			empty = empty || e.Sel.Name == "ContentLength"
		}
		return true
	})
	return mentions, empty
}

// describe fills in the words for a function that leaves some responses unread.
func (e early) describe(c *finder.Case) {
	c.Cause = fmt.Sprintf("%s returns on line %d without reading the response body, for %s of its responses. Closing an unread body closes the connection, and the next request dials a new one.",
		syntax.FuncName(c.Place), e.line, units.Percent(e.share))
	c.Fix = "Read the body to its end before closing it, on this path too: io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))."
	c.Evidence = append(c.Evidence, rule.Evidence{
		What: evidence.ExecutionsCounted, Value: fmt.Sprintf("line %d ran for %s of the responses", e.line, units.Percent(e.share)),
	})
}
