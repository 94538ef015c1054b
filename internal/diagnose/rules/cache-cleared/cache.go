package cachecleared

import (
	"go/ast"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// line is a line of a file of a package.
type line struct {
	pkg, file string
	line      int
}

// cache is a map, or a field or variable of a type with methods to look up, store and clear, and
// how often each ran per unit of work.
type cache struct {
	pass                    *rule.Pass
	clear, where            string // what empties it, and its line
	cache                   ast.Expr
	lookups, stores, clears float64
	work                    map[line]bool // what computes the values that are stored
}

// caches returns the caches that the program clears.
func caches(p *rule.Pass) (found []*cache) {
	clears := []string{"purge", "flush", "clear", "reset", "invalidateall", "deleteall", "removeall", "empty"}
	lookups, stores := lookupVerbs(), storeVerbs()
	seen := map[*types.Var]*cache{}
	each(p, clears, func(place *gocode.Place, call *ast.CallExpr, v *types.Var) {
		if len(call.Args) > 0 || !isCache(place.TypeOf(syntax.Receiver(call))) {
			return
		}
		c := seen[v]
		if c == nil {
			c = &cache{pass: p, clear: syntax.Text(call.Fun), where: syntax.Where(place, call.Pos()), cache: syntax.Receiver(call), work: map[line]bool{}}
			seen[v] = c
			found = append(found, c)
		}
		c.clears += runs(p, place, call)
	})
	each(p, lookups, func(place *gocode.Place, call *ast.CallExpr, v *types.Var) {
		if c := seen[v]; c != nil {
			c.lookups += runs(p, place, call)
		}
	})
	each(p, stores, func(place *gocode.Place, call *ast.CallExpr, v *types.Var) {
		c := seen[v]
		if c == nil || len(call.Args) < 2 {
			return
		}
		c.stores += runs(p, place, call)
		c.made(place, call.Args[1], 0)
	})
	return found
}

// each calls visit for the calls, in the main module, of methods whose names start with one of some
// verbs, on a field or a variable.
func each(p *rule.Pass, verbs []string, visit func(*gocode.Place, *ast.CallExpr, *types.Var)) {
	accept := func(fn *types.Func) bool {
		return fn.Signature().Recv() != nil && verb(fn.Name(), verbs)
	}
	done := map[*ast.CallExpr]bool{}
	for _, place := range p.Syntax.Calls(accept) {
		for _, call := range syntax.Calls(place) {
			fn := place.Callee(call)
			if fn == nil || done[call] || !accept(fn) {
				continue
			}
			done[call] = true
			if v := syntax.Named(place, syntax.Receiver(call)); v != nil {
				visit(place, call, v)
			}
		}
	}
}

// isCache reports whether a type has methods to look up and to store.
func isCache(t types.Type) bool {
	if t == nil {
		return false
	}
	lookup, store := false, false
	for m := range types.NewMethodSet(pointed(t)).Methods() {
		sig := m.Obj().(*types.Func).Signature()
		lookup = lookup || verb(m.Obj().Name(), lookupVerbs()) && sig.Params().Len() >= 1 && sig.Results().Len() >= 1
		store = store || verb(m.Obj().Name(), storeVerbs()) && sig.Params().Len() >= 2
	}
	return lookup && store
}

// pointed returns the type with all methods of a value.
func pointed(t types.Type) types.Type {
	if types.IsInterface(t) {
		return t
	}
	if _, ok := types.Unalias(t).(*types.Pointer); ok {
		return t
	}
	return types.NewPointer(t)
}

// runs returns how often a call ran per unit of work.
func runs(p *rule.Pass, place *gocode.Place, call *ast.CallExpr) float64 {
	e, _ := evidence.ExecutionsAt(p, place, call.Pos())
	return e.PerUnit
}

// deepest is the number of functions through which a stored value is followed to what computes it.
const deepest = 3

// made adds the lines of the calls that compute a value, through variables and parameters.
func (c *cache) made(p *gocode.Place, value ast.Expr, depth int) {
	if call, ok := ast.Unparen(value).(*ast.CallExpr); ok {
		c.add(p, call)
		return
	}
	v := syntax.Named(p, value)
	if v == nil || depth == deepest {
		return
	}
	if p.Decl != nil && syntax.Param(p, v) {
		c.given(p, v, depth)
		return
	}
	for _, call := range results(p, v) {
		c.add(p, call)
	}
}

// given follows a parameter to the calls of its function.
func (c *cache) given(p *gocode.Place, v *types.Var, depth int) {
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok {
		return
	}
	at := syntax.ParamIndex(fn.Signature(), v)
	if at < 0 {
		return
	}
	for _, caller := range c.pass.Syntax.CallsOf(gocode.FullName(fn)) {
		for _, call := range syntax.CallsOf(caller, gocode.FullName(fn)) {
			if at < len(call.Args) {
				c.made(caller, call.Args[at], depth+1)
			}
		}
	}
}

// results returns the calls whose first result is assigned to v.
func results(p *gocode.Place, v *types.Var) (calls []*ast.CallExpr) {
	if p.Decl == nil {
		return nil
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || syntax.Named(p, a.Lhs[0]) != v {
			return true
		}
		if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok {
			calls = append(calls, call)
		}
		return true
	})
	return calls
}

// add adds the line of a call that computes.
func (c *cache) add(p *gocode.Place, call *ast.CallExpr) {
	if fn := p.Callee(call); fn != nil && fn.Signature().Recv() != nil && verb(fn.Name(), lookupVerbs()) {
		return // the lookup before the miss
	}
	at := p.Fset.Position(call.Pos())
	c.work[line{p.Pkg.Path(), filepath.Base(at.Filename), at.Line}] = true
}

// lineOf returns the line of a frame.
func lineOf(f *site.Frame) line {
	return line{f.Owner.Package, path.Base(f.File), f.Line}
}

func lookupVerbs() []string { return []string{"get", "load", "lookup", "peek", "find"} }

func storeVerbs() []string { return []string{"add", "set", "put", "store", "insert"} }

// verb reports whether a method's name starts with one of some verbs, in any case.
func verb(name string, verbs []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(verbs, func(v string) bool { return strings.HasPrefix(name, v) })
}
