package unchangedinput

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// The functions of this file follow calls of functions whose purity no list states: constructors of
// dependencies, functions of the program that build something. Code that they cannot analyze makes
// a finding likely, not measured. Known side effects and impure results (clocks, random numbers,
// other machines) end the analysis, by name here and by the profile in [quiet].

// makes reports whether the result of a call depends only on values that do not change, as far as
// is visible.
func (o *origin) makes(call *ast.CallExpr) bool {
	fn := o.place.Callee(call)
	if fn == nil {
		return o.byVariable(call)
	}
	if effects.Impure(fn) || flow.NewCopies(o.pass.Syntax).Calls(o.place, call) {
		return false // a deep copy belongs to the caller
	}
	if o.belongsToObject(call) {
		return false // each object has its own: a limiter for each client
	}
	if fn.Signature().Recv() != nil {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || !o.fresh(sel.X) || o.outlives(sel.X, fn) || o.changesItself(fn) || o.advances(fn, sel.X, call) {
			return false // the receiver may remember earlier calls
		}
	}
	for _, arg := range call.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			if _, named := ast.Unparen(u.X).(*ast.Ident); named {
				return false // the result keeps using a variable of this call
			}
		}
		if !o.fixed(arg) || o.remembers(arg) {
			return false
		}
	}
	if fn.Pkg() == o.place.Pkg && fn.Signature().Recv() == nil {
		decl := o.place.Declaration(fn)
		return o.builds(decl) && !o.allocates(decl, 0)
	}
	o.guess = true
	return true
}

// belongsToObject reports whether a call creates a part of another object that has a lock, and so a
// state that changes: it becomes a field of a struct, or an entry of a map.
func (o *origin) belongsToObject(call *ast.CallExpr) bool {
	t := o.place.TypeOf(call)
	if t == nil || !locked(t) {
		return false
	}
	for _, up := range o.place.Enclosing(call) {
		switch up := up.(type) {
		case *ast.CompositeLit:
			return true
		case *ast.AssignStmt:
			for _, to := range up.Lhs {
				switch to.(type) {
				case *ast.SelectorExpr, *ast.IndexExpr:
					return true
				}
			}
			return false
		case *ast.CallExpr: // m.LoadOrStore(key, New())
			fn := o.place.Callee(up)
			return fn != nil && named(fn, "Store", "LoadOrStore", "Swap", "Set", "Put", "Add")
		case *ast.KeyValueExpr, *ast.ParenExpr, *ast.UnaryExpr:
		default:
			return false
		}
	}
	return false
}

// locked reports whether a type is a struct with a lock, or a pointer to one.
func locked(t types.Type) bool {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		switch types.TypeString(f.Type(), nil) {
		case "sync.Mutex", "sync.RWMutex":
			return true
		}
	}
	return false
}

// allocates reports whether a function of the package does no more than allocate a value for its
// caller to fill: by make, new, and literals whose maps and slices have no elements. A value of
// its own for each caller is what such a function is for.
func (o *origin) allocates(decl *ast.FuncDecl, depth int) bool {
	if decl == nil || decl.Body == nil || depth > deepest {
		return false
	}
	only := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			only = false
		case *ast.CompositeLit:
			if t := o.place.TypeOf(n); t != nil && len(n.Elts) > 0 {
				_, fields := t.Underlying().(*types.Struct)
				only = only && fields
			}
		case *ast.CallExpr:
			name := o.place.CalleeName(n)
			if _, conversion := o.place.Conversion(n); conversion || name == "make" || name == "new" {
				break
			}
			fn := o.place.Callee(n)
			only = only && fn != nil && fn.Pkg() == o.place.Pkg && o.allocates(o.place.Declaration(fn), depth+1)
		}
		return only
	})
	return only
}

// changesItself reports whether a method of the package visibly changes its receiver, or asks for
// something that changes: b.take() returns something else each time, although b stays the same
// variable.
func (o *origin) changesItself(method *types.Func) bool {
	decl := o.place.Declaration(method)
	return decl != nil && decl.Body != nil && (!effects.ChangesNothing(o.place.Entry(decl)) || effects.Varies(o.place, decl.Body))
}

// advances reports whether a method of another package runs in a loop around which its receiver was
// created: it may return something else in each iteration, as (*bufio.Scanner).Bytes does.
func (o *origin) advances(method *types.Func, receiver ast.Expr, call *ast.CallExpr) bool {
	v, _ := syntax.Var(o.place, receiver)
	return v != nil && o.place.Declaration(method) == nil && o.carried(v, call)
}

// byVariable is makes for a call of a package variable that holds a function, as packages have for
// a second name of another package's function.
func (o *origin) byVariable(call *ast.CallExpr) bool {
	v, _ := syntax.Var(o.place, call.Fun)
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && v == nil {
		v, _ = o.place.Object(sel.Sel).(*types.Var)
	}
	if v == nil || v.IsField() || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || !o.stays(v, v.Name()) {
		return false
	}
	for _, arg := range call.Args {
		if !o.fixed(arg) || o.remembers(arg) {
			return false
		}
	}
	o.guess = true
	return true
}

// remembers reports whether an argument refers to something that persists between calls and that a
// call could change: what a package variable points at.
func (o *origin) remembers(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := o.place.Object(id).(*types.Var)
	if !ok || v.Parent() != o.place.Pkg.Scope() {
		return false // a variable of another package: see constant
	}
	switch t := v.Type().Underlying().(type) {
	case *types.Basic, *types.Signature, *types.Slice, *types.Array:
		return false
	case *types.Struct:
		return t.NumFields() == 0
	}
	return true
}

// fresh reports whether this call of the function created a value, from values that do not change.
func (o *origin) fresh(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return o.fixed(x)
	case *ast.Ident:
		v, ok := o.place.Object(x).(*types.Var)
		return ok && v.Parent() != o.place.Pkg.Scope() && !syntax.Param(o.place, v) && syntax.Local(o.place, v) && o.fixed(x)
	case *ast.SelectorExpr:
		return o.fresh(x.X)
	}
	return false
}

// outlives reports whether a method belongs to a value that a function literal takes from the
// function around it, and that may change between two calls: another method may have written to it.
// A value without pointers changes only where its variable is set, and counted inputs have the
// memory that a receiver points at.
func (o *origin) outlives(e ast.Expr, method *types.Func) bool {
	v, _ := syntax.Var(o.place, e)
	lit, ok := o.place.Func.(*ast.FuncLit)
	if v == nil || !ok || syntax.Inside(lit, v.Pos()) {
		return false
	}
	t := o.place.TypeOf(e)
	if t == nil || syntax.PlainData(t) {
		return false
	}
	if in := o.pass.Inputs.Of(o.callee); in != nil && in.Calls >= leastMade {
		return in.Identical > mostFew || in.Same < in.Compared
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return !ok || method.Pkg() != o.place.Pkg || !effects.Unwritten(o.place, named)
}

// untouched reports whether the calls that get a variable, as receiver or argument, get no other
// values that change: c.Add(x) changes c by x, and d.Decode(&c) by what d reads.
func (o *origin) untouched(v *types.Var) bool {
	fine := true
	ast.Inspect(syntax.Body(o.place), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !fine {
			return fine
		}
		with := o.isRoot(call.Fun, v)
		for _, arg := range call.Args {
			if t := o.place.TypeOf(arg); t != nil {
				if _, basic := t.Underlying().(*types.Basic); basic {
					continue // a number or a string of it changes nothing
				}
			}
			with = with || o.isRoot(arg, v)
		}
		if !with {
			return true
		}
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && o.place.Info.Selections[sel] != nil {
			fine = o.isRoot(sel, v) || o.fixed(sel.X)
		}
		for _, arg := range call.Args {
			fine = fine && (o.isRoot(arg, v) || o.fixed(arg))
		}
		return fine
	})
	return fine
}

// isRoot reports whether an expression is a variable, its address, or a part or method of it.
func (o *origin) isRoot(e ast.Expr, v *types.Var) bool {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	w, _ := syntax.Var(o.place, e)
	if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); ok && w == nil {
		w, _ = syntax.Var(o.place, sel.X)
	}
	return w == v
}

// builds reports whether a function of the package, with arguments that do not change, visibly only
// builds its result.
func (o *origin) builds(decl *ast.FuncDecl) bool {
	if decl == nil || decl.Body == nil || decl.Recv != nil || decl.Type.Results == nil || o.depth > deepest {
		return false
	}
	for _, d := range o.inside {
		if d == decl {
			return true // a recursion adds nothing
		}
	}
	o.inside = append(o.inside, decl)
	defer func() { o.inside = o.inside[:len(o.inside)-1] }()
	fine := true
	ast.Inspect(decl, func(n ast.Node) bool {
		if !fine {
			return false
		}
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt:
			fine = false
		case *ast.UnaryExpr:
			fine = n.Op != token.ARROW
		case *ast.Ident:
			fine = o.reads(n)
		case *ast.AssignStmt, *ast.IncDecStmt:
			for _, e := range targets(n) {
				fine = fine && o.belongs(decl, e)
			}
		case *ast.CallExpr:
			fine = o.harmless(n)
		}
		return fine
	})
	return fine
}

// reads reports whether a function may read what a name denotes and return the same each time.
func (o *origin) reads(id *ast.Ident) bool {
	v, ok := o.place.Object(id).(*types.Var)
	if !ok || v.IsField() {
		return true
	}
	switch v.Parent() {
	case o.place.Pkg.Scope():
		return o.stays(v, id.Name)
	default:
		return true
	}
}

// belongs reports whether the target of an assignment belongs to a function.
func (o *origin) belongs(decl *ast.FuncDecl, e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			if x.Name == "_" {
				return true
			}
			obj := o.place.Object(x)
			return obj != nil && obj.Pos() >= decl.Pos() && obj.Pos() < decl.End()
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.CompositeLit:
			return true // &T{…}
		default:
			return false
		}
	}
}

// harmless reports whether a call within a function that builds something only does that.
func (o *origin) harmless(call *ast.CallExpr) bool {
	if _, conversion := o.place.Conversion(call); conversion {
		return true
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if _, builtin := o.place.Object(id).(*types.Builtin); builtin {
			return true
		}
	}
	fn := o.place.Callee(call)
	if fn == nil || effects.Impure(fn) {
		return false
	}
	for _, pattern := range o.patterns {
		if funcname.Match(o.place.CalleeName(call), funcname.Typed(pattern)) {
			return true
		}
	}
	if effects.ReadsFiles(fn) {
		o.file = true
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && fn.Signature().Recv() != nil {
		if v, _ := syntax.Var(o.place, sel.X); v != nil && v.Pkg() == o.place.Pkg && v.Parent() == o.place.Pkg.Scope() {
			return false // a method of a value that lives on
		}
	}
	if fn.Pkg() == o.place.Pkg && fn.Signature().Recv() == nil {
		return o.builds(o.place.Declaration(fn))
	}
	o.guess = true
	return true
}

// outermost returns the frame of a row, nearest to its root, in which the program calls a function
// whose result does not change. Calls whose input the request decides come last: what they build
// is a part of the answer, and what is built again below them is built for other reasons.
func (s *search) outermost(r *site.Row) (frame int, chosen bool) {
	frame = -1
	for i := len(r.Stack) - 1; i > 0; i-- {
		f := r.Stack[i]
		if f.Owner.Kind != gocode.Main || f.Function == "main.main" || f.Function == r.Stack[i-1].Function {
			continue
		}
		key := at{file: f.File, line: f.Line, callee: r.Stack[i-1].Function, loose: true}
		copy(key.callers[:], r.Stack[i+1:])
		switch found := s.lookOnce(f, key); {
		case found == nil:
		case !found.chosen:
			return i, false
		case frame < 0:
			frame = i
		}
	}
	return frame, frame >= 0
}

// oncePerRequest is the most often per request that a call runs once for each.
const oncePerRequest = 1.5

// byRequest reports whether the request decides the input of a call: as counted inputs show, or
// because it takes one of several kept values once per request. Objects that each call creates, of
// which only the address was counted, show neither.
func (s *search) byRequest(callee string, few bool, runs float64) bool {
	if in := s.pass.Inputs.Of(callee); in != nil && (in.ByValue() || 2*in.Stable <= in.Calls) {
		return s.pass.Inputs.Chosen(in)
	}
	return few && s.pass.Manifest.Unit() == "request" && runs <= oncePerRequest
}

// answers reports whether a call's result is used, and is more than an error.
func (o *origin) answers(call *ast.CallExpr) bool {
	around := o.place.Enclosing(call)
	if len(around) > 0 {
		if s, ok := around[0].(*ast.ExprStmt); ok && s.X == call {
			return false
		}
	}
	fn := o.place.Callee(call)
	if fn == nil {
		return false
	}
	for v := range fn.Signature().Results().Variables() {
		if !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
			return true
		}
	}
	return false
}

// leastMade is the minimum number of times per run that a call must build the same result.
const leastMade = 100

// describeMade fills in the words for a result that is built again on every call.
func (f *found) describeMade(m *rule.Match, runs string) {
	name := symbol.Short(f.place.CalleeName(f.call))
	if fn := f.place.Callee(f.call); fn != nil && fn.Pkg() == f.place.Pkg {
		name = fn.Name()
	}
	from := "constants"
	if len(f.names) > 0 {
		from = funcname.List(f.names) + ", which did not change while executions were counted"
	}
	result := "the same result"
	keep := "Build it once (at startup, in a package variable, or with sync.OnceValue) and reuse it"
	switch {
	case f.chosen:
		result = "one of several results"
	case f.few:
		result, keep = "one of the same few results", "Cache the results by their input, in a map"
	}
	if runs == "" {
		runs = fmt.Sprintf(" It runs %s per %s.", evidence.Times(f.runs), f.unit)
	}
	m.Cause = fmt.Sprintf("%s builds %s again on every call, from %s.%s", name, result, from, runs)
	if f.file {
		m.Cause += " It reads a file each time."
		keep += ", until the file changes"
	}
	if f.chosen {
		keep = "Cache the results by their input, if the same requests come often. First look at what is expensive inside"
		m.Cause += " The request decides the input, so each request computes it once."
	}
	m.Fix = keep + "; copy it before changing it."
	if f.few || f.chosen {
		m.Fix = keep + "; copy a result before changing it."
	}
	switch m.Confidence = rule.Measured; {
	case f.chosen:
		m.Confidence = rule.Hint
	case f.guess, f.open, f.file:
		m.Confidence = rule.Likely
	}
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s is called %s per %s", name, evidence.Times(f.runs), f.unit)})
}
