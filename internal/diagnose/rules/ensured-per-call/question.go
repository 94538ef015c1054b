package ensuredpercall

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// question is a call that asks another service whether something is there.
type question struct {
	place *gocode.Place
	call  *ast.CallExpr
	test  *ast.IfStmt // of its answer

	step    *awaited.Step
	create  *ast.CallExpr // that creates the missing object
	missing float64       // how often it creates, for each unit of work
	repeats float64       // share of the questions that were asked before
	counted string        // the inputs that were counted; "" if none
}

// look returns the question of a call, if its answer has no use but one test; nil if not.
func look(p *gocode.Place, call *ast.CallExpr) *question {
	fn := p.Callee(call)
	if fn == nil || momentary(fn.Name()) || awaited.Writes(p, call) || !asks(p, fn) {
		return nil
	}
	whole := scanned(p, call)
	q := &question{place: p, call: call}
	if v := answer(p, whole); v != nil {
		reads := syntax.Reads(p, v)
		for _, id := range reads {
			if into(p, id, whole) {
				continue
			}
			test := tests(p, id)
			if test == nil || q.test != nil && q.test != test {
				return nil
			}
			q.test = test
		}
	} else {
		q.test = tests(p, whole)
	}
	if q.test == nil {
		return nil
	}
	return q
}

// momentary reports whether the name of a function says that its answer is about this moment.
func momentary(name string) bool {
	return slices.ContainsFunc(awaited.Words(name), func(w string) bool {
		return slices.Contains([]string{"lock", "locked", "lease", "leader", "owner", "token", "ping", "alive", "health", "healthy", "ready", "status", "quota", "limit", "seen", "allowed"}, w)
	})
}

// asks reports whether a function reads, by its code or by its name.
func asks(p *gocode.Place, fn *types.Func) bool {
	if decl := p.Declaration(fn); decl != nil && awaited.OnlyReads(p.Entry(decl)) {
		return true
	}
	words := awaited.Words(fn.Name())
	verbs := []string{"get", "head", "stat", "list", "describe", "query", "find", "lookup", "search", "fetch", "has", "is", "count", "exists"}
	return slices.Contains(verbs, words[0]) || slices.Contains(words, "exists")
}

// scanned returns the call that stores the row of a query in variables; the call itself if there is
// none.
func scanned(p *gocode.Place, call *ast.CallExpr) *ast.CallExpr {
	sel, ok := syntax.Parent(p, call).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Scan" {
		return call
	}
	if scan, ok := syntax.Parent(p, sel).(*ast.CallExpr); ok && scan.Fun == ast.Expr(sel) {
		return scan
	}
	return call
}

// answer returns the local variable that gets the answer of a call; nil for none.
func answer(p *gocode.Place, call *ast.CallExpr) *types.Var {
	if len(call.Args) == 1 {
		if u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr); ok && u.Op == token.AND {
			return syntax.LocalVar(p, u.X)
		}
	}
	to := syntax.AssignedTo(p, call)
	if assign, ok := syntax.Parent(p, call).(*ast.AssignStmt); ok {
		to = assign.Lhs[0]
	}
	v := syntax.LocalVar(p, to)
	if v == nil || syntax.IsError(v.Type()) || syntax.IsResult(p, v) {
		return nil
	}
	return v
}

// into reports whether a use of a variable is that of the call that fills it.
func into(p *gocode.Place, id *ast.Ident, call *ast.CallExpr) bool {
	u, ok := syntax.Parent(p, id).(*ast.UnaryExpr)
	return ok && u.Op == token.AND && len(call.Args) == 1 && ast.Unparen(call.Args[0]) == ast.Expr(u)
}

// tests returns the if statement whose condition tests whether a value is empty, false or nil.
func tests(p *gocode.Place, value ast.Expr) *ast.IfStmt {
	var e ast.Node = value
	for {
		switch n := syntax.Parent(p, e).(type) {
		case *ast.CallExpr:
			if p.CalleeName(n) != "len" && syntax.Text(n.Fun) != "len" {
				return nil
			}
			e = n
		case *ast.UnaryExpr:
			if n.Op != token.NOT {
				return nil
			}
			e = n
		case *ast.BinaryExpr:
			if n.Op != token.LAND && n.Op != token.LOR && !empty(p, n) {
				return nil
			}
			e = n
		case *ast.IfStmt:
			if ast.Unparen(n.Cond) != e {
				return nil
			}
			return n
		default:
			return nil
		}
	}
}

// empty reports whether an expression compares a value with nil, "", false or 0, or with 1 for less
// or more.
func empty(p *gocode.Place, b *ast.BinaryExpr) bool {
	return slices.ContainsFunc([]ast.Expr{b.X, b.Y}, func(e ast.Expr) bool {
		if p.Info.Types[e].IsNil() {
			return true
		}
		c, ok := p.Const(e)
		if !ok {
			return false
		}
		switch c.ExactString() {
		case "0", `""`, "false", "true":
			return true
		case "1":
			return b.Op != token.EQL && b.Op != token.NEQ
		}
		return false
	})
}

// arms returns what runs after either outcome of the test alone.
func (q *question) arms() (arms [][]ast.Stmt) {
	arms = append(arms, q.test.Body.List)
	switch other := q.test.Else.(type) {
	case *ast.BlockStmt:
		arms = append(arms, other.List)
	case nil:
		block, ok := syntax.Parent(q.place, q.test).(*ast.BlockStmt)
		if ok && syntax.Leaves(q.test.Body) {
			arms = append(arms, block.List[slices.Index(block.List, ast.Stmt(q.test))+1:])
		}
	}
	return arms
}

// creates reports whether statements create something at another service, and go on as if it had
// been there.
func (q *question) creates(arm []ast.Stmt) bool {
	if q.fails(arm[len(arm)-1]) {
		return false
	}
	for _, s := range arm {
		ast.Inspect(s, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && q.create == nil && q.makes(call) {
				q.create = call
			}
			_, literal := n.(*ast.FuncLit)
			return !literal
		})
	}
	return q.create != nil
}

// makes reports whether a call creates something, by what it visibly sends or by its name.
func (q *question) makes(call *ast.CallExpr) bool {
	fn := q.place.Callee(call)
	if fn == nil || fn.Pkg() == nil || momentary(fn.Name()) {
		return false
	}
	if awaited.Writes(q.place, call) {
		return true
	}
	words := []string{"create", "make", "put", "add", "insert", "init", "initialize", "register", "declare", "ensure"}
	return !symbol.Standard(fn.Pkg().Path()) && slices.Contains(words, strings.TrimSuffix(awaited.Words(fn.Name())[0], "_"))
}

// fails reports whether the last statement of an arm returns an error of its own, or nothing: the
// request ends there.
func (q *question) fails(last ast.Stmt) bool {
	ret, ok := last.(*ast.ReturnStmt)
	if !ok {
		return false
	}
	if len(ret.Results) == 0 {
		return true
	}
	e := ast.Unparen(ret.Results[len(ret.Results)-1])
	if q.place.Info.Types[e].IsNil() {
		return false
	}
	if call, ok := e.(*ast.CallExpr); ok && q.makes(call) {
		return false
	}
	v := syntax.LocalVar(q.place, e)
	return v == nil || !syntax.IsError(v.Type())
}

// constant reports whether the arguments of the question are the same for all requests: constants,
// package variables and fields of the receiver.
func (q *question) constant() bool {
	return !slices.ContainsFunc(q.call.Args, func(arg ast.Expr) bool {
		found := false
		ast.Inspect(arg, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || found {
				return !found
			}
			v := syntax.LocalVar(q.place, id)
			found = v != nil && types.TypeString(v.Type(), nil) != "context.Context" && !(q.place.Decl != nil && q.place.Decl.Recv != nil && syntax.Inside(q.place.Decl.Recv, v.Pos()))
			return !found
		})
		return found
	})
}
