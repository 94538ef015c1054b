package needlessinvalidation

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepest is the number of nested calls that are followed.
const deepest = 6

// fields are those that code reads or sets, and package variables.
type fields struct {
	vars  []*types.Var
	names []string // as the code names what it sets
	whole []types.Type
	seen  []*types.Func
	fine  bool // all of the code is known
	acts  bool // it calls methods that may change anything
	given bool // functions that a function gets are examined where they are passed
}

func (f *fields) has(v *types.Var) bool {
	return slices.Contains(f.vars, v) || slices.ContainsFunc(f.whole, func(t types.Type) bool { return holds(t, v, deepest) })
}

func (f *fields) add(v *types.Var) {
	if !slices.Contains(f.vars, v) {
		f.vars = append(f.vars, v)
	}
}

// holds reports whether values of a type may have a field, in any depth. What an interface or a
// function has is not known, other than of those which only write, or say when to stop.
func holds(t types.Type, v *types.Var, depth int) bool {
	if t == nil {
		return false
	}
	if depth == 0 {
		return true
	}
	if named, ok := t.(*types.Named); ok && types.IsInterface(t) {
		pkg := named.Obj().Pkg()
		return pkg == nil || !funcname.Match(pkg.Path(), "io", "hash", "context")
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return holds(u.Elem(), v, depth-1)
	case *types.Slice:
		return holds(u.Elem(), v, depth-1)
	case *types.Array:
		return holds(u.Elem(), v, depth-1)
	case *types.Map:
		return holds(u.Elem(), v, depth-1) || holds(u.Key(), v, depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if f == v || visible(f, v) && holds(f.Type(), v, depth-1) {
				return true
			}
		}
	case *types.Interface:
		return true
	}
	return false
}

// visible reports whether a field may hold values of the program: not those of most of the standard
// library, such as times and buffers.
func visible(f, v *types.Var) bool {
	return f.Pkg() == v.Pkg() || f.Pkg() != nil && (strings.Contains(f.Pkg().Path(), ".") || strings.HasPrefix(f.Pkg().Path(), "container/"))
}

// readsOf returns what a function that computes a kept result reads, also through the functions of
// its package, and what its callers pass; nil when a part of that is not known.
func readsOf(pass *rule.Pass, p *gocode.Place) *fields {
	r := &fields{fine: true}
	r.reads(p, p.Decl.Body, deepest)
	for _, group := range p.Decl.Type.Params.List {
		for _, id := range group.Names {
			v, ok := p.Object(id).(*types.Var)
			if !ok {
				continue
			}
			for _, given := range flow.Passed(pass.Syntax, p, v) {
				r.reads(given.Place, given.Value, deepest)
			}
		}
	}
	if !r.fine || len(r.vars) == 0 {
		return nil
	}
	return r
}

// call notes what a function of the package reads. What others get, they read as a whole.
func (f *fields) call(p *gocode.Place, call *ast.CallExpr, depth int) {
	if _, conversion := p.Conversion(call); conversion {
		return
	}
	fn := p.Callee(call)
	if fn == nil {
		f.fine = f.fine && builtin(p, call)
		return
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		if fn.Pkg() == p.Pkg {
			f.fine = false // a method of an interface
			return
		}
		if to := fn.Signature().Recv(); to != nil && types.IsInterface(to.Type()) && (fn.Pkg() == nil || !funcname.Match(fn.Pkg().Path(), "io", "hash", "context")) {
			f.fine = false // it may be a method of the package: String, Error, Less
			return
		}
		for _, arg := range call.Args {
			f.whole = append(f.whole, p.TypeOf(arg))
		}
		return
	}
	f.follow(p, fn, decl, depth)
}

// follow notes what a function of the package reads.
func (f *fields) follow(p *gocode.Place, fn *types.Func, decl *ast.FuncDecl, depth int) {
	if slices.Contains(f.seen, fn) {
		return
	}
	if f.seen = append(f.seen, fn); depth == 0 {
		f.fine = false
		return
	}
	f.reads(p.Entry(decl), decl.Body, depth-1)
}

// reads notes what a node reads.
func (f *fields) reads(p *gocode.Place, root ast.Node, depth int) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			f.named(p, n.Sel, depth)
			if v, ok := p.Object(n.Sel).(*types.Var); ok && (v.IsField() || v.Parent() == p.Pkg.Scope()) {
				f.add(v)
			}
			f.copies(p, n, root)
		case *ast.Ident:
			f.named(p, n, depth)
			if v, ok := p.Object(n).(*types.Var); ok && !v.IsField() && v.Parent() == p.Pkg.Scope() {
				f.add(v)
			}
			f.copies(p, n, root)
		case *ast.IndexExpr:
			f.copies(p, n, root)
		case *ast.StarExpr:
			f.copies(p, n, root)
		case *ast.CallExpr:
			f.call(p, n, depth)
		}
		return f.fine
	})
}

// named follows a function that is named, maybe to be called later.
func (f *fields) named(p *gocode.Place, id *ast.Ident, depth int) {
	fn, ok := p.Object(id).(*types.Func)
	if !ok {
		return
	}
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
		f.follow(p, fn, decl, depth)
	}
}

// copies notes that an expression copies a whole struct, of which others may read any field.
func (f *fields) copies(p *gocode.Place, e ast.Expr, root ast.Node) {
	t := p.TypeOf(e)
	if t == nil {
		return
	}
	if _, is := t.Underlying().(*types.Struct); !is {
		return
	}
	switch up := syntax.Parent(p, e).(type) {
	case *ast.SelectorExpr, *ast.CompositeLit, *ast.Field, *ast.ValueSpec, *ast.MapType, *ast.ArrayType, *ast.StarExpr:
		if lit, ok := up.(*ast.CompositeLit); ok && lit.Type != e {
			f.whole = append(f.whole, t)
		}
		return
	case *ast.RangeStmt:
		if up.Key == e || up.Value == e {
			return
		}
	case *ast.AssignStmt:
		if slices.Contains(up.Lhs, e) {
			return
		}
	}
	if tv, ok := p.Info.Types[e]; ok && tv.IsType() || e == root {
		return
	}
	f.whole = append(f.whole, t)
}

// setBy returns the fields and package variables that a function sets, without one of them and
// without locks; nil when a part of what it does is not known.
func setBy(p *gocode.Place, c change, but *types.Var) *fields {
	s := &fields{fine: true, given: c.by != nil}
	s.sets(p.Entry(c.in), c.in.Body, but, 3)
	for _, lit := range c.apply {
		s.sets(p.Entry(c.by), lit.Body, but, 3)
	}
	if !s.fine {
		return nil
	}
	return s
}

func (f *fields) sets(p *gocode.Place, root ast.Node, but *types.Var, depth int) {
	note := func(e ast.Expr) {
		for _, v := range lastingIn(p, e) {
			if v == nil {
				f.acts = true // through a pointer or a list with another name
			} else if v != but && !slices.Contains(f.vars, v) {
				f.vars = append(f.vars, v)
				f.names = append(f.names, syntax.Text(e))
			}
		}
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				note(lhs)
			}
		case *ast.IncDecStmt:
			note(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				note(n.X)
			}
		case *ast.SendStmt:
			f.acts = true // the receiver may change anything
		case *ast.CallExpr:
			f.changes(p, n, but, note, depth)
		}
		return f.fine
	})
}

// changes notes what a call changes.
func (f *fields) changes(p *gocode.Place, call *ast.CallExpr, but *types.Var, note func(ast.Expr), depth int) {
	switch name := p.CalleeName(call); name {
	case "delete", "clear", "copy":
		note(call.Args[0])
		return
	}
	fn := p.Callee(call)
	if fn == nil {
		_, conversion := p.Conversion(call)
		f.fine = f.fine && (conversion || builtin(p, call) || f.given && ofParameter(p, call))
		return
	}
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
		if slices.Contains(f.seen, fn) {
			return
		}
		if f.seen = append(f.seen, fn); depth == 0 {
			f.fine = false
			return
		}
		f.sets(p.Entry(decl), decl.Body, but, depth-1)
		return
	}
	f.acts = f.acts || !harmless(fn)
	if to := syntax.Receiver(call); to != nil && changesReceiver(fn) {
		note(to)
	}
	if fn.Pkg() != nil && fn.Signature().Recv() == nil && funcname.Match(fn.Pkg().Path(), "slices", "maps", "sort") && changesFirst(fn.Name()) {
		note(call.Args[0])
	}
}

// changesReceiver reports whether a method of the standard library sets what it is called on: an
// atomic value, a sync.Map, a buffer.
func changesReceiver(fn *types.Func) bool {
	if fn.Pkg() == nil || fn.Signature().Recv() == nil {
		return false
	}
	words := []string{"Write", "Truncate", "Reset", "ReadFrom"}
	switch fn.Pkg().Path() {
	case "sync", "sync/atomic":
		words = []string{"Store", "Swap", "Add", "And", "Or", "Compare", "Load", "Delete", "Clear"}
		if fn.Name() == "Load" {
			return false
		}
	case "strings", "bytes":
	default:
		return false
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(fn.Name(), word) })
}

// changesFirst reports whether a function of slices, maps or sort with this name changes its first
// argument.
func changesFirst(name string) bool {
	return slices.ContainsFunc([]string{"Sort", "Slice", "Stable", "Strings", "Ints", "Float64s", "Reverse", "Copy", "Delete", "Insert", "Replace", "Compact"}, func(word string) bool {
		return strings.HasPrefix(name, word)
	}) && name != "SliceIsSorted" && name != "StringsAreSorted" && name != "IntsAreSorted"
}

// harmless reports whether a function whose source is not known changes nothing that the program
// computes results from: locks, times, texts, messages of a log, metrics.
func harmless(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return true
	}
	return funcname.Match(fn.Pkg().Path(), "sync", "sync/atomic", "time", "fmt", "log", "log/slog", "math", "strconv", "strings", "errors", "slices", "maps", "sort", "unicode", "bytes") ||
		slices.Contains([]string{"Debug", "Debugf", "Info", "Infof", "Warn", "Warnf", "Error", "Errorf", "Log", "Logf", "Printf", "Inc", "Observe", "Msg", "Msgf"}, fn.Name())
}

// lastingIn returns the field or package variable that an expression sets: of x.list[i].name the
// name. It is nil where an element of what a local variable points to is set.
func lastingIn(p *gocode.Place, e ast.Expr) []*types.Var {
	for deep := false; ; deep = true {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, ok := p.Object(x).(*types.Var)
			if ok && !v.IsField() && v.Parent() == p.Pkg.Scope() {
				return []*types.Var{v}
			}
			if ok && deep {
				return []*types.Var{nil}
			}
			return nil
		case *ast.SelectorExpr:
			if v, ok := p.Object(x.Sel).(*types.Var); ok {
				return []*types.Var{v}
			}
			return nil
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// builtin reports whether a call is of a builtin function.
func builtin(p *gocode.Place, call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, is := p.Object(id).(*types.Builtin)
	return is
}
