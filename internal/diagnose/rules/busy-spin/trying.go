package busyspin

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

const gosched = "runtime.Gosched"

// mostCallees is the maximum depth of calls of functions of the package in which an attempt is
// searched for.
const mostCallees = 2

// trying examines what most iterations of a loop do. Lines that run in few of them are left out.
type trying struct {
	*search
	p      *gocode.Place
	of     *polling
	depth  int
	works  bool // something other than trying
	moves  bool // it changes a variable, so another iteration may be a step of a walk
	yields float64
}

// node examines a statement or an expression.
func (t *trying) node(n ast.Node) {
	if n == nil || t.works {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil || t.works {
			return false
		}
		if e, ok := n.(ast.Expr); ok && e == nil {
			return false
		}
		if _, block := n.(*ast.BlockStmt); !block && !t.hot(n) {
			return false
		}
		return t.visit(n)
	})
}

// hot reports whether a node's first line runs in most iterations.
func (t *trying) hot(n ast.Node) bool {
	if _, ok := n.(*ast.CommClause); ok {
		return true // its body is examined
	}
	runs := t.runs(t.p, n, syntax.Line(t.p, n.Pos()))
	if runs >= hot*t.of.iterations {
		return true
	}
	if _, stmt := n.(ast.Stmt); stmt {
		t.of.done = max(t.of.done, runs)
	}
	return false
}

// visit examines one node, and reports whether to examine what is in it.
func (t *trying) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectStmt:
		return t.selects(n)
	case *ast.CallExpr:
		return t.calls(n)
	case *ast.IfStmt:
		t.branch(n)
		return false
	case *ast.ForStmt:
		if n.Post != nil {
			t.inner(n, n.Body, n.Cond)
			return false
		}
	case *ast.RangeStmt:
		t.ranges(n)
		return false
	case *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.FuncLit, *ast.TypeSwitchStmt:
		_, deferred := n.(*ast.DeferStmt)
		t.works = !deferred
	case *ast.UnaryExpr:
		t.works = n.Op == token.ARROW
	case *ast.BinaryExpr:
		switch n.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR, token.SUB, token.ADD:
		default:
			t.works = true
		}
	case *ast.IncDecStmt: // of tries
		t.works, t.moves = syntax.LocalVar(t.p, n.X) == nil, true
	case *ast.AssignStmt:
		t.moves = t.moves || n.Tok != token.DEFINE
		t.works = computes(n)
	}
	return !t.works
}

// branch examines an if statement.
func (t *trying) branch(i *ast.IfStmt) {
	if i.Init != nil {
		t.node(i.Init)
	}
	if t.handles(i) {
		return
	}
	t.node(i.Cond)
	t.node(i.Body)
	if i.Else != nil {
		t.node(i.Else)
	}
}

// computes reports whether an assignment computes a value, or changes an element.
func computes(a *ast.AssignStmt) bool {
	if a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		return true
	}
	for _, e := range a.Rhs {
		if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && (b.Op == token.ADD || b.Op == token.SUB) {
			return true
		}
	}
	for _, e := range a.Lhs {
		if _, element := ast.Unparen(e).(*ast.IndexExpr); element {
			return true
		}
	}
	return false
}

// selects examines a select statement. Its cases run when a channel is ready; one without a default
// blocks.
func (t *trying) selects(s *ast.SelectStmt) bool {
	idle := false
	for _, c := range s.Body.List {
		c := c.(*ast.CommClause)
		idle = idle || c.Comm == nil
		for _, stmt := range c.Body {
			t.node(stmt)
		}
	}
	if !idle {
		t.works = true
		return false
	}
	t.attempts(s, channel)
	return false
}

// attempts notes an attempt. A channel says more than a state that is loaded beside it.
func (t *trying) attempts(n ast.Node, kind attempt) {
	if t.of.kind == none || kind < t.of.kind {
		t.of.attempt, t.of.kind = n, kind
	}
}

// calls examines a call.
func (t *trying) calls(call *ast.CallExpr) bool {
	p := t.p
	if _, ok := p.Conversion(call); ok {
		return true
	}
	name := p.CalleeName(call)
	switch {
	case name == gosched:
		t.yields += t.runs(p, call, syntax.Line(p, call.Pos()))
	case name == "len" || name == "cap":
		if _, ok := p.TypeOf(call.Args[0]).Underlying().(*types.Chan); ok {
			t.attempts(call, channel)
		}
	case name == "min" || name == "max":
	case funcname.Match(name, "sync/atomic.CompareAndSwap*", "sync/atomic.Swap*", "(*sync.Mutex).TryLock", "(*sync.RWMutex).Try*") || atomicMethod(name, "CompareAndSwap", "Swap"):
		t.attempts(call, lock)
	case t.tries(call):
		t.attempts(call, lock)
	case funcname.Match(name, "sync/atomic.Load*") || atomicMethod(name, "Load"):
		t.attempts(call, state)
	case funcname.Match(name, "(*sync.Mutex).Lock", "(*sync.Mutex).Unlock", "(*sync.RWMutex).Lock", "(*sync.RWMutex).Unlock",
		"(*sync.RWMutex).RLock", "(*sync.RWMutex).RUnlock", "(sync.Locker).Lock", "(sync.Locker).Unlock"):
		t.attempts(call, state)
	case funcname.Match(name, "(context.Context).Err", "time.Now", "time.Since", "time.Until"):
		t.attempts(call, waiting)
	case funcname.Match(name, "(context.Context).Done", "(time.Time).*"):
	case t.asks(call):
		t.attempts(call, state)
	case says(name):
	default:
		t.follows(call)
	}
	return !t.works
}

// tries reports whether a call is of a method of another package that tries to lock or acquire
// something, as its name and its result say, and notes the method beside it that blocks.
func (t *trying) tries(call *ast.CallExpr) bool {
	f := t.p.Callee(call)
	if f == nil || f.Pkg() == t.p.Pkg || f.Signature().Recv() == nil {
		return false
	}
	blocking, ok := strings.CutPrefix(f.Name(), "Try")
	if !ok || !strings.HasPrefix(blocking, "Lock") && !strings.HasPrefix(blocking, "Acquire") && !strings.HasPrefix(blocking, "RLock") {
		return false
	}
	results := f.Signature().Results()
	if results.Len() != 1 || !types.Identical(results.At(0).Type(), types.Typ[types.Bool]) {
		return false
	}
	t.of.outside = append(t.of.outside, f.Name())
	if other, _, _ := types.LookupFieldOrMethod(f.Signature().Recv().Type(), true, f.Pkg(), blocking); other != nil {
		t.of.blocking = blocking
	}
	return true
}

// atomicMethod reports whether a name is that of a method of an atomic type.
func atomicMethod(name string, methods ...string) bool {
	if !strings.HasPrefix(name, "(*sync/atomic.") {
		return false
	}
	for _, m := range methods {
		if strings.HasSuffix(name, ")."+m) {
			return true
		}
	}
	return false
}

// follows examines a function of the package.
func (t *trying) follows(call *ast.CallExpr) {
	decl := t.p.Declaration(t.p.Callee(call))
	before := t.of.kind
	if decl == nil || decl.Body == nil || t.depth >= mostCallees {
		t.works = !t.fails(call)
		return
	}
	inner := trying{search: t.search, p: t.p.Entry(decl), of: t.of, depth: t.depth + 1}
	inner.node(decl.Body)
	t.works, t.yields = inner.works && !t.fails(call), t.yields+inner.yields
	t.moves = t.moves || inner.moves
	t.of.callees = append(t.of.callees, decl)
	if t.of.kind != before {
		t.of.through = syntax.Text(call)
	}
}
