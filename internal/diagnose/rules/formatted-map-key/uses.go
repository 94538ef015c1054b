package formattedmapkey

import (
	"go/ast"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostParts is the largest number of values in a key.
const mostParts = 4

// partsOf returns the values that a text consists of, without constants; false when there are none
// or too many, or one cannot be part of a key.
func partsOf(p *gocode.Place, text ast.Expr) (parts []ast.Expr, ok bool) {
	var all []ast.Expr
	bytes := false
	switch e := text.(type) {
	case *ast.CallExpr:
		fn := p.Callee(e)
		if fn == nil || e.Ellipsis.IsValid() {
			return nil, false
		}
		switch name := fn.Name(); {
		case name == "String":
			all = []ast.Expr{syntax.Receiver(e)}
		case name == "Join":
			list, ok := ast.Unparen(e.Args[0]).(*ast.CompositeLit)
			if !ok {
				return nil, false
			}
			all = list.Elts
		case name == "EncodeToString":
			all, bytes = e.Args, true
		case name == "Sprintf" && len(e.Args) > 0:
			all = e.Args[1:]
		case name == "FormatInt" || name == "FormatUint":
			all = e.Args[:1]
		default:
			all = e.Args
		}
	case *ast.BinaryExpr:
		all = syntax.Operands(e)
	}
	for _, e := range all {
		if _, constant := p.Const(e); constant {
			continue
		}
		inner, formatted := nested(p, e)
		if formatted {
			parts = append(parts, inner...)
			continue
		}
		t := p.TypeOf(e)
		if t == nil || !bytes && (!types.Comparable(t) || holdsInterface(t)) {
			return nil, false
		}
		parts = append(parts, e)
	}
	// One string with constants around it is a namespace in the map; one string alone needs no fix.
	if len(parts) == 1 && syntax.IsString(p, parts[0]) {
		return nil, false
	}
	return parts, len(parts) > 0 && len(parts) <= mostParts
}

// nested returns the parts of an operand that is formatted, like strconv.Itoa(n) in a
// concatenation.
func nested(p *gocode.Place, e ast.Expr) ([]ast.Expr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil, false
	}
	switch p.CalleeName(call) {
	case "strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint", "strconv.FormatBool":
		return call.Args[:1], true
	}
	return nil, false
}

func holdsInterface(t types.Type) bool {
	_, ok := t.Underlying().(*types.Interface)
	return ok
}

// uses follows a text to its uses.
type uses struct {
	*search
	frame *site.Frame // in the package
	place *gocode.Place
	in    ast.Expr // the first map that it is a key of
	// within is true in a function that gets the text as an argument.
	within bool
}

// onlyKey reports whether a text is only a key of maps whose keys have no other use. If a function
// returns it, its callers are followed once.
func (u *uses) onlyKey(text ast.Expr, follow bool) bool {
	p := u.place
	if u.keys(p, text) {
		return true
	}
	if v := syntax.LocalVar(p, syntax.AssignedTo(p, text)); v != nil {
		if len(syntax.Assigned(p, v)) != 1 || syntax.IsResult(p, v) {
			return false
		}
		reads := syntax.Reads(p, v)
		for _, id := range reads {
			if !u.keys(p, id) {
				return false
			}
		}
		return len(reads) > 0
	}
	ret, ok := syntax.Parent(p, text).(*ast.ReturnStmt)
	return ok && follow && len(ret.Results) == 1 && u.callers()
}

// keys reports whether an expression is the key of a lookup, an assignment or a delete.
func (u *uses) keys(p *gocode.Place, e ast.Expr) bool {
	var in ast.Expr
	switch n := syntax.Parent(p, e).(type) {
	case *ast.IndexExpr:
		if ast.Unparen(n.Index) == ast.Unparen(e) {
			in = n.X
		}
	case *ast.CallExpr:
		switch {
		case p.CalleeName(n) == "delete":
			in = n.Args[0]
		case keyed(p, n) && n.Args[0] == e:
			in = syntax.Receiver(n)
		default:
			return u.passed(p, n, e)
		}
	}
	if in == nil {
		return false
	}
	t := p.TypeOf(in)
	if t == nil {
		return false
	}
	if _, ok := t.Underlying().(*types.Map); !ok && !isSyncMap(t) || !private(p, in) {
		return false
	}
	if u.in == nil {
		u.in = in
	}
	return true
}

// keyed reports whether a call is of a method of a sync.Map whose first argument is a key.
func keyed(p *gocode.Place, call *ast.CallExpr) bool {
	name, ok := strings.CutPrefix(p.CalleeName(call), "(*sync.Map).")
	return ok && name != "Range" && name != "Clear"
}

func isSyncMap(t types.Type) bool { return strings.TrimPrefix(t.String(), "*") == "sync.Map" }

// callers reports whether all callers of the place's function use its result as a key.
func (u *uses) callers() bool {
	p := u.place
	if p.Decl == nil || p.Func != ast.Node(p.Decl) {
		return false
	}
	fn, _ := p.Info.Defs[p.Decl.Name].(*types.Func)
	if fn == nil || fn.Exported() && p.Pkg.Name() != "main" {
		return false
	}
	found, fine := 0, true
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || !fine || p.Info.Uses[id] != fn {
				return fine
			}
			found++
			at := p.Fset.Position(id.Pos())
			place, ok := u.pass.Syntax.At(path.Join(path.Dir(u.frame.File), filepath.Base(at.Filename)), at.Line)
			fine = ok && u.asKey(place, id)
			return fine
		})
	}
	return fine && found > 0
}

// asKey reports whether the call that an identifier names is used as a key.
func (u *uses) asKey(p *gocode.Place, id *ast.Ident) bool {
	for _, call := range p.Calls() {
		if !syntax.Within(call.Fun, id) {
			continue
		}
		of := uses{search: u.search, frame: u.frame, place: p, in: u.in}
		fine := of.onlyKey(call, false)
		u.in = of.in
		return fine
	}
	return false
}

// private reports whether nothing reads the keys of a map: it is a variable or a field of the
// package whose uses are lookups, assignments of elements, delete, clear, len, loops over its
// values, and creating it.
func private(p *gocode.Place, m ast.Expr) bool {
	var obj types.Object
	switch e := ast.Unparen(m).(type) {
	case *ast.Ident:
		obj = p.Object(e)
	case *ast.SelectorExpr:
		obj = p.Object(e.Sel)
	}
	v, ok := obj.(*types.Var)
	if !ok || v.Pkg() != p.Pkg || v.Exported() && p.Pkg.Name() != "main" {
		return false
	}
	if !v.IsField() && v.Parent() != p.Pkg.Scope() {
		values := syntax.Assigned(p, v)
		if syntax.Param(p, v) || len(values) == 0 || slices.ContainsFunc(values, func(e ast.Expr) bool { return !syntax.Makes(p, e) }) {
			return false // other code has it too
		}
	}
	fine := true
	for _, file := range p.Files() {
		var stack []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			if id, ok := n.(*ast.Ident); ok && p.Info.Uses[id] == v && !harmless(p, id, stack) {
				fine = false
			}
			stack = append(stack, n)
			return true
		})
	}
	return fine
}

// harmless reports whether a use of a map, given the nodes around it, leaves its keys unread.
func harmless(p *gocode.Place, id *ast.Ident, stack []ast.Node) bool {
	var e ast.Node = id
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.ParenExpr:
			e = n
			continue
		case *ast.SelectorExpr:
			if n.Sel == e {
				e = n
				continue
			}
			// m.Load(…) of a sync.Map
			call, ok := parent(stack, i).(*ast.CallExpr)
			return ok && ast.Node(call.Fun) == ast.Node(n) && isSyncMap(p.TypeOf(n.X)) && (keyed(p, call) || n.Sel.Name == "Clear")
		case *ast.IndexExpr:
			return n.X == e
		case *ast.CallExpr:
			name := p.CalleeName(n)
			return name == "len" || name == "delete" || name == "clear"
		case *ast.RangeStmt:
			if n.X != e {
				return false
			}
			key, _ := n.Key.(*ast.Ident)
			return n.Key == nil || key != nil && key.Name == "_"
		case *ast.AssignStmt:
			return made(p, n, e)
		case *ast.KeyValueExpr:
			return n.Key == e && syntax.Makes(p, n.Value)
		case *ast.BinaryExpr:
			return true // compared with nil
		}
		return false
	}
	return false
}

// parent returns the node around stack[i]; nil for none.
func parent(stack []ast.Node, i int) ast.Node {
	if i == 0 {
		return nil
	}
	return stack[i-1]
}

// made reports whether an assignment sets a map to a new one.
func made(p *gocode.Place, a *ast.AssignStmt, e ast.Node) bool {
	for i, lhs := range a.Lhs {
		if ast.Node(lhs) == e && len(a.Lhs) == len(a.Rhs) {
			return syntax.Makes(p, a.Rhs[i])
		}
	}
	return false
}
