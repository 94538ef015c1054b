package changed

import (
	"go/ast"
	"go/token"
	"strings"
)

// operation is something that a function does, at one place.
type operation struct {
	kind   string
	key    string // equal for the same operation in two releases, whatever variables are called
	loose  string // of a method: the key if the type of the receiver is not known
	method string // the name of a method that is called
	verb   string // "calls", "loops over"
	name   string // what the verb is about
	f      *function
	pos    token.Pos
	line   int // of the function whose operations are listed: the place, or that of the call that leads to it
	around
	target *function // of a call, if it is in the module
	inner  float64   // the highest score in target, if it is read too
}

// around is what encloses an operation.
type around struct {
	loops int
	conds []condition
	held  []string // the locks that are held, by their keys
	names []string // their source text
	cold  bool     // only after an error
}

// with returns the surroundings inside a condition.
func (a around) with(c condition) around {
	if c.isError {
		a.cold = a.cold || !c.negated
		return a
	}
	if len(a.conds) >= maxConditions {
		return a
	}
	a.conds = append(a.conds[:len(a.conds):len(a.conds)], c)
	return a
}

func (a around) lock(key, name string) around {
	a.held = append(a.held[:len(a.held):len(a.held)], key)
	a.names = append(a.names[:len(a.names):len(a.names)], name)
	return a
}

func (a around) unlock(key string) around {
	b := a
	b.held, b.names = nil, nil
	for i := range a.held {
		if a.held[i] != key {
			b.held, b.names = append(b.held, a.held[i]), append(b.names, a.names[i])
		}
	}
	return b
}

func (a around) inLoop() around {
	a.loops++
	return a
}

const (
	maxOperations = 20000
	maxConditions = 64
	maxExpanded   = 40 // functions that are read as if they stood in their caller
)

// reader lists the operations of a function.
type reader struct {
	*function
	scope  *scope
	out    *[]operation
	expand func(f *function) bool // whether a function is read as if it stood in its caller
	stack  []*function
	count  *int // of expanded functions
	line   int  // of the call through which it is read; 0 in the function itself
}

// operations lists what a function does, and what the functions do that expand chooses.
func operations(f *function, expand func(*function) bool) []operation {
	var out []operation
	var count int
	r := reader{function: f, scope: f.scope(), out: &out, expand: expand, stack: []*function{f}, count: &count}
	r.block(f.decl.Body.List, around{})
	return out
}

func (r *reader) emit(kind, key, verb, name string, pos token.Pos, a around) {
	if len(*r.out) < maxOperations {
		*r.out = append(*r.out, operation{kind: kind, key: kind + " " + key, verb: verb, name: name, f: r.function, pos: pos, line: r.rootLine(pos), around: a})
	}
}

// rootLine is the line of a position in the function whose operations are listed.
func (r *reader) rootLine(pos token.Pos) int {
	if r.line > 0 {
		return r.line
	}
	return r.file.line(pos)
}

// norm is the source of a node without formatting, with a dot for names that the function declares.
func (r *reader) norm(n ast.Node) string {
	return strings.Join(r.file.tokens(n.Pos(), n.End(), r.scope.local), " ")
}

// expressions reads the operations in an expression.
func (r *reader) expressions(n ast.Node, a around) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			r.block(x.Body.List, a)
			return false
		case *ast.CallExpr:
			r.call(x, a)
		case *ast.CompositeLit:
			r.literal(x, a)
		case *ast.UnaryExpr:
			if call, ok := x.X.(*ast.CallExpr); ok && x.Op == token.ARROW && !isDone(call) {
				return true // the call says it
			} else if ok && x.Op == token.ARROW {
				r.emit(KindChannel, "receive done", "receives from", r.file.short(x.X, 40), x.Pos(), a)
				return false
			}
			if x.Op == token.ARROW {
				r.emit(KindChannel, "receive "+r.norm(x.X), "receives from", r.file.short(x.X, 40), x.Pos(), a)
			}
		case *ast.IndexExpr:
			if typ := r.scope.typeOf(x.X); strings.HasPrefix(typ, "map[") {
				r.emit(KindLookup, r.norm(pointed(x.X)), "looks up "+r.file.short(x.Index, 40)+" in", r.file.short(x.X, 40), x.Pos(), a)
			}
		}
		return true
	})
}

// pointed returns x of (*x): an operation on what a pointer refers to is the same.
func pointed(e ast.Expr) ast.Expr {
	if star, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		return star.X
	}
	return e
}

// isDone reports whether a call is that of a context's channel.
func isDone(x *ast.CallExpr) bool {
	sel, ok := x.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Done" && len(x.Args) == 0
}

// literal reads a literal of a list or a map, which allocates.
func (r *reader) literal(x *ast.CompositeLit, a around) {
	switch t := x.Type.(type) {
	case *ast.MapType:
		r.emit(KindAllocate, r.norm(t), "creates", article(r.file.short(t, 40)), x.Pos(), a)
	case *ast.ArrayType:
		if t.Len == nil {
			r.emit(KindAllocate, r.norm(t), "creates", article(r.file.short(t, 40)), x.Pos(), a)
		}
	}
}

// call reads a call.
func (r *reader) call(x *ast.CallExpr, a around) {
	switch fun := x.Fun.(type) {
	case *ast.Ident:
		if r.scope.local(fun.Name) {
			return
		}
		if r.builtin(fun.Name, x, a) {
			return
		}
	case *ast.ArrayType:
		if len(x.Args) == 1 {
			r.emit(KindConvert, r.norm(fun), "converts "+r.file.short(x.Args[0], 40)+" to", r.file.text(fun), x.Pos(), a)
		}
		return
	case *ast.SelectorExpr:
		if r.method(fun, x, a) {
			return
		}
	case *ast.FuncLit, *ast.ParenExpr, *ast.MapType, *ast.ChanType, *ast.InterfaceType:
		return
	}
	target := r.scope.target(x)
	if id, ok := x.Fun.(*ast.Ident); ok && target == nil && (r.file.pkg.types[id.Name] != nil || basic(id.Name)) {
		return // a conversion
	}
	at := len(*r.out)
	r.emit(KindCall, r.callKey(x, target), "calls", r.calleeName(x.Fun), x.Pos(), a)
	if at == len(*r.out) {
		return // there are too many
	}
	(*r.out)[at].target = target
	(*r.out)[at].loose = r.looseKey(x)
	if sel, ok := x.Fun.(*ast.SelectorExpr); ok && !r.isImport(sel.X) {
		(*r.out)[at].method = sel.Sel.Name
	}
	r.enter(target, x.Pos(), a)
	for _, op := range (*r.out)[at+1:] {
		(*r.out)[at].inner = max((*r.out)[at].inner, op.score())
	}
}

// enter reads the function that is called as if it stood here.
func (r *reader) enter(target *function, pos token.Pos, a around) {
	if target == nil || len(r.stack) > maxDepth || *r.count >= maxExpanded || !r.expand(target) {
		return
	}
	for _, f := range r.stack {
		if f == target {
			return
		}
	}
	*r.count++
	inner := reader{function: target, scope: target.scope(), out: r.out, expand: r.expand, stack: append(r.stack[:len(r.stack):len(r.stack)], target), count: r.count, line: r.rootLine(pos)}
	inner.block(target.decl.Body.List, a)
}

// callKey is the key of a call: the function, if it is known.
func (r *reader) callKey(x *ast.CallExpr, target *function) string {
	if target != nil {
		return target.id()
	}
	if sel, ok := x.Fun.(*ast.SelectorExpr); ok {
		if id, ok := sel.X.(*ast.Ident); ok && !r.scope.local(id.Name) {
			if path, ok := r.file.imports[id.Name]; ok {
				return path + "." + sel.Sel.Name
			}
		}
		if typ := baseName(r.scope.typeOf(sel.X)); typ != "" {
			if id, ok := sel.X.(*ast.Ident); ok && r.scope.local(id.Name) {
				return typ + "." + sel.Sel.Name
			}
		}
		if strings.ContainsAny(r.file.text(sel.X), "([") {
			return "(·)." + sel.Sel.Name // on the result of another call
		}
		if id, ok := sel.X.(*ast.Ident); ok && r.scope.local(id.Name) {
			return "·." + sel.Sel.Name
		}
	}
	return r.norm(x.Fun)
}

// looseKey is the key of a call of a variable's method without the variable; "" for other calls.
func (r *reader) looseKey(x *ast.CallExpr) string {
	sel, ok := x.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if _, ok := sel.X.(*ast.Ident); !ok || r.isImport(sel.X) {
		return ""
	}
	return KindCall + " ·." + sel.Sel.Name
}

// isImport reports whether an expression is the name of an imported package.
func (r *reader) isImport(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && !r.scope.local(id.Name) && r.file.imports[id.Name] != ""
}

// calleeName returns the callee as the source has it; only the name of a method that is called on
// the result of another call.
func (r *reader) calleeName(fun ast.Expr) string {
	switch x := fun.(type) {
	case *ast.IndexExpr:
		return r.calleeName(x.X)
	case *ast.IndexListExpr:
		return r.calleeName(x.X)
	case *ast.SelectorExpr:
		if text := r.file.text(x); len(text) <= 50 && !strings.ContainsAny(text, "({[") {
			return text
		}
		return x.Sel.Name
	}
	return r.file.short(fun, 50)
}

// builtin reads calls of predeclared functions, and reports whether it is one.
func (r *reader) builtin(name string, x *ast.CallExpr, a around) bool {
	if len(r.file.pkg.funcs[name]) > 0 || len(x.Args) == 0 {
		return false
	}
	first := x.Args[0]
	switch name {
	case "make", "new":
		r.allocation(name, x, a)
	case "string":
		r.emit(KindConvert, "string", "converts "+r.file.short(first, 40)+" to", "string", x.Pos(), a)
	case "append":
		if r.isEmpty(first) && x.Ellipsis.IsValid() && len(x.Args) == 2 {
			r.emit(KindCopy, "", "copies", r.file.short(x.Args[1], 40), x.Pos(), a)
		}
	case "copy":
		if len(x.Args) == 2 {
			r.emit(KindCopy, "", "copies", r.file.short(x.Args[1], 40), x.Pos(), a)
		}
	case "len", "cap", "min", "max", "panic", "delete", "clear", "close", "print", "println", "recover", "real", "imag", "complex":
	default:
		return false
	}
	return true
}

// allocation reads make and new. A size that only one release gives makes a difference.
func (r *reader) allocation(name string, x *ast.CallExpr, a around) {
	typ := x.Args[0]
	text, key := article(r.file.short(typ, 40)), r.norm(typ)
	if name == "new" {
		r.emit(KindAllocate, "* "+key, "allocates", text, x.Pos(), a)
		return
	}
	size := ""
	if n := len(x.Args); n > 1 {
		if last := r.file.short(x.Args[n-1], 40); last != "0" {
			size = last
		}
	}
	if size != "" {
		key += " sized"
		text += " with room for " + size
	}
	r.emit(KindAllocate, key, "allocates", text, x.Pos(), a)
}

// isEmpty reports whether an expression is an empty list: nil of a type, or a literal.
func (r *reader) isEmpty(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		_, array := x.Fun.(*ast.ArrayType)
		return array && len(x.Args) == 1 && r.file.text(x.Args[0]) == "nil"
	}
	return false
}

// method reads calls of methods that are known by their names: locks and pools.
func (r *reader) method(fun *ast.SelectorExpr, x *ast.CallExpr, a around) bool {
	name := r.file.short(fun.X, 50)
	switch fun.Sel.Name {
	case "Lock":
		if len(x.Args) == 0 {
			r.emit(KindLock, "write "+r.norm(fun.X), "locks", name, x.Pos(), a)
			return true
		}
	case "RLock":
		if len(x.Args) == 0 {
			r.emit(KindLock, "read "+r.norm(fun.X), "read-locks", name, x.Pos(), a)
			return true
		}
	case "Unlock", "RUnlock":
		return len(x.Args) == 0
	case "Get":
		if baseName(r.scope.typeOf(fun.X)) == "sync.Pool" {
			r.emit(KindCall, "pool get "+r.norm(fun.X), "takes a value from the pool", name, x.Pos(), a)
			return true
		}
	case "Put":
		if baseName(r.scope.typeOf(fun.X)) == "sync.Pool" {
			r.emit(KindCall, "pool put "+r.norm(fun.X), "returns a value to the pool", name, x.Pos(), a)
			return true
		}
	}
	return false
}

// basic reports whether a name is that of a predeclared type.
func basic(name string) bool {
	switch name {
	case "bool", "byte", "rune", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr",
		"float32", "float64", "complex64", "complex128", "error", "any":
		return true
	}
	return false
}

// article puts an indefinite article before a type.
func article(typ string) string {
	if strings.HasPrefix(typ, "[") || typ != "" && strings.ContainsRune("aeioAEIO", rune(typ[0])) {
		if strings.HasPrefix(typ, "[") {
			return "a " + typ
		}
		return "an " + typ
	}
	return "a " + typ
}
