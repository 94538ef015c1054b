package rebuiltperaddition

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// walk looks for a loop over all elements of a collection in a function and in those of its package
// that it calls.
type walk struct {
	pass  *rule.Pass
	below *site.Frame // in the called function, for one of another package
	of    map[*types.Var]bool
	seen  map[*types.Func]bool

	loop     ast.Node    // or the recursive call
	counted  counts.Loop // of a recursion: how often it starts, and its calls each time
	where    string
	computes bool // something is computed from the elements, as far as is visible
}

// deepest is the number of nested calls that are followed.
const deepest = 3

// through looks into what a call calls.
func (w *walk) through(p *gocode.Place, call *ast.CallExpr, depth int) {
	fn := p.Callee(call)
	in := w.entry(p, fn, depth)
	if in == nil || w.seen[fn] {
		return
	}
	if w.seen == nil {
		w.seen = map[*types.Func]bool{}
	}
	w.seen[fn] = true
	of := maps.Clone(w.of)
	sig := fn.Signature()
	for i, arg := range call.Args {
		if v := syntax.Named(p, arg); v != nil && w.of[v.Origin()] && i < sig.Params().Len() && !sig.Variadic() {
			of[sig.Params().At(i).Origin()] = true
		}
	}
	at := walk{pass: w.pass, below: w.below, of: of, seen: w.seen}
	at.body(in, depth)
	if at.loop == nil && at.recurses(in, fn) {
		w.recursion(p, call, in)
	}
	if at.loop != nil && w.loop == nil {
		w.loop, w.counted, w.where = at.loop, at.counted, at.where
	}
	w.computes = w.computes || at.computes || w.keepsResult(p, call, sig)
}

// keepsResult reports whether a call computes something for later: its result is stored, or says
// whether the collection is valid. A result that is returned may be what the caller needs now.
func (w *walk) keepsResult(p *gocode.Place, call *ast.CallExpr, sig *types.Signature) bool {
	if to := syntax.AssignedTo(p, call); to != nil && sig.Results().Len() == 1 {
		if v := syntax.Named(p, to); v != nil && (v.IsField() || v.Parent() == p.Pkg.Scope()) {
			return true
		}
	}
	for v := range sig.Results().Variables() {
		if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Kind() == types.Bool {
			return true
		}
		if types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
			return true
		}
	}
	return false
}

// entry returns the place of a function's declaration; nil if it is not known.
func (w *walk) entry(p *gocode.Place, fn *types.Func, depth int) *gocode.Place {
	if fn == nil {
		return nil
	}
	if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
		return p.Entry(decl)
	}
	if depth > 0 || w.below.Owner.Kind != gocode.Main && w.below.Owner.Kind != gocode.Dependency {
		return nil
	}
	in, ok := w.pass.Syntax.At(w.below.File, w.below.Line)
	if !ok || in.Decl == nil || in.Decl.Name.Name != fn.Name() {
		return nil
	}
	return in.Entry(in.Decl)
}

// body looks for the loop in the body of a function, and then in what it calls.
func (w *walk) body(p *gocode.Place, depth int) {
	var calls []*ast.CallExpr
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.RangeStmt:
			if v := syntax.Named(p, n.X); v != nil && w.of[v.Origin()] {
				w.take(p, n)
			}
		case *ast.ForStmt:
			if w.upToLength(p, n) {
				w.take(p, n)
			}
		case *ast.AssignStmt:
			w.computes = w.computes || w.stores(p, n)
		case *ast.CallExpr:
			calls = append(calls, n)
		}
		return true
	})
	if depth+1 < deepest {
		for _, call := range calls {
			w.through(p, call, depth+1)
		}
	}
}

// take remembers a loop that visits enough elements.
func (w *walk) take(p *gocode.Place, loop ast.Node) {
	if w.loop != nil || sends(p, loop) {
		return
	}
	at := p.Fset.Position(loop.Pos())
	l, ok := w.pass.Counts.Loop(p.Pkg.Path(), at.Filename, at.Line)
	if !ok || l.Iterations < leastElements || !w.often(l.Entries) {
		return
	}
	w.loop, w.counted = loop, l
	w.where = fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

// recurses reports whether a function that looks up elements of the collection calls itself, as one
// does that walks a graph.
func (w *walk) recurses(p *gocode.Place, fn *types.Func) bool {
	looks, again := false, false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			v := syntax.Named(p, n.X)
			looks = looks || v != nil && w.of[v.Origin()]
		case *ast.CallExpr:
			again = again || p.Callee(n) == fn
		}
		return true
	})
	return looks && again
}

// recursion remembers a recursion that makes enough calls each time that it is started.
func (w *walk) recursion(p *gocode.Place, call *ast.CallExpr, in *gocode.Place) {
	starts, ok := evidence.ExecutionsAt(w.pass, p, call.Pos())
	calls, known := evidence.ExecutionsAt(w.pass, in, in.Decl.Body.Lbrace)
	if w.loop != nil || !ok || !known || starts.PerUnit <= 0 || calls.PerUnit < leastElements*starts.PerUnit || !w.often(starts.PerUnit) {
		return
	}
	at := in.Fset.Position(in.Decl.Pos())
	w.loop, w.counted = call, counts.Loop{Entries: starts.PerUnit, Iterations: calls.PerUnit / starts.PerUnit}
	w.where = fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

// often reports whether so many additions for each unit of work are worth a finding.
func (w *walk) often(additions float64) bool {
	return evidence.Hot(w.pass, counts.Executions{PerUnit: additions * 100 / leastAdditions})
}

// upToLength reports whether a loop counts to the length of the collection.
func (w *walk) upToLength(p *gocode.Place, loop *ast.ForStmt) bool {
	b, ok := loop.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.LSS && b.Op != token.LEQ {
		return false
	}
	call, ok := ast.Unparen(b.Y).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "len" || len(call.Args) != 1 {
		return false
	}
	v := syntax.Named(p, call.Args[0])
	return v != nil && w.of[v.Origin()]
}

// stores reports whether an assignment changes something that outlives the function, other than the
// collection itself.
func (w *walk) stores(p *gocode.Place, a *ast.AssignStmt) bool {
	for _, lhs := range a.Lhs {
		if to, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
			lhs = to.X
		}
		v := syntax.Named(p, lhs)
		if v != nil && (v.IsField() || v.Parent() == p.Pkg.Scope()) && !w.of[v.Origin()] {
			return true
		}
	}
	return false
}

// sends reports whether a loop tells its elements something, as one that notifies all subscribers
// does: that is not computed from the elements.
func sends(p *gocode.Place, loop ast.Node) bool {
	var element *types.Var
	if r, ok := loop.(*ast.RangeStmt); ok && r.Value != nil {
		element = syntax.LocalVar(p, r.Value)
	}
	found := false
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt, *ast.GoStmt:
			found = true
		case *ast.ExprStmt:
			call, ok := n.X.(*ast.CallExpr)
			if !ok || element == nil {
				return true
			}
			v, _ := syntax.Var(p, call.Fun)
			if receiver := syntax.Receiver(call); receiver != nil {
				v, _ = syntax.Var(p, receiver)
			}
			found = found || v == element
		}
		return !found
	})
	return found
}
