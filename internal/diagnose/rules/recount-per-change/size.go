package recountperchange

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// sizes are names of methods that return how much an object has, without "get".
var sizes = []string{"len", "length", "size", "count", "cardinality", "weight", "cost", "sizeinbytes", "bytes", "width", "height", "duration", "amount"}

// asksSize reports whether a call asks an element of the loop how large it is, with a method that
// returns a number and has no arguments. If its source is known, it must return a field, whose
// changes then count.
func (t *adder) asksSize(call *ast.CallExpr) bool {
	fn := t.p.Callee(call)
	if fn == nil || len(call.Args) > 0 || fn.Signature().Recv() == nil || fn.Signature().Results().Len() != 1 {
		return false
	}
	b, ok := fn.Signature().Results().At(0).Type().Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsNumeric == 0 || !t.ofElement(syntax.Receiver(call)) {
		return false
	}
	if !types.IsInterface(fn.Signature().Recv().Type()) {
		field := returnsField(t.p, fn)
		if field != nil {
			t.fields = append(t.fields, field)
		}
		return field != nil
	}
	named, ok := types.Unalias(t.p.TypeOf(syntax.Receiver(call))).(*types.Named)
	if !ok || named.Obj().Pkg() != t.p.Pkg || named.Obj().Exported() && t.p.Pkg.Name() != "main" {
		return false // other packages have such elements, too, whose changes are not seen
	}
	t.kinds = append(t.kinds, named)
	return slices.Contains(sizes, strings.TrimPrefix(strings.ToLower(fn.Name()), "get"))
}

// elementChanges returns how often, for each unit of work, a method may have changed an element of
// an interface type of the package.
func elementChanges(pass *rule.Pass, p *gocode.Place, kinds []*types.Named) (n float64) {
	if len(kinds) == 0 {
		return 0
	}
	for _, f := range p.Files() {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Body == nil || len(fn.Body.List) == 0 || !changesReceiver(p, fn, kinds) {
				continue
			}
			if runs, ok := evidence.ReachedAt(pass, p, fn.Body.List[0].Pos()); ok {
				n += runs
			}
		}
	}
	return n
}

// changesReceiver reports whether a method of one of some interfaces' implementations may change
// its receiver.
func changesReceiver(p *gocode.Place, fn *ast.FuncDecl, kinds []*types.Named) bool {
	method, ok := p.Object(fn.Name).(*types.Func)
	if !ok {
		return false
	}
	recv := method.Signature().Recv()
	implements := slices.ContainsFunc(kinds, func(k *types.Named) bool {
		of, ok := k.Underlying().(*types.Interface)
		return ok && types.Implements(recv.Type(), of)
	})
	return implements && syntax.Changes(p.Entry(fn), fn.Body, recv)
}

// returnsField returns the field that a method of the package returns, as it is or its length; nil
// for methods that do something else.
func returnsField(p *gocode.Place, fn *types.Func) *types.Var {
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
		return nil
	}
	ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return nil
	}
	e := ast.Unparen(ret.Results[0])
	for {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			break
		}
		if _, conversion := p.Conversion(call); !conversion && p.CalleeName(call) != "len" {
			return nil
		}
		e = ast.Unparen(call.Args[0])
	}
	if _, ok := e.(*ast.SelectorExpr); !ok {
		return nil
	}
	if v := syntax.Named(p, e); v != nil && v.IsField() {
		return v
	}
	return nil
}
