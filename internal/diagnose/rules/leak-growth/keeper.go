package leakgrowth

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// keep is what retains the memory of a line.
type keep struct {
	words, fix string
	release    bool   // there is a function that removes an entry, which the owner may have to call
	unused     bool   // nothing removed an entry while executions were counted
	remover    string // the function that would; ""
}

// explain adds what retains the memory to a match.
func (k *keep) explain(m *rule.Match) {
	m.Confidence = rule.Likely
	m.Cause += " " + k.words
	m.Fix = k.fix
}

// insertion puts a value into a container: an entry of a map, an element of a slice.
type insertion struct {
	at    token.Pos
	into  ast.Expr // the field or variable with the container, or with containers of it
	value ast.Expr
	key   ast.Expr // of a map; nil
	deep  bool     // into a container that is an element of into
}

// keeper returns the field or package variable that the line inserts into or appends to, or that
// the package puts what the line makes into, if nothing in the package removes anything from it, or
// seldom while executions were counted; nil otherwise. Of what the package puts into containers,
// lines that never ran keep nothing.
func keeper(pass *rule.Pass, s *site.Site, p *gocode.Place) *keep {
	found := cmp.Or(onLine(pass, s, p, func(insertion) bool { return true }), madeMap(pass, s, p))
	types := makes(p)
	if found != nil || len(types) == 0 {
		return found
	}
	for _, f := range p.Files() {
		insertions(p, f, func(in insertion, _ ast.Node) {
			for _, e := range append(appended(p, in), in.key) {
				t := typeOf(p, e)
				if found != nil || t == nil || !slices.Contains(types, named(t)) || idle(pass, p, in) {
					continue
				}
				if found = holds(pass, s, p, in); found != nil {
					found.ended(pass, p, in, named(t))
				}
			}
		})
	}
	return found
}

// idle reports whether an insertion never ran while executions were counted.
func idle(pass *rule.Pass, p *gocode.Place, in insertion) bool {
	ran, ok := evidence.ExecutionsAt(pass, p, in.at)
	return ok && ran.PerUnit == 0
}

// onLine is keeper for what the line itself inserts, of the insertions that are wanted.
func onLine(pass *rule.Pass, s *site.Site, p *gocode.Place, wanted func(insertion) bool) (found *keep) {
	insertions(p, syntax.Body(p), func(in insertion, whole ast.Node) {
		if syntax.Line(p, whole.Pos()) <= p.Line && syntax.Line(p, whole.End()) >= p.Line && wanted(in) {
			if k := holds(pass, s, p, in); k != nil {
				found = k
				found.ended(pass, p, in, named(typeOf(p, appended(p, in)[0])))
			}
			if v := syntax.LocalVar(p, in.into); v != nil && found == nil {
				found = holdsContainer(pass, s, p, v)
			}
		}
	})
	return found
}

// madeMap is [holdsContainer] for the map that a line makes.
func madeMap(pass *rule.Pass, s *site.Site, p *gocode.Place) *keep {
	for _, n := range p.Nodes {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && syntax.Line(p, a.Pos()) == p.Line {
			if v := syntax.LocalVar(p, a.Lhs[0]); v != nil {
				if _, ok := v.Type().Underlying().(*types.Map); ok {
					return holdsContainer(pass, s, p, v)
				}
			}
		}
	}
	return nil
}

// holdsContainer is [holds] for what a function puts into a container that a local variable refers
// to, and that into another one: by := map[int]*entry{}; m[key] = by; by[id] = e.
func holdsContainer(pass *rule.Pass, s *site.Site, p *gocode.Place, v *types.Var) (found *keep) {
	insertions(p, syntax.Body(p), func(in insertion, _ ast.Node) {
		if found == nil && !in.deep && in.key != nil && syntax.LocalVar(p, in.value) == v {
			found = holds(pass, s, p, in)
		}
	})
	return found
}

// typeOf returns the type of an expression; nil for none.
func typeOf(p *gocode.Place, e ast.Expr) types.Type {
	if e == nil {
		return nil
	}
	return p.TypeOf(e)
}

// makes returns the types of the package of which the line creates values, or parts of values:
// those of the composite literals around the line, and of the results of its function.
func makes(p *gocode.Place) []*types.Named {
	var made []*types.Named
	add := func(t types.Type) {
		n := named(t)
		if n == nil || n.Obj().Pkg() != p.Pkg {
			return
		}
		if _, ok := n.Underlying().(*types.Struct); ok {
			made = append(made, n)
		}
	}
	outer := p.Outer()
	ast.Inspect(syntax.Body(outer), func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && syntax.Line(p, lit.Pos()) <= p.Line && syntax.Line(p, lit.End()) >= p.Line {
			add(p.TypeOf(lit))
		}
		return true
	})
	if outer.Decl == nil {
		return made // of a package variable's initialiser
	}
	if fn, ok := p.Object(outer.Decl.Name).(*types.Func); ok {
		for v := range fn.Signature().Results().Variables() {
			add(v.Type())
		}
	}
	return made
}

// named returns the named type of a value, or that a pointer points to; nil for others.
func named(t types.Type) *types.Named {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// insertions calls yield for each insertion in a node, with the statement or call that it is.
func insertions(p *gocode.Place, root ast.Node, yield func(insertion, ast.Node)) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if funcname.Match(p.CalleeName(n), "(*sync.Map).Store", "(*sync.Map).LoadOrStore", "(*sync.Map).Swap") && len(n.Args) == 2 {
				yield(insertion{at: n.Pos(), into: syntax.Receiver(n), value: n.Args[1], key: n.Args[0]}, n)
			}
			if funcname.Match(p.CalleeName(n), "(*container/list.List).PushBack", "(*container/list.List).PushFront",
				"(*container/list.List).InsertAfter", "(*container/list.List).InsertBefore") {
				yield(insertion{at: n.Pos(), into: syntax.Receiver(n), value: n.Args[0]}, n)
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if e, value := container(p, n, i, lhs); e != nil {
					in := insertion{at: n.Pos(), into: outermost(e), value: value, deep: outermost(e) != ast.Unparen(e)}
					if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
						in.key = x.Index
					}
					yield(in, n)
				}
			}
		}
		return true
	})
}

// holds returns what retains an inserted value, if that is a field or a package variable from which
// values are never or seldom removed; nil otherwise.
func holds(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion) *keep {
	v := kept(p, in.into)
	if v == nil {
		return nil
	}
	name := v.text(in.into)
	k := &keep{words: "It is put into " + name}
	if syntax.Line(p, in.at) != p.Line {
		k.words += fmt.Sprintf(" (%s)", syntax.Where(p, in.at))
	}
	out := shrinkers(p, v)
	if !in.deep && !toElement(p, in) {
		out = slices.DeleteFunc(out, func(n ast.Node) bool { return fromElement(p, n) })
	}
	if toElement(p, in) {
		out = append(out, replaced(p, v)...)
	}
	if len(out) == 0 {
		emptied := emptiedMaps(pass, s, p, in)
		k.unused = emptied == ""
		k.endless(p, in, name, "", emptied)
		k.elsewhere(pass, s, p, in)
		return k
	}
	share, remover, ok := removed(pass, s, p, in, out)
	switch {
	case ok && share > most && k.skipped(pass, p, in, out, share, name):
	case !ok || share > most:
		return nil
	case share <= seldom && resets(p, out):
		k.endless(p, in, name, remover, "")
	case share > seldom && queue(out):
		k.words += fmt.Sprintf(". This queue has no limit and keeps growing: while executions were counted, %s removed only %s of the elements that were added.", remover, units.Percent(share))
		k.fix = fmt.Sprintf("Limit %s, so that senders wait or are refused when it is full (a channel of limited size does that), and let more goroutines take from it.", name)
	case share > seldom:
		k.release = true
		k.words += fmt.Sprintf(". Only %s removes something from it: while executions were counted, %s as often as something was put in.", remover, units.Percent(share))
		k.fix = fmt.Sprintf("Remove the other entries too when they are no longer needed: by age, at each insertion or in a sweep; or bound %s by size.", name)
	default:
		k.release = true
		if k.skipped(pass, p, in, out, share, name) {
			return k
		}
		if g, ok := guarded(pass, s, p, out); ok {
			k.words, k.fix = k.words+g.words(name), g.fix(name)
			return k
		}
		k.words += fmt.Sprintf(". Only %s would remove something from it, and it never ran while executions were counted.", remover)
		k.fix = fmt.Sprintf("Call %s when an entry of %s is no longer needed, or bound %s by size or age.", remover, name, name)
		k.unused, k.remover = true, remover
		k.elsewhere(pass, s, p, in)
	}
	return k
}

// element reports whether an expression is an element: m[k].
func element(e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.IndexExpr)
	return ok
}

// cut reports whether a list lacks elements of another, which it is made of: append(l[:i],
// l[i+1:]...), slices.Delete(l, i, i+1), l[:n], nil, or a variable that is set to one of these.
func cut(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return true
	case *ast.Ident:
		if p.Info.Types[e].IsNil() {
			return true
		}
		v := syntax.LocalVar(p, e)
		if v == nil {
			return false
		}
		at := *p
		if decl := around(p, e.Pos()); decl != nil {
			at = *p.Entry(decl)
		}
		return slices.ContainsFunc(syntax.Assigned(&at, v), func(value ast.Expr) bool {
			_, name := ast.Unparen(value).(*ast.Ident)
			return !name && cut(&at, value)
		})
	case *ast.CallExpr:
		if funcname.Match(p.CalleeName(e), "slices.Delete", "slices.DeleteFunc") {
			return true
		}
		if p.CalleeName(e) != "append" {
			return false
		}
		_, part := ast.Unparen(e.Args[0]).(*ast.SliceExpr)
		return part
	}
	return false
}

// fromElement reports whether a node removes something from an element of a container, a map or a
// list itself, and not from the container: delete(m[k], l).
func fromElement(p *gocode.Place, n ast.Node) bool {
	if a, ok := n.(*ast.AssignStmt); ok {
		return !slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return !element(e) })
	}
	call, ok := n.(*ast.CallExpr)
	if !ok || !funcname.Match(p.CalleeName(call), "delete", "clear") {
		return false
	}
	_, element := ast.Unparen(call.Args[0]).(*ast.IndexExpr)
	return element
}

// removed returns how many removals of entries there were per insertion, while executions were
// counted, and the functions that remove them. It returns false if that is unknown: a removal may
// have removed several at once.
func removed(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion, out []ast.Node) (share float64, names string, ok bool) {
	at := p.Fset.Position(in.at)
	put, ok := pass.Counts.Line(s.Owner.Package, at.Filename, at.Line)
	if !ok || put.PerUnit <= 0 {
		return 0, "", false
	}
	var all []string
	for _, n := range out {
		pos := p.Fset.Position(n.Pos())
		ran, ok := pass.Counts.Line(s.Owner.Package, pos.Filename, pos.Line)
		if !ok || !single(p, n) && ran.PerUnit > seldom*put.PerUnit {
			return 0, "", false
		}
		share += ran.PerUnit / put.PerUnit
		for _, f := range p.Files() {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && syntax.Inside(fn, n.Pos()) && !slices.Contains(all, fn.Name.Name) {
					all = append(all, fn.Name.Name)
				}
			}
		}
	}
	return share, strings.Replace(funcname.List(all), " and ", " or ", 1), true
}

// queue reports whether all nodes that remove something take the first element: q = q[1:].
func queue(out []ast.Node) bool {
	return !slices.ContainsFunc(out, func(n ast.Node) bool { return !takesFirst(n) })
}

// takesFirst reports whether a node is the assignment q = q[1:].
func takesFirst(n ast.Node) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	s, ok := ast.Unparen(a.Rhs[0]).(*ast.SliceExpr)
	if !ok || s.Low == nil || s.High != nil || types.ExprString(s.X) != types.ExprString(a.Lhs[0]) {
		return false
	}
	low, ok := s.Low.(*ast.BasicLit)
	return ok && low.Value == "1"
}

// single reports whether a node removes one entry at most.
func single(p *gocode.Place, n ast.Node) bool {
	if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		return takesFirst(n) || ok && (funcname.Match(p.CalleeName(call), "slices.Delete") || p.CalleeName(call) == "append" && call.Ellipsis.IsValid() && cut(p, call))
	}
	call, ok := n.(*ast.CallExpr)
	return takesFirst(n) || ok && funcname.Match(p.CalleeName(call), "delete", "(*sync.Map).Delete", "(*sync.Map).LoadAndDelete", "(*sync.Map).CompareAndDelete")
}

// container returns the map that an assignment inserts into, or the slice that it appends to, and
// the value; nil for neither.
func container(p *gocode.Place, a *ast.AssignStmt, i int, lhs ast.Expr) (into, value ast.Expr) {
	paired := len(a.Lhs) == len(a.Rhs)
	if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
		if t := p.TypeOf(x.X); t != nil {
			if _, ok := t.Underlying().(*types.Map); ok {
				if !paired {
					return x.X, lhs
				}
				return x.X, a.Rhs[i]
			}
		}
		return nil, nil
	}
	if !paired {
		return nil, nil
	}
	if call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr); ok && p.CalleeName(call) == "append" && len(call.Args) > 1 && syntax.Same(p, call.Args[0], lhs) {
		return lhs, call.Args[1]
	}
	return nil, nil
}

// outermost returns the container of containers: m of m[k][l].
func outermost(e ast.Expr) ast.Expr {
	for {
		x, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok {
			return e
		}
		e = x.X
	}
}

// shrinkers returns the nodes in the package that may remove entries from the variable or drop it:
// delete, clear, any other assignment than the append, its address, or its use as an argument or in
// a composite literal.
func shrinkers(p *gocode.Place, of *owner) []ast.Node {
	is := func(e ast.Expr) bool { return of.is(p, e) }
	var out []ast.Node
	first := map[ast.Stmt]bool{} // if m == nil { m = map[…]…{} }
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			found := false
			switch n := n.(type) {
			case *ast.CallExpr:
				name := p.CalleeName(n)
				if to := syntax.Receiver(n); to != nil && is(to) {
					found = funcname.Match(name, "(*sync.Map).*Delete", "(*sync.Map).Clear", "(*container/list.List).Remove", "(*container/list.List).Init")
				}
				for i, arg := range n.Args {
					if name == "delete" || name == "clear" {
						arg = outermost(arg)
					}
					found = found || is(arg) && !(name == "append" && i == 0) && !funcname.Match(name, reading()...)
				}
			case *ast.IfStmt:
				if b, ok := ast.Unparen(n.Cond).(*ast.BinaryExpr); ok && b.Op == token.EQL && p.Info.Types[b.Y].IsNil() && is(b.X) {
					for _, s := range n.Body.List {
						first[s] = true
					}
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					found = found || is(lhs) && !grows(p, n, i) && !first[n] || element(lhs) && is(outermost(lhs)) && len(n.Lhs) == len(n.Rhs) && cut(p, n.Rhs[i])
				}
				for _, rhs := range n.Rhs {
					found = found || is(rhs)
				}
			case *ast.ReturnStmt:
				for _, e := range n.Results {
					found = found || is(e)
				}
			case *ast.UnaryExpr:
				found = n.Op == token.AND && is(n.X)
			}
			if found {
				out = append(out, n)
			}
			return true
		})
	}
	return out
}

// reading are functions that only read a container, or copy it.
func reading() []string {
	return []string{
		"len", "cap", "copy", "slices.Contains*", "slices.Index*", "slices.Equal*", "slices.Compare*", "slices.Max*", "slices.Min*", "slices.BinarySearch*",
		"slices.Sort*", "slices.IsSorted*", "slices.Clone", "slices.Values", "slices.All", "maps.Clone", "maps.Keys", "maps.Values", "maps.All", "maps.Equal*",
		"sort.*", "strings.Join", "bytes.Join", "fmt.*", "log.*", "encoding/json.Marshal*", "(*encoding/json.Encoder).Encode",
	}
}

// grows reports whether an assignment appends to its left side.
func grows(p *gocode.Place, a *ast.AssignStmt, i int) bool {
	if len(a.Lhs) != len(a.Rhs) {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "append" && syntax.Same(p, call.Args[0], a.Lhs[i])
}
