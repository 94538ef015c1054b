package used

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/later"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// collect lists the steps of the function.
func (n *needs) collect() {
	var around []ast.Node
	var visit func(s ast.Node)
	list := func(stmts []ast.Stmt) {
		for _, s := range stmts {
			visit(s)
		}
	}
	inside := func(s ast.Node, body func()) {
		around = append([]ast.Node{s}, around...)
		body()
		around = around[1:]
	}
	some := func(s ast.Stmt) {
		if s != nil {
			visit(s)
		}
	}
	visit = func(s ast.Node) {
		switch s := s.(type) {
		case *ast.BlockStmt:
			list(s.List)
		case *ast.LabeledStmt:
			visit(s.Stmt)
		case *ast.EmptyStmt:
		case *ast.DeclStmt:
			if d, ok := s.Decl.(*ast.GenDecl); ok {
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						n.step(v, around)
					}
				}
			}
		case *ast.IfStmt:
			n.step(s, around)
			inside(s, func() { some(s.Init); visit(s.Body); some(s.Else) })
		case *ast.ForStmt:
			n.step(s, around)
			inside(s, func() { some(s.Init); some(s.Post); visit(s.Body) })
		case *ast.RangeStmt:
			n.step(s, around)
			inside(s, func() { visit(s.Body) })
		case *ast.SwitchStmt:
			n.step(s, around)
			inside(s, func() { some(s.Init); visit(s.Body) })
		case *ast.TypeSwitchStmt:
			n.step(s, around)
			inside(s, func() { some(s.Init); visit(s.Body) })
		case *ast.CaseClause:
			list(s.Body)
		default:
			n.step(s, around)
		}
	}
	visit(n.place.Decl.Body)
}

// step adds a statement.
func (n *needs) step(node ast.Node, around []ast.Node) {
	st := &step{node: node, around: around}
	p := n.place
	set := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); e == nil || ok && id.Name == "_" {
			return
		}
		k, through := n.target(e)
		if k.v == nil || through && !n.owned(k.v, nil) {
			st.needed = true
			return
		}
		st.targets = append(st.targets, k)
		if through {
			for v := range n.aliased(k.v, nil) {
				if v != k.v {
					st.targets = append(st.targets, key{v, ""})
				}
			}
		}
	}
	switch s := node.(type) {
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			set(e)
		}
		for _, e := range s.Rhs {
			st.needed = st.needed || !n.harmless(e)
		}
	case *ast.ValueSpec:
		for _, id := range s.Names {
			set(id)
		}
		for _, e := range s.Values {
			st.needed = st.needed || !n.harmless(e)
		}
	case *ast.IncDecStmt:
		set(s.X)
	case *ast.RangeStmt:
		set(s.Key)
		set(s.Value)
		_, data := p.TypeOf(s.X).Underlying().(*types.Signature)
		_, channel := p.TypeOf(s.X).Underlying().(*types.Chan)
		st.needed = st.needed || data || channel || !n.harmless(s.X)
	case *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt:
		for _, part := range heads(s) {
			if e, ok := part.(ast.Expr); ok {
				st.needed = st.needed || !n.harmless(e)
			}
		}
	case *ast.BranchStmt:
		st.needed = s.Tok == token.GOTO
	case *ast.ExprStmt:
		if to := n.filled(s.X); to != nil {
			set(to)
			st.needed = st.needed || len(st.targets) == 0
			if n.orders(s.X) && !st.needed && st.targets[0].part == "" {
				st.targets[0].part = element
			}
		} else {
			st.needed = true
		}
	default: // return, defer, go, send, select, a switch on types
		st.needed = true
	}
	n.steps = append(n.steps, st)
}

// target returns the local variable, or the field of it, that an assignment sets, and whether it
// sets something that the variable refers to. Setting an element of a map also sets its length.
func (n *needs) target(lhs ast.Expr) (k key, through bool) {
	p := n.place
	part := ""
	for {
		switch x := ast.Unparen(lhs).(type) {
		case *ast.Ident:
			v, ok := p.Object(x).(*types.Var)
			if !ok || !syntax.Local(p, v) {
				return key{}, false
			}
			return key{v, part}, through
		case *ast.SelectorExpr:
			if field, ok := fieldOf(p, x); ok {
				_, pointer := p.TypeOf(x.X).Underlying().(*types.Pointer)
				return field, through || pointer
			}
			through, part = true, ""
			lhs = x.X
		case *ast.IndexExpr:
			if through, part = true, element; syntax.IsMap(p.TypeOf(x.X)) {
				part = length
			}
			lhs = x.X
		case *ast.StarExpr:
			through, part = true, ""
			lhs = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return key{}, false
			}
			lhs = x.X
		default:
			return key{}, false
		}
	}
}

// aliased returns the local variables that share what a variable refers to, as far as assignments
// show.
func (n *needs) aliased(v *types.Var, seen map[*types.Var]bool) map[*types.Var]bool {
	if seen == nil {
		seen = map[*types.Var]bool{}
	}
	if seen[v] || syntax.PlainData(v.Type()) {
		return seen
	}
	seen[v] = true
	for _, e := range n.values(v) {
		ast.Inspect(e, func(x ast.Node) bool {
			if id, ok := x.(*ast.Ident); ok {
				if of, ok := n.place.Object(id).(*types.Var); ok && syntax.Local(n.place, of) {
					n.aliased(of, seen)
				}
			}
			return true
		})
	}
	return seen
}

// values returns what a variable is set to.
func (n *needs) values(v *types.Var) []ast.Expr {
	all := syntax.Assigned(n.place, v)
	if s, _ := syntax.Declared(n.place, v); s != nil {
		if r, ok := s.(*ast.RangeStmt); ok {
			all = append(all, r.X)
		}
	}
	return all
}

// owned reports whether the function created all that a variable refers to.
func (n *needs) owned(v *types.Var, seen map[*types.Var]bool) bool {
	p := n.place
	if seen[v] || syntax.PlainData(v.Type()) {
		return true
	}
	if !syntax.Local(p, v) || syntax.Param(p, v) {
		return false
	}
	if seen == nil {
		seen = map[*types.Var]bool{}
	}
	seen[v] = true
	s, _ := syntax.Declared(p, v)
	if a, ok := s.(*ast.AssignStmt); ok && len(a.Lhs) != len(a.Rhs) {
		return false
	}
	for _, e := range n.values(v) {
		if !n.fresh(e, seen) {
			return false
		}
	}
	return true
}

// fresh reports whether an expression refers only to what the function created.
func (n *needs) fresh(e ast.Expr, seen map[*types.Var]bool) bool {
	p := n.place
	if t := p.TypeOf(e); t == nil || p.Info.Types[e].IsNil() || syntax.PlainData(t) {
		return t != nil
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		for _, elt := range x.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if !n.fresh(elt, seen) {
				return false
			}
		}
		return true
	case *ast.UnaryExpr:
		return x.Op == token.AND && n.fresh(x.X, seen)
	case *ast.SliceExpr:
		return n.fresh(x.X, seen)
	case *ast.CallExpr:
		switch name := p.CalleeName(x); name {
		case "make", "new":
			return true
		case "append":
			return n.fresh(x.Args[0], seen)
		default:
			return funcname.Match(name, "crypto/*.New*", "hash/*.New*", "slices.Collect", "slices.Sorted*", "slices.Clone", "maps.Clone", "strings.Split*", "strings.Fields", "bytes.NewBuffer*")
		}
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		v, _ := syntax.Var(p, x)
		return v != nil && n.owned(v, seen)
	}
	return false
}

// filled returns what a call fills that does nothing else: a buffer, or a list that it sorts; nil
// for other calls.
func (n *needs) filled(e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	p := n.place
	for _, arg := range call.Args {
		if !n.harmless(arg) {
			return nil
		}
	}
	name := p.CalleeName(call)
	if to := syntax.Receiver(call); to != nil && funcname.Match(name, "(*strings.Builder).*", "(*bytes.Buffer).Write*", "(hash.Hash*).Write", "(io.Writer).Write") {
		if strings.HasPrefix(name, "(io") && !buffers(p.TypeOf(to)) {
			return nil
		}
		return to
	}
	if len(call.Args) == 0 || !funcname.Match(name, "sort.*", "slices.Sort*", "slices.Reverse", "fmt.Fprint*", "io.WriteString", "maps.Copy", "copy", "clear", "delete") {
		return nil
	}
	to := ast.Unparen(call.Args[0])
	if strings.HasPrefix(name, "fmt.") || strings.HasPrefix(name, "io.") {
		if !buffers(p.TypeOf(to)) {
			return nil
		}
	}
	if conv, ok := to.(*ast.CallExpr); ok {
		if _, is := p.Conversion(conv); !is {
			return nil
		}
		to = conv.Args[0]
	}
	return to
}

// orders reports whether a call only changes the order of a list.
func (n *needs) orders(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && funcname.Match(n.place.CalleeName(call), "sort.*", "slices.Sort*", "slices.Reverse")
}

// buffers reports whether a writer is a buffer in memory.
func buffers(t types.Type) bool {
	return t != nil && funcname.Match(types.TypeString(t, nil), "strings.Builder", "bytes.Buffer", "*strings.Builder", "*bytes.Buffer", "hash.Hash*")
}

// harmless reports whether an expression has no side effects.
func (n *needs) harmless(e ast.Node) bool {
	fine := true
	ast.Inspect(e, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.UnaryExpr:
			fine = fine && x.Op != token.ARROW
		case *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt:
			fine = false
		case *ast.FuncLit:
			fine = fine && !n.writesAround(x)
		case *ast.CallExpr:
			fine = fine && n.computes(x)
		}
		return fine
	})
	return fine
}

// writesAround reports whether a function literal sets what it does not declare.
func (n *needs) writesAround(lit *ast.FuncLit) (found bool) {
	outside := func(e ast.Expr) {
		v, part := syntax.Var(n.place, e)
		found = found || v == nil || !syntax.Inside(lit, v.Pos()) || part
	}
	ast.Inspect(lit.Body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.AssignStmt:
			for _, lhs := range x.Lhs {
				if id, ok := lhs.(*ast.Ident); !ok || id.Name != "_" {
					outside(lhs)
				}
			}
		case *ast.IncDecStmt:
			outside(x.X)
		}
		return !found
	})
	return found
}

// computes reports whether a call only computes its result.
func (n *needs) computes(call *ast.CallExpr) bool {
	p := n.place
	if later.Computes(p, call) {
		return true
	}
	if p.CalleeName(call) == "append" {
		return true // what it sets is judged where it is assigned
	}
	if to := syntax.Receiver(call); to != nil && funcname.Match(p.CalleeName(call), "(*strings.Builder).String", "(*strings.Builder).Len", "(*bytes.Buffer).String", "(*bytes.Buffer).Bytes", "(*bytes.Buffer).Len", "(hash.Hash*).Sum*") {
		return true
	}
	fn := p.Callee(call)
	if fn == nil || effects.Changes(fn) {
		return false
	}
	in, ok := n.syntax.Declared(fn)
	return ok && in.Decl != nil && in.Decl.Body != nil && effects.LooksPureLocked(in.Entry(in.Decl))
}
