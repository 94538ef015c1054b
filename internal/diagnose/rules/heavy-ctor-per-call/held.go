package heavyctorpercall

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// heldOnce returns a call that creates the writer of a package to which a line writes, if the
// writer is in a field that the package sets only to new ones and never resets; nil for none.
func heldOnce(p *gocode.Place, pkg string) *ast.CallExpr {
	var field *types.Var
	for _, call := range syntax.Calls(p) {
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && field == nil {
			field = holder(p, sel)
		}
		for _, arg := range call.Args {
			if sel, ok := ast.Unparen(arg).(*ast.SelectorExpr); ok && field == nil {
				field = fieldOf(p, sel)
			}
		}
	}
	if field == nil {
		return nil
	}
	h := holding{p: p, pkg: pkg, field: field}
	for _, file := range p.Files() {
		ast.Inspect(file, h.look)
	}
	if h.other {
		return nil
	}
	return h.made
}

// holding examines what a package does with a field.
type holding struct {
	p     *gocode.Place
	pkg   string
	field *types.Var
	made  *ast.CallExpr // sets the field
	other bool          // something else sets it, or may reset its value
}

func (h *holding) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && h.p.Info.Uses[key] == h.field {
			h.set(n.Value)
		}
	case *ast.CompositeLit:
		h.positional(n)
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && fieldOf(h.p, sel) == h.field {
				h.set(n.Rhs[min(i, len(n.Rhs)-1)])
			}
		}
	case *ast.UnaryExpr:
		if sel, ok := ast.Unparen(n.X).(*ast.SelectorExpr); ok && fieldOf(h.p, sel) == h.field {
			h.other = true // its address
		}
	case *ast.CallExpr:
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "Reset" {
			fn, _ := h.p.Info.Uses[sel.Sel].(*types.Func)
			h.other = h.other || fn != nil && resetsWriter(fn) && !discards(n) && (holder(h.p, sel) == h.field || types.IsInterface(h.p.TypeOf(sel.X)))
		}
	}
	return true
}

// positional examines a literal of a struct that has the field, without names.
func (h *holding) positional(lit *ast.CompositeLit) {
	t := h.p.TypeOf(lit)
	if t == nil {
		return
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i := range min(s.NumFields(), len(lit.Elts)) {
		if _, keyed := lit.Elts[i].(*ast.KeyValueExpr); !keyed && s.Field(i) == h.field {
			h.set(lit.Elts[i])
		}
	}
}

// set examines a value of the field.
func (h *holding) set(value ast.Expr) {
	if h.p.Info.Types[value].IsNil() {
		return
	}
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok || !creates(h.p.CalleeName(call), h.pkg) || !h.perCall(call) {
		h.other = true
		return
	}
	h.made = call
}

func (h *holding) perCall(call *ast.CallExpr) bool {
	for _, file := range h.p.Files() {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && syntax.Within(decl, call) {
				return loops.PerCall(h.p.Entry(decl), call)
			}
		}
	}
	return false
}

// holder returns the field whose value a method is called of, possibly an embedded one; nil for
// none.
func holder(p *gocode.Place, method *ast.SelectorExpr) *types.Var {
	s, ok := p.Info.Selections[method]
	if !ok || s.Kind() != types.MethodVal {
		return nil
	}
	if path := s.Index(); len(path) > 1 {
		var field *types.Var
		t := s.Recv()
		for _, i := range path[:len(path)-1] {
			if pointer, ok := t.Underlying().(*types.Pointer); ok {
				t = pointer.Elem()
			}
			field = t.Underlying().(*types.Struct).Field(i)
			t = field.Type()
		}
		return field
	}
	sel, ok := ast.Unparen(method.X).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	return fieldOf(p, sel)
}

// fieldOf returns the field that an expression selects; nil if it selects something else.
func fieldOf(p *gocode.Place, sel *ast.SelectorExpr) *types.Var {
	v, ok := p.Info.Uses[sel.Sel].(*types.Var)
	if !ok || !v.IsField() {
		return nil
	}
	return v
}
