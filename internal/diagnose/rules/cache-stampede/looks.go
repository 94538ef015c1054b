package cachestampede

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// dynamic reports whether a call is of a function value, or of a method of an interface with a
// name.
func dynamic(p *gocode.Place, call *ast.CallExpr, name string) bool {
	if fn := p.Callee(call); fn != nil {
		recv := fn.Signature().Recv()
		return recv != nil && types.IsInterface(recv.Type()) && fn.Name() == name
	}
	tv := p.Info.Types[call.Fun]
	if !tv.IsValue() {
		return false
	}
	_, ok := tv.Type.Underlying().(*types.Signature)
	return ok
}

// guards returns the conditions that decide whether a call runs: those of early returns above it,
// and of the statements around it. The check of an error, which rejects the input, is none.
func guards(p *gocode.Place, call *ast.CallExpr) (all []ast.Expr) {
	ast.Inspect(p.Func, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == p.Func
		case *ast.IfStmt:
			if n.End() < call.Pos() && leaves(n.Body.List) && !failed(p, n.Cond) || syntax.Within(n, call) && !syntax.Within(n.Cond, call) {
				all = append(all, n.Cond)
			}
		case *ast.CaseClause:
			if n.End() < call.Pos() && leaves(n.Body) {
				all = append(all, n.List...)
			}
		}
		return true
	})
	return all
}

func leaves(list []ast.Stmt) bool {
	return len(list) > 0 && syntax.Departs(list[len(list)-1], false)
}

// failed reports whether a condition is err != nil, or that and others that reject the input.
func failed(p *gocode.Place, cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if ok && b.Op == token.LOR {
		return failed(p, b.X) || failed(p, b.Y)
	}
	return ok && b.Op == token.NEQ && syntax.IsError(p.TypeOf(b.X))
}

// runsOnce reports whether a function, or one of its package whose result it returns, lets one
// caller at a time look again and do the work: its calls overlap, but the work does not. Work in a
// sync.Once shows in the stacks: see [once].
func runsOnce(p *gocode.Place, decl *ast.FuncDecl, depth int) bool {
	if decl == nil || decl.Body == nil || depth == 0 {
		return false
	}
	in := p.Entry(decl)
	found := false
	var waits token.Pos // the first statement that waits for other callers
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt: // into a semaphore
			waits = first(waits, n.Pos())
		case *ast.CallExpr:
			name := in.CalleeName(n)
			_, returned := syntax.Parent(in, n).(*ast.ReturnStmt)
			switch {
			case funcname.Match(name, "(*golang.org/x/sync/singleflight.Group*", "(*sync.Mutex).TryLock", "(*sync.RWMutex).TryLock", "(*sync/atomic.Bool).*Swap", "(*sync/atomic.Int*Swap", "(*sync/atomic.Uint*Swap"):
				found = true
			case funcname.Match(name, "(*sync.Mutex).Lock", "(*sync.RWMutex).Lock", "(sync.Locker).Lock"):
				waits = first(waits, n.Pos())
			case returned && runsOnce(in, in.Declaration(in.Callee(n)), depth-1):
				found = true
			}
		case *ast.IfStmt:
			found = found || waits.IsValid() && n.Pos() > waits && !failed(in, n.Cond) && (worksIn(in, n.Body, n.Pos()) || leaves(n.Body.List) && worksIn(in, decl.Body, n.End()))
		}
		return !found
	})
	return found
}

func first(a, b token.Pos) token.Pos {
	if !a.IsValid() {
		return b
	}
	return min(a, b)
}

// worksIn reports whether a node has, after a position, a loop or a call that does more than to
// lock or to read the clock.
func worksIn(p *gocode.Place, n ast.Node, after token.Pos) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = found || n.Pos() >= after
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < after {
			return !found
		}
		if _, conversion := p.Conversion(call); conversion || p.Info.Types[call.Fun].IsBuiltin() {
			return true
		}
		found = found || !funcname.Match(p.CalleeName(call), "*.Lock", "*.Unlock", "*.RLock", "*.RUnlock", "time.Now", "time.Since", "time.Until", "(time.*", "(*sync/atomic.*", "errors.New", "fmt.Errorf")
		return !found
	})
	return found
}

// holdsValue reports whether a variable may hold what a cache keeps: not a mark or a time.
func holdsValue(t types.Type) bool {
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
		return false
	}
	return !syntax.IsError(t) && t.String() != "time.Time"
}

// uses are the fields and package variables that code reads and sets, the calls that ask, such as
// v, ok := c.Get(k), and the texts of arguments and indices.
type uses struct {
	place     *gocode.Place
	read, set map[types.Object]bool
	asked     []*ast.CallExpr
	keys      map[string]bool
}

func newUses(p *gocode.Place) *uses {
	return &uses{place: p, read: map[types.Object]bool{}, set: map[types.Object]bool{}, keys: map[string]bool{}}
}

// usesOf returns the uses in a function until a position, if that is valid, and in the functions of
// the package called there, to a depth.
func usesOf(p *gocode.Place, until token.Pos, depth int) *uses {
	u := newUses(p)
	ended := func(n ast.Node) bool { return !until.IsValid() || n.End() <= until }
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if n == nil || until.IsValid() && n.Pos() >= until {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN && ended(n) {
				u.assigned(n)
			}
		case *ast.Ident:
			if obj := p.Object(n); outlasts(obj) && !syntax.Defines(p, selected(p, n)) {
				u.read[obj] = true
			}
		case *ast.CallExpr:
			if ended(n) {
				u.called(n, depth)
			}
		}
		return true
	})
	return u
}

func (u *uses) assigned(n *ast.AssignStmt) {
	for _, lhs := range n.Lhs {
		if obj := holder(u.place, lhs); obj != nil && !syntax.IsError(obj.Type()) && !own(u.place, lhs) {
			u.set[obj] = true
		}
	}
}

// own reports whether an expression is a part of a local variable that holds a struct or an array
// itself: a copy, which no other call reads.
func own(p *gocode.Place, e ast.Expr) bool {
	for {
		var x ast.Expr
		switch part := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			x = part.X
		case *ast.IndexExpr:
			x = part.X
		case *ast.Ident:
			return !outlasts(p.Object(part))
		default:
			return false
		}
		t := p.TypeOf(x)
		if t == nil {
			return false
		}
		switch t.Underlying().(type) {
		case *types.Struct, *types.Array:
			e = x
		default:
			return false
		}
	}
}

func (u *uses) called(n *ast.CallExpr, depth int) {
	fn := u.place.Callee(n)
	if fn == nil {
		return
	}
	if x := syntax.Receiver(n); x != nil && fn.Signature().Recv() != nil {
		if storing(fn.Name()) {
			if obj := holder(u.place, x); obj != nil {
				u.set[obj] = true
			}
		} else if asking(fn) && !statement(u.place, n) {
			u.asked = append(u.asked, n)
		}
	}
	if decl := u.place.Declaration(fn); decl != nil && decl.Body != nil && depth > 1 {
		below := usesOf(u.place.Entry(decl), token.NoPos, depth-1)
		maps.Copy(u.read, below.read)
		maps.Copy(u.set, below.set)
	}
}

// outlasts reports whether an object is a field or a package variable.
func outlasts(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && (v.IsField() || global(v))
}

// global reports whether an object is a package variable.
func global(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// selected returns x.f for its f, and other identifiers as they are.
func selected(p *gocode.Place, id *ast.Ident) ast.Expr {
	if sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr); ok && sel.Sel == id {
		return sel
	}
	return id
}

// holder returns the field or the package variable that an expression is, or is an element of; nil
// for others.
func holder(p *gocode.Place, e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		default:
			if v := syntax.Named(p, e); v != nil && outlasts(v) {
				return v
			}
			return nil
		}
	}
}
