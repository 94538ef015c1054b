package unchangedinput

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// seldom is the most often that the input of a call may be set, per run of the call.
	seldom = 0.01
	// deepest is the number of nested expressions up to which a call is followed.
	deepest = 200
)

// origin follows the input of a call to values that live longer than the call.
type origin struct {
	pass     *rule.Pass
	place    *gocode.Place
	frame    *site.Frame
	callers  []*site.Frame // of its function, nearest first; nil if there are no more
	runs     float64       // of the line, for each unit of work
	patterns []string
	most     float64  // how often the input may be set, for each run of the line; 0: [seldom]
	above    bool     // the place is in a caller of the line's function
	callee   string   // of the call, as profiles name it; "" if it is not known
	normal   ast.Expr // the call, if it turns a text into another one; see [search.normalizes]

	names []string
	sets  float64 // largest of all values, for each run of the line
	open  bool    // other packages may set one of them
	depth int
	// The fields below are for calls whose purity no list states. They are followed if loose is
	// set. guess is set if not all code could be analyzed, few if the result is one of a few, file
	// if a file is read.
	loose, guess, few, file bool
	inside                  []*ast.FuncDecl // functions that are being analyzed

	settled []*types.Var // of those below: what is assigned to them does not change, their other uses are being examined
	under   []*types.Var // local variables that are being followed: t = t.Parse(…) adds nothing to the origin of t
}

// decided reports whether the cost of a call depends only on values that do not change. A function
// that compiles a pattern and matches a text does most of its work before it reads the text.
func (o *origin) decided(call *ast.CallExpr) bool {
	if funcname.Match(o.place.CalleeName(call), "regexp.Match*") && len(call.Args) == 2 {
		return o.fixed(call.Args[0])
	}
	return o.whole(call)
}

// whole reports whether receiver and arguments of a call combine constants and values that do not
// change.
func (o *origin) whole(call *ast.CallExpr) bool {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && o.place.Info.Selections[sel] != nil && !o.fixed(sel.X) {
		return false
	}
	for _, arg := range call.Args {
		if !o.fixed(arg) {
			return false
		}
	}
	return true
}

// fixed reports whether an expression combines constants and values that do not change.
func (o *origin) fixed(e ast.Expr) bool {
	if o.depth++; o.depth > deepest {
		return false
	}
	if _, ok := o.place.Const(e); ok {
		return true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return o.variable(x)
	case *ast.SelectorExpr:
		return o.selected(x)
	case *ast.IndexExpr:
		if o.loose && o.fixed(x.X) && !o.fixed(x.Index) {
			o.few = true // one of those that do not change
			return true
		}
		return o.fixed(x.X) && o.fixed(x.Index)
	case *ast.SliceExpr:
		return o.fixed(x.X) && o.bound(x.Low) && o.bound(x.High) && o.bound(x.Max)
	case *ast.StarExpr:
		return o.fixed(x.X)
	case *ast.UnaryExpr:
		return x.Op != token.ARROW && o.fixed(x.X)
	case *ast.BinaryExpr:
		return o.fixed(x.X) && o.fixed(x.Y)
	case *ast.CompositeLit:
		for _, elt := range x.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if !o.fixed(elt) {
				return false
			}
		}
		return true
	case *ast.CallExpr:
		if _, conversion := o.place.Conversion(x); conversion || o.place.CalleeName(x) == "len" {
			return len(x.Args) == 1 && o.fixed(x.Args[0])
		}
		for _, pattern := range o.patterns {
			if funcname.Match(o.place.CalleeName(x), funcname.Typed(pattern)) {
				return o.whole(x)
			}
		}
		if o.loose && o.builtin(x) {
			return true
		}
		if o.loose {
			return o.makes(x)
		}
		return o.whole(x) && o.computed(x)
	}
	return false
}

// builtin reports whether a call is of a builtin that returns a value that does not change.
func (o *origin) builtin(call *ast.CallExpr) bool {
	args := call.Args
	switch o.place.CalleeName(call) {
	case "append", "min", "max", "cap":
	case "make":
		args = args[1:]
	case "new":
		return true
	default:
		return false
	}
	for _, arg := range args {
		if !o.fixed(arg) {
			return false
		}
	}
	return true
}

// computed reports whether the result of a function of the package depends only on its arguments,
// and on package variables that do not change: a lookup in a table of texts, a list of functions
// for a template.
func (o *origin) computed(call *ast.CallExpr) bool {
	decl := o.place.Declaration(o.place.Callee(call))
	if decl == nil || decl.Body == nil || decl.Recv != nil {
		return false
	}
	in := *o.place
	in.Func, in.Decl = decl, decl
	if !effects.Pure(&in) {
		return false
	}
	stays := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && stays {
			if v, ok := o.place.Object(id).(*types.Var); ok && !v.IsField() && v.Parent() == o.place.Pkg.Scope() {
				stays = o.stays(v, id.Name)
			}
		}
		return stays
	})
	return stays
}

func (o *origin) bound(e ast.Expr) bool { return e == nil || o.fixed(e) }

// selected follows a field: of the receiver, of a package variable, of another value that does not
// change.
func (o *origin) selected(sel *ast.SelectorExpr) bool {
	s := o.place.Info.Selections[sel]
	if s == nil { // package.Var
		v, ok := o.place.Info.Uses[sel.Sel].(*types.Var)
		return ok && o.stays(v, types.ExprString(sel)) || isFunc(o.place.Info.Uses[sel.Sel])
	}
	field, ok := s.Obj().(*types.Var)
	if !ok || s.Kind() != types.FieldVal {
		return false
	}
	if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok {
		if v, ok := o.place.Object(id).(*types.Var); ok && syntax.Param(o.place, v) {
			// The struct may differ from call to call, unless it is the receiver or a parameter and
			// its type is created seldom. If lists or maps keep several, it is one of them.
			if !o.made(v.Type()) || !o.stays(field, types.ExprString(sel)) {
				return false
			}
			o.few = o.few || o.loose && o.several(v.Type())
			return true
		}
	}
	return o.fixed(sel.X) && o.stays(field, types.ExprString(sel))
}

// stays reports whether a field or package variable of the place's package, and the memory that it
// refers to, is seldom set.
func (o *origin) stays(v *types.Var, name string) bool {
	if v.Pkg() == nil || v.Pkg() != o.place.Pkg {
		return o.constant(v) // other packages may set it
	}
	most := 0.0
	for _, f := range o.place.Files() {
		fine := true
		ast.Inspect(f, func(n ast.Node) bool {
			if !fine {
				return false
			}
			for _, e := range targets(n) {
				if o.isOf(e, v) {
					runs, ok := o.executed(f, n)
					if !ok {
						fine = false
						break
					}
					most = max(most, runs)
				}
			}
			return fine
		})
		if !fine {
			return false
		}
	}
	if most = max(most, o.filled(v), o.elsewhere(v)); most > o.limit() {
		return false
	}
	o.note(name, most/o.runs)
	o.open = o.open || v.Exported()
	return true
}

// elsewhere returns how often other packages of the main module set an exported field, or create
// the struct that it is a part of, for each unit of work, as far as that was counted.
func (o *origin) elsewhere(v *types.Var) (most float64) {
	owner := ownerOf(v)
	if owner == "" || !v.Exported() {
		return 0
	}
	count := func(p *gocode.Place, n ast.Node) {
		if p.Pkg == v.Pkg() || p.Decl == nil {
			return // looked at already, or run once
		}
		if runs, ok := evidence.ReachedAt(o.pass, p, n.Pos()); ok {
			most = max(most, runs)
		}
	}
	for _, c := range o.pass.Syntax.Creations(owner) {
		count(c.Place, c.Node)
	}
	for _, value := range o.pass.Syntax.ValuesOf(owner, v.Name()) {
		count(value.Place, value.Value)
	}
	return most
}

// ownerOf returns the name of the struct type of a field's package that has the field, as in
// "net/http.Transport"; "" for none.
func ownerOf(v *types.Var) string {
	if !v.IsField() || v.Pkg() == nil {
		return ""
	}
	scope := v.Pkg().Scope()
	for _, name := range scope.Names() {
		tn, ok := scope.Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		s, ok := tn.Type().Underlying().(*types.Struct)
		for i := 0; ok && i < s.NumFields(); i++ {
			if s.Field(i) == v {
				return types.TypeString(tn.Type(), nil)
			}
		}
	}
	return ""
}

// constant reports whether a variable of another package looks like a constant: a package's own
// values, such as types, fonts and extensions, are set once. Values that can act are not constants:
// clients, registries, sources of random numbers.
func (o *origin) constant(v *types.Var) bool {
	if !o.loose || v.IsField() || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || acts(v.Type()) {
		return false
	}
	o.guess = true
	return true
}

// acts reports whether a type has methods that read, write or keep something.
func acts(t types.Type) bool {
	if _, pointer := t.Underlying().(*types.Pointer); !pointer && !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	methods := types.NewMethodSet(t)
	for i := range methods.Len() {
		name := methods.At(i).Obj().Name()
		for _, verb := range []string{"Read", "Write", "Register", "MustRegister", "Handle", "Do", "Set", "Add", "Store", "Lock", "Next", "Close", "Run", "Start", "Send", "Int", "RoundTrip", "Open", "Put"} {
			if rest, ok := strings.CutPrefix(name, verb); ok && (rest == "" || rest[0] < 'a') {
				return true
			}
		}
	}
	return false
}

// made reports whether values of a type of the place's package are seldom created.
func (o *origin) made(t types.Type) bool {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() != o.place.Pkg {
		return false
	}
	most := 0.0
	for _, f := range o.place.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			made := false
			switch n := n.(type) {
			case *ast.CompositeLit:
				made = types.Identical(o.place.TypeOf(n), named)
			case *ast.CallExpr:
				made = o.place.CalleeName(n) == "new" && len(n.Args) == 1 && types.Identical(o.place.TypeOf(n.Args[0]), named)
			case *ast.ValueSpec:
				made = n.Type != nil && types.Identical(o.place.TypeOf(n.Type), named)
			}
			if made {
				if runs, ok := o.executed(f, n); ok {
					most = max(most, runs)
				}
			}
			return true
		})
	}
	if o.most > 0 {
		o.sets = max(o.sets, most/o.runs) // another value has another text
	}
	return most <= o.limit()
}

// several reports whether the place's package keeps values of a type in lists, maps or other
// containers: what a call gets is then another one each time, whatever changed.
func (o *origin) several(t types.Type) bool {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	is := func(of types.Type) bool {
		if ptr, ok := of.(*types.Pointer); ok {
			of = ptr.Elem()
		}
		return types.Identical(of, t)
	}
	for _, tv := range o.place.Info.Types {
		switch x := tv.Type.(type) {
		case *types.Map:
			if is(x.Elem()) || is(x.Key()) {
				return true
			}
		case interface{ Elem() types.Type }:
			if _, ptr := x.(*types.Pointer); !ptr && is(x.Elem()) {
				return true
			}
		case *types.Named:
			for arg := range x.TypeArgs().Types() {
				if is(arg) {
					return true
				}
			}
		}
	}
	return false
}

// limit is how often an input may be set for each unit of work.
func (o *origin) limit() float64 {
	if o.most > 0 {
		return o.most * o.runs
	}
	return seldom * o.runs
}

// executed returns how often a node ran for each unit of work. A package variable's initialiser
// runs once.
func (o *origin) executed(f *ast.File, n ast.Node) (float64, bool) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || n.Pos() < fn.Pos() || n.End() > fn.End() {
			continue
		}
		at := o.place.Fset.Position(n.Pos())
		if fn.Name.Name == "init" && fn.Recv == nil {
			return 0, true
		}
		e, ok := o.pass.Counts.Line(o.frame.Owner.Package, at.Filename, at.Line)
		return e.PerUnit, ok || !o.pass.Counts.Ran(o.frame.Owner.Package, at.Filename)
	}
	return 0, true
}

// isOf reports whether an expression names a variable, or a field or element of it.
func (o *origin) isOf(e ast.Expr, v *types.Var) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return o.place.Object(x) == v
		case *ast.SelectorExpr:
			if o.place.Info.ObjectOf(x.Sel) == v {
				return true
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return false
		}
	}
}

// targets returns the expressions that a node sets, or passes on to be set.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	}
	return nil
}

// setIn reports whether a function sets a variable.
func (o *origin) setIn(root ast.Node, v *types.Var) bool {
	set := false
	ast.Inspect(root, func(n ast.Node) bool {
		for _, e := range targets(n) {
			set = set || o.isOf(e, v)
		}
		return !set
	})
	return set
}

func (o *origin) note(name string, sets float64) {
	o.names = append(o.names, name)
	o.sets = max(o.sets, sets)
}
