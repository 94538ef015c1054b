package unchangedinput

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// A field that is set once may refer to memory that is filled again for each piece of work: an
// image, a buffer, a table. The functions of this file find the lines that write there under
// another name: pix := s.img.Pix; pix[i] = c, or draw.Draw(s.img, …), or fill(s.buf).

// mostNames is the number of other names of a value up to which they are followed.
const mostNames = 16

// filled returns how often the place's package writes to what a variable refers to under another
// name, for each unit of work, as far as that was counted.
func (o *origin) filled(v *types.Var) (most float64) {
	if !refers(v.Type()) && !syntax.HoldsPointers(v.Type()) {
		return 0
	}
	for _, f := range o.place.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			w := &writes{place: o.place.Entry(decl), is: func(e ast.Expr) bool { return o.isOf(e, v) }}
			for _, n := range w.find(decl, 2) {
				runs, _ := o.executed(f, n)
				most = max(most, runs)
			}
		}
	}
	return most
}

// writes finds, in one function, what writes to a value under another name.
type writes struct {
	place *gocode.Place
	is    func(ast.Expr) bool // the value, or a part of it
	names []*types.Var        // local variables that refer to it
}

func (w *writes) find(decl *ast.FuncDecl, depth int) (all []ast.Node) {
	for before := -1; before < len(w.names) && len(w.names) < mostNames; {
		before = len(w.names)
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			w.name(n)
			return true
		})
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		for _, e := range targets(n) {
			if v, part := syntax.Var(w.place, e); part && slices.Contains(w.names, v) {
				all = append(all, n)
			}
		}
		if call, ok := n.(*ast.CallExpr); ok && w.call(call, depth) {
			all = append(all, n)
		}
		return true
	})
	return all
}

// name adds the local variables that a node makes refer to the value.
func (w *writes) name(n ast.Node) {
	add := func(to, from ast.Expr) {
		if v := syntax.LocalVar(w.place, to); v != nil && refers(v.Type()) && w.refersTo(from) && !slices.Contains(w.names, v) {
			w.names = append(w.names, v)
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if len(n.Lhs) == len(n.Rhs) {
				add(lhs, n.Rhs[i])
			}
		}
		if len(n.Lhs) == 2 && len(n.Rhs) == 1 { // b, ok := m[k]
			if x, ok := ast.Unparen(n.Rhs[0]).(*ast.IndexExpr); ok {
				add(n.Lhs[0], x)
			}
		}
	case *ast.ValueSpec:
		for i, id := range n.Names {
			if len(n.Names) == len(n.Values) {
				add(id, n.Values[i])
			}
		}
	case *ast.RangeStmt:
		if n.Value != nil {
			add(n.Value, n.X)
		}
	}
}

// refersTo reports whether an expression is the value, a part of it that refers to its memory, or
// another name of these.
func (w *writes) refersTo(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SliceExpr:
			e = x.X
			continue
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				e = x.X
				continue
			}
		}
		break
	}
	if w.is(e) {
		return true
	}
	v, _ := syntax.Var(w.place, e)
	return v != nil && slices.Contains(w.names, v)
}

// call reports whether a call writes to the value: a builtin, a function of the package that does,
// or one of another package whose name says so.
func (w *writes) call(call *ast.CallExpr, depth int) bool {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && (id.Name == "copy" || id.Name == "clear") && len(call.Args) > 0 {
		return w.refersTo(call.Args[0])
	}
	fn := w.place.Callee(call)
	if fn == nil {
		return false
	}
	decl := w.place.Declaration(fn)
	if to := syntax.Receiver(call); to != nil && decl == nil && fn.Signature().Recv() != nil && named(fn, "Set", "Put", "Fill", "Draw", "Reset", "Write") && w.refersTo(to) {
		return true
	}
	for i, arg := range call.Args {
		if t := w.place.TypeOf(arg); t == nil || !refers(t) || !w.refersTo(arg) {
			continue
		}
		if decl == nil && fills(fn, i) || decl != nil && depth > 0 && w.inside(fn, decl, i, depth) {
			return true
		}
	}
	return false
}

// fills reports whether the name of a function of another package says that it writes to its i-th
// argument.
func fills(fn *types.Func, i int) bool {
	switch fn.Name() {
	case "Read", "ReadFull", "ReadAt", "ReadAtLeast":
		return true
	case "Slice", "SliceStable", "Strings", "Ints", "Float64s", "Stable":
		return fn.Pkg() != nil && fn.Pkg().Path() == "sort"
	}
	return i == 0 && named(fn, "Copy", "Draw", "Decode", "Fill", "Sort", "Reverse", "Shuffle") || i > 0 && named(fn, "Unmarshal")
}

// named reports whether the name of a function starts with one of some words.
func named(fn *types.Func, verbs ...string) bool {
	return slices.ContainsFunc(verbs, func(verb string) bool {
		rest, ok := strings.CutPrefix(fn.Name(), verb)
		return ok && (rest == "" || rest[0] < 'a')
	})
}

// inside reports whether a function of the package writes to what its i-th argument refers to.
func (w *writes) inside(fn *types.Func, decl *ast.FuncDecl, i, depth int) bool {
	sig := fn.Signature()
	if decl.Body == nil || i >= sig.Params().Len() {
		return false
	}
	param := sig.Params().At(i)
	in := &writes{place: w.place.Entry(decl), is: func(ast.Expr) bool { return false }, names: []*types.Var{param}}
	return len(in.find(decl, depth-1)) > 0
}

// refers reports whether a value refers to memory that others can change.
func refers(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
		return true
	}
	return false
}
