package keptvaluesformatted

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// formatting is a call that formats the values of a list that an object keeps.
type formatting struct {
	call    *ast.CallExpr
	list    *types.Var
	text    string    // of the list
	setter  string    // a function that sets it; "" for none
	at      token.Pos // what runs once for each use of the whole list
	shared  bool      // the call formats other values, too
	formats bool      // the samples show it
	callee  string    // as profiles name it

	uses, changes float64 // for each unit of work
}

// formattingBy returns what a call formats of a list that an object keeps: the list, its element in
// a loop over all of it, or a list that it was appended to. Nothing else may decide the text. p is
// the place of the whole function.
func formattingBy(p *gocode.Place, call *ast.CallExpr) *formatting {
	if p.Callee(call) == nil || !makesText(p, call) {
		return nil
	}
	var found *formatting
	for _, arg := range call.Args {
		switch u := valuesOf(p, call, arg); {
		case u != nil && (found == nil || found.list == u.list):
			found = u
		case u != nil || !neutral(p, arg):
			return nil
		}
	}
	if found == nil {
		return nil
	}
	if to := syntax.Receiver(call); to != nil && !neutral(p, to) {
		if !ofReceiver(p, to) {
			return nil
		}
		found.shared = true // by what else the object has
	}
	found.call, found.setter = call, setter(p, found.list)
	return found
}

// valuesOf returns what an argument has of a list that an object keeps; nil for nothing.
func valuesOf(p *gocode.Place, call *ast.CallExpr, arg ast.Expr) *formatting {
	if v := listIn(p, arg); v != nil {
		return &formatting{list: v, text: syntax.Text(arg), at: call.Pos()}
	}
	if v := syntax.LocalVar(p, arg); v != nil && !syntax.Param(p, v) {
		if from := appendedTo(p, v); from != nil {
			return &formatting{list: listIn(p, from), text: syntax.Text(from), at: call.Pos(), shared: true}
		}
	}
	for _, loop := range loops.Around(p, call) {
		e, ok := loops.ElementsOf(p, loop)
		if !ok || listIn(p, e.List) == nil || !loops.EveryIteration(p, loop, call) {
			continue
		}
		if e.Of(p, arg) {
			return &formatting{list: listIn(p, e.List), text: syntax.Text(e.List), at: loop.Pos()}
		}
	}
	return nil
}

// listIn returns the field or package variable that an expression names, if it is a slice whose
// elements change only with it, or are of type any; nil for others.
func listIn(p *gocode.Place, e ast.Expr) *types.Var {
	v := kept.Var(p, e)
	if v == nil || !own(e) {
		return nil
	}
	if list, ok := v.Type().Underlying().(*types.Slice); !ok || !eachIs(list.Elem(), func(t types.Type) bool { return isAny(t) || syntax.PlainData(t) }) {
		return nil
	}
	return v
}

// own reports whether a kept list is not that of one of many objects: where an index picks the
// object, as for the data that a request wants, the caller decides what is formatted.
func own(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			return false
		default:
			return true
		}
	}
}

// eachIs reports whether is holds for a type or, if it is a struct, for the types of all fields.
func eachIs(t types.Type, is func(types.Type) bool) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return is(t)
	}
	for i := range s.NumFields() {
		if !is(s.Field(i).Type()) {
			return false
		}
	}
	return true
}

// isAny reports whether a type is an interface without methods.
func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0
}

// appendedTo returns the kept list of v = append(…, list...); nil for none.
func appendedTo(p *gocode.Place, v *types.Var) (from ast.Expr) {
	for _, e := range syntax.Assigned(p, v) {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || p.CalleeName(call) != "append" || !call.Ellipsis.IsValid() || len(call.Args) != 2 {
			continue
		}
		if list := listIn(p, call.Args[1]); list != nil && holdsAny(list.Type()) {
			from = call.Args[1]
		}
	}
	return from
}

// holdsAny reports whether the elements of a list are of type any, or structs with such a field:
// values that only reflection or a type switch can format.
func holdsAny(t types.Type) bool {
	elem := syntax.Elem(t)
	return elem != nil && !eachIs(elem, func(t types.Type) bool { return !isAny(t) })
}

// makesText reports whether a call returns a text, or may add to one that it gets.
func makesText(p *gocode.Place, call *ast.CallExpr) bool {
	results := p.Callee(call).Signature().Results()
	for i := range results.Len() {
		if syntax.StringOrBytes(results.At(i).Type()) || buffer(results.At(i).Type()) {
			return true
		}
	}
	for _, arg := range call.Args {
		if t := p.TypeOf(arg); t != nil && buffer(t) {
			return true
		}
	}
	to := syntax.Receiver(call)
	return to != nil && p.TypeOf(to) != nil && buffer(p.TypeOf(to))
}

// buffer reports whether a type is a buffer of bytes.
func buffer(t types.Type) bool {
	switch types.TypeString(t, nil) {
	case "*bytes.Buffer", "bytes.Buffer", "*strings.Builder", "strings.Builder", "*bufio.Writer", "[]byte", "io.Writer", "net/http.ResponseWriter":
		return true
	}
	return false
}

// neutral reports whether an expression does not decide the text: a constant, or a buffer to which
// the text is added.
func neutral(p *gocode.Place, e ast.Expr) bool {
	if _, constant := p.Const(e); constant {
		return true
	}
	t := p.TypeOf(e)
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		t = p.TypeOf(u.X)
	}
	return t != nil && buffer(t)
}

// ofReceiver reports whether an expression is the receiver of the function.
func ofReceiver(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	sig := syntax.SignatureOf(p)
	return v != nil && sig != nil && sig.Recv() == v
}

// setter returns a function of the package that sets a list; "" for none.
func setter(p *gocode.Place, list *types.Var) (name string) {
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || name != "" {
				continue
			}
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				a, ok := n.(*ast.AssignStmt)
				for i := 0; ok && i < len(a.Lhs); i++ {
					if sel, is := ast.Unparen(a.Lhs[i]).(*ast.SelectorExpr); is && p.Object(sel.Sel) == list {
						name = decl.Name.Name
					}
				}
				return name == ""
			})
		}
	}
	return name
}
