package effects

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Independent reports whether the iterations of a loop are visibly independent, so that they could
// run concurrently. An iteration may write only its own variables and elements indexed by the loop
// variable. It may call functions of its package with the same property, and known functions of the
// standard library that write nothing. why says what prevents it, "" when nothing does.
//
// It is not a proof: it does not see overlapping slices and values shared behind interfaces. It
// reports false for what it cannot analyze.
func Independent(p *gocode.Place, loop ast.Node) (ok bool, why string) {
	r := &iteration{Place: p, mine: map[types.Object]bool{}, picks: map[types.Object]bool{}, own: map[types.Object]bool{}, loop: loop}
	if !r.head(loop) {
		return false, r.why
	}
	body := loops.Body(loop)
	r.declare(body)
	r.walk(body)
	if r.why == "" {
		r.elsewhere(body)
	}
	return r.why == "", r.why
}

// iteration follows what one iteration of a loop does, in the loop's body or in a function that it
// calls.
type iteration struct {
	*gocode.Place
	mine  map[types.Object]bool // variables of the iteration
	picks map[types.Object]bool // values that differ in each iteration: the loop's variable, and values computed from it
	own   map[types.Object]bool // slices and pointers whose target belongs to the iteration
	loop  ast.Node              // nil in a function that the iteration calls
	// computes relaxes the analysis: iterations need not run side by side, only again. Results of
	// functions of Repeatable belong to the caller, and function literals are allowed, if they have
	// the same property.
	computes bool
	trusts   bool                  // allow functions of other packages, unless their names suggest side effects
	files    bool                  // package variables that are read are assumed not to change
	visible  bool                  // only visible changes count, not code that cannot be analyzed
	locked   bool                  // locking and unlocking may be ignored
	marks    map[types.Object]bool // maps and lists whose writes are undone: see [Marks]
	calls    []*types.Func         // under way
	wrote    []*ast.IndexExpr      // variables from outside whose elements are used
	why      string
}

// deepest is the number of nested calls that are followed.
const deepest = 4

// refuse records a reason against independence, unless only visible changes count.
func (r *iteration) refuse(n ast.Node, format string, args ...any) {
	if !r.visible {
		r.changes(n, format, args...)
	}
}

// changes records a visible change of something that does not belong to the iteration.
func (r *iteration) changes(n ast.Node, format string, args ...any) {
	if r.why == "" {
		r.why = fmt.Sprintf("line %d ", syntax.Line(r.Place, n.Pos())) + fmt.Sprintf(format, args...)
	}
}

// head records the loop's variables. It refuses loops that stop on a condition: their iterations
// depend on earlier ones.
func (r *iteration) head(loop ast.Node) bool {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		switch t := r.TypeOf(l.X); t.Underlying().(type) {
		case *types.Chan, *types.Signature, *types.Map, nil:
			r.refuse(l, "takes the iterations from %s", syntax.Short(syntax.Text(l.X)))
			return false
		}
		for i, e := range []ast.Expr{l.Key, l.Value} {
			id, ok := e.(*ast.Ident)
			if !ok || id.Name == "_" {
				continue
			}
			obj := r.Object(id)
			if r.Info.Defs[id] == nil {
				r.refuse(l, "keeps %s after the loop", id.Name)
				return false
			}
			r.mine[obj] = true
			if i == 0 {
				r.picks[obj] = true
			} else if _, slice := obj.Type().Underlying().(*types.Slice); slice {
				r.own[obj] = true // rows of a table
			}
		}
		return true
	case *ast.ForStmt:
		init, ok := l.Init.(*ast.AssignStmt)
		if !ok || init.Tok != token.DEFINE || l.Post == nil || l.Cond == nil {
			r.refuse(l, "does not count its iterations")
			return false
		}
		for _, e := range init.Lhs {
			if id, ok := e.(*ast.Ident); ok {
				r.mine[r.Object(id)], r.picks[r.Object(id)] = true, true
			}
		}
		if !r.counts(l.Post) {
			r.refuse(l, "does not count its iterations")
			return false
		}
		return true
	}
	return false
}

// counts reports whether a loop's post statement adds to its variable.
func (r *iteration) counts(post ast.Stmt) bool {
	var x ast.Expr
	switch s := post.(type) {
	case *ast.IncDecStmt:
		x = s.X
	case *ast.AssignStmt:
		if len(s.Lhs) == 1 && (s.Tok == token.ADD_ASSIGN || s.Tok == token.SUB_ASSIGN) {
			x = s.Lhs[0]
		}
	}
	id, ok := x.(*ast.Ident)
	return ok && r.picks[r.Object(id)]
}

// declare records all variables that a block declares.
func (r *iteration) declare(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if v, ok := r.Info.Defs[n].(*types.Var); ok && !v.IsField() {
				r.mine[v] = true
			}
		case *ast.CaseClause: // each clause of a type switch has a variable of its own
			if v, ok := r.Info.Implicits[n].(*types.Var); ok {
				r.mine[v] = true
			}
		}
		return true
	})
}

func (r *iteration) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if r.why != "" {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			r.assign(n)
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if len(n.Values) == len(n.Names) {
					r.learn(id, n.Values[i])
				} else if len(n.Values) == 0 {
					r.own[r.Object(id)] = true // nil, or a value
				}
			}
		case *ast.IncDecStmt:
			r.write(n.X)
		case *ast.RangeStmt:
			r.ranged(n)
		case *ast.SendStmt, *ast.GoStmt:
			r.changes(n, "works with others")
		case *ast.SelectStmt, *ast.DeferStmt:
			if d, ok := n.(*ast.DeferStmt); ok && r.locks(d.Call) {
				return false
			}
			r.refuse(n, "works with others")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				r.refuse(n, "waits for others")
			}
		case *ast.ReturnStmt, *ast.BranchStmt:
			r.ends(n)
		case *ast.CallExpr:
			r.call(n)
		case *ast.FuncLit:
			if !r.computes {
				r.refuse(n, "creates a function")
			}
		}
		return r.why == ""
	})
}

// locks reports whether a call locks or unlocks a mutex, where that may be ignored.
func (r *iteration) locks(call *ast.CallExpr) bool {
	return r.locked && syntax.OnMutex(r.Place, call)
}

// ends refuses statements that end the loop early.
func (r *iteration) ends(n ast.Node) {
	if r.loop == nil {
		return
	}
	switch n := n.(type) {
	case *ast.ReturnStmt:
		r.refuse(n, "may end the loop")
	case *ast.BranchStmt:
		if n.Tok == token.GOTO || n.Label != nil || n.Tok == token.BREAK && syntax.BreakTarget(r.Enclosing(n)) == r.loop {
			r.refuse(n, "may end the loop")
		}
	}
}

func (r *iteration) ranged(n *ast.RangeStmt) {
	t := r.TypeOf(n.X)
	if t == nil {
		return
	}
	switch t.Underlying().(type) {
	case *types.Chan, *types.Signature:
		r.refuse(n, "waits for others")
	}
	if n.Tok == token.ASSIGN {
		for _, e := range []ast.Expr{n.Key, n.Value} {
			if e != nil {
				r.write(e)
			}
		}
	}
}

func (r *iteration) assign(n *ast.AssignStmt) {
	if x, ok := n.Rhs[0].(*ast.TypeAssertExpr); ok && x.Type == nil {
		return // of a type switch, whose clauses declare the variable
	}
	for i, lhs := range n.Lhs {
		switch {
		case n.Tok != token.DEFINE && n.Tok != token.ASSIGN:
			if n.Tok != token.ADD_ASSIGN && n.Tok != token.SUB_ASSIGN {
				r.forget(lhs)
			}
		case len(n.Lhs) == len(n.Rhs):
			r.learn(lhs, n.Rhs[i])
		}
		if id, ok := lhs.(*ast.Ident); ok && (n.Tok == token.DEFINE && r.Info.Defs[id] != nil || id.Name == "_") {
			continue
		}
		r.write(lhs)
	}
}

// learn records what a variable of the iteration holds.
func (r *iteration) learn(lhs, value ast.Expr) {
	id, ok := lhs.(*ast.Ident)
	if !ok || !r.mine[r.Object(id)] {
		return
	}
	r.picks[r.Object(id)] = r.picked(value)
	r.own[r.Object(id)] = r.fresh(value) || r.owned(value)
}

// forget records that a variable no longer has a different value in each iteration.
func (r *iteration) forget(lhs ast.Expr) {
	if id, ok := lhs.(*ast.Ident); ok {
		delete(r.picks, r.Object(id))
	}
}

// fresh reports whether an expression creates a new value.
func (r *iteration) fresh(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, lit := ast.Unparen(e.X).(*ast.CompositeLit)
		return e.Op == token.AND && lit
	case *ast.CallExpr:
		switch name := r.CalleeName(e); name {
		case "make", "new", "bytes.Clone", "slices.Clone", "maps.Clone", "strings.Split", "strings.Fields", "bytes.NewBuffer", "strings.NewReader":
			return true
		case "append":
			return len(e.Args) > 0 && (r.fresh(e.Args[0]) || r.owned(e.Args[0]))
		}
		_, conversion := r.Conversion(e)
		return conversion && !isReference(r.TypeOf(e.Args[0]))
	case *ast.Ident:
		return e.Name == "nil" && r.Object(e) == types.Universe.Lookup("nil")
	}
	return false
}

// picked reports whether a number differs in each iteration: the loop variable, with an offset or a
// factor.
func (r *iteration) picked(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return r.picks[r.Object(e)]
	case *ast.BinaryExpr:
		switch e.Op {
		case token.ADD, token.SUB, token.MUL, token.SHL:
			return r.picked(e.X) || e.Op != token.SHL && r.picked(e.Y)
		}
	case *ast.CallExpr:
		if to, ok := r.Conversion(e); ok && len(e.Args) == 1 {
			b, ok := to.Underlying().(*types.Basic)
			return ok && b.Info()&types.IsNumeric != 0 && r.picked(e.Args[0])
		}
	}
	return false
}

// owned reports whether what an expression denotes, or points to, belongs to the iteration.
func (r *iteration) owned(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		obj := r.Object(e)
		return r.own[obj] || r.marks[obj] || r.mine[obj] && obj.Type() != nil && !isReference(obj.Type())
	case *ast.SelectorExpr:
		return r.marks[r.Object(e.Sel)] || r.Info.Selections[e] != nil && r.owned(e.X)
	case *ast.IndexExpr:
		return r.owned(e.X) || indexed(r.TypeOf(e.X)) && r.picked(e.Index)
	case *ast.SliceExpr:
		return r.owned(e.X) || e.Low != nil && r.picked(e.Low)
	case *ast.StarExpr:
		return r.owned(e.X)
	case *ast.UnaryExpr:
		return e.Op == token.AND && r.owned(e.X)
	}
	return false
}

// isReference reports whether a copy of a value refers to the same memory.
func isReference(t types.Type) bool {
	if t == nil {
		return true
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return true
	}
	return false
}

// indexed reports whether the elements of a type are distinct memory, unlike those of a map.
func indexed(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Slice, *types.Array:
		return true
	case *types.Pointer:
		_, array := t.Elem().Underlying().(*types.Array)
		return array
	}
	return false
}

// write checks the target of a write.
func (r *iteration) write(e ast.Expr) {
	e = ast.Unparen(e)
	if id, ok := e.(*ast.Ident); ok {
		if obj := r.Object(id); !r.mine[obj] {
			r.changes(e, "writes %s, which the iterations share", id.Name)
		} else if r.loop != nil && r.picks[obj] && syntax.Inside(r.loop, obj.Pos()) && obj.Pos() < loops.Body(r.loop).Pos() {
			r.refuse(e, "sets the loop's variable %s", id.Name)
		}
		return
	}
	if !r.owned(e) {
		r.changes(e, "writes %s, which the iterations may share", syntax.Short(syntax.Text(e)))
		return
	}
	if index, ok := e.(*ast.IndexExpr); ok && r.loop != nil && !r.owned(index.X) {
		r.wrote = append(r.wrote, index)
	}
}

// elsewhere refuses loops that write one element and read other elements of the same variable.
func (r *iteration) elsewhere(body ast.Node) {
	for _, w := range r.wrote {
		v, _ := syntax.Var(r.Place, w.X)
		if v == nil {
			continue
		}
		text := syntax.Text(w)
		ast.Inspect(body, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok || r.why != "" {
				return r.why == ""
			}
			if syntax.Text(e) == text {
				return false
			}
			if call, ok := e.(*ast.CallExpr); ok {
				if name := r.CalleeName(call); name == "len" || name == "cap" {
					return false
				}
			}
			if id, ok := e.(*ast.Ident); ok && r.Object(id) == v && syntax.Text(w.X) == id.Name {
				r.refuse(id, "reads what other iterations write to %s", id.Name)
			}
			return true
		})
	}
}

func isPackage(name string, paths ...string) bool {
	for _, p := range paths {
		if strings.HasPrefix(name, p+".") && !strings.Contains(name[len(p)+1:], "/") {
			return true
		}
	}
	return false
}
