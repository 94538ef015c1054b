package kept

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Origin says which fields and package variables a value comes from.
type Origin struct {
	Vars   []*types.Var
	Places []*gocode.Place // of functions that read them, in the same order
	// Built says that the value is not one that the program keeps, but built from such values: a
	// copy, a list that a loop fills, a literal.
	Built bool
	// Asked says that a function built it that also got something else, such as a filter.
	Asked bool
}

// mostFollowed is the number of nested expressions that are followed.
const mostFollowed = 40

// From returns the origin of an expression in the function at stack[i], if it consists of what the
// program keeps and of constants alone. It follows parameters to the callers in the stack, and
// calls into functions with syntax.
func From(s *gocode.Syntax, stack []*site.Frame, i int, p *gocode.Place, e ast.Expr) (*Origin, bool) {
	t := &tracer{syntax: s, bound: map[*ast.FuncDecl]binding{}, seen: map[*types.Var]bool{}}
	for j := i; j+1 < len(stack); j++ {
		in, ok := s.At(stack[j].File, stack[j].Line)
		above, known := s.At(stack[j+1].File, stack[j+1].Line)
		if !ok || !known || in.Decl == nil || in.Func != ast.Node(in.Decl) {
			break
		}
		if call := loops.CallTo(above, stack[j].Function); call != nil {
			t.bound[in.Decl] = binding{above.Outer(), call}
		}
	}
	ok := t.kept(p.Outer(), e, mostFollowed)
	return &t.Origin, ok && len(t.Vars) > 0
}

// binding is the call by which a function was entered.
type binding struct {
	*gocode.Place
	call *ast.CallExpr
}

type tracer struct {
	Origin
	syntax *gocode.Syntax
	bound  map[*ast.FuncDecl]binding
	seen   map[*types.Var]bool // local variables under way
}

func (t *tracer) note(p *gocode.Place, v *types.Var) bool {
	if !slices.Contains(t.Vars, v) {
		t.Vars, t.Places = append(t.Vars, v), append(t.Places, p)
	}
	return true
}

// kept reports whether an expression consists of constants and of what the program keeps.
func (t *tracer) kept(p *gocode.Place, e ast.Expr, depth int) bool {
	if depth--; depth < 0 {
		return false
	}
	if _, constant := p.Const(e); constant || p.Info.Types[e].IsNil() {
		return true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return t.variable(p, x, depth)
	case *ast.SelectorExpr:
		return t.selected(p, x, depth)
	case *ast.IndexExpr:
		return t.kept(p, x.X, depth)
	case *ast.SliceExpr:
		t.Built, t.Asked = true, t.Asked || x.Low != nil || x.High != nil
		return t.kept(p, x.X, depth)
	case *ast.StarExpr:
		return t.kept(p, x.X, depth)
	case *ast.UnaryExpr:
		return t.kept(p, x.X, depth)
	case *ast.TypeAssertExpr:
		return t.kept(p, x.X, depth)
	case *ast.CompositeLit:
		t.Built = true
		for _, elt := range x.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if !t.kept(p, elt, depth) {
				return false
			}
		}
		return true
	case *ast.CallExpr:
		return t.result(p, x, 0, depth)
	}
	return false
}

// selected reports whether an expression is a field of a receiver, of a package variable or of
// something else that is kept.
func (t *tracer) selected(p *gocode.Place, sel *ast.SelectorExpr, depth int) bool {
	v, ok := p.Object(sel.Sel).(*types.Var)
	if !ok {
		return false
	}
	if !v.IsField() { // of another package
		return t.note(p, v)
	}
	root, _ := syntax.Var(p, sel)
	if root != nil && p.Decl != nil && p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, root.Pos()) {
		if owner := field(p, sel); owner != nil {
			return t.note(p, owner)
		}
	}
	return t.kept(p, sel.X, depth)
}

// field returns the first field in a selector of the receiver: items for s.items.list.
func field(p *gocode.Place, sel *ast.SelectorExpr) *types.Var {
	for {
		inner, ok := ast.Unparen(sel.X).(*ast.SelectorExpr)
		if !ok {
			v, _ := p.Object(sel.Sel).(*types.Var)
			return v
		}
		sel = inner
	}
}

// variable reports whether a variable only holds what is kept.
func (t *tracer) variable(p *gocode.Place, id *ast.Ident, depth int) bool {
	v, ok := p.Object(id).(*types.Var)
	if !ok || p.Decl == nil {
		return false
	}
	if v.Parent() == p.Pkg.Scope() {
		return t.note(p, v)
	}
	if t.seen[v] {
		return true
	}
	t.seen[v] = true
	defer delete(t.seen, v)
	if b, ok := t.bound[p.Decl]; ok && (syntax.Param(p, v) || p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos())) {
		arg := flow.ArgumentFor(p, b.call, v)
		return arg != nil && t.kept(b.Place, arg, depth)
	}
	if list := flow.Ranged(p, v); list != nil {
		t.Built = true
		return t.kept(p, list, depth)
	}
	set, fine := false, true
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if l, ok := ast.Unparen(lhs).(*ast.Ident); ok && p.Object(l) == v {
					set, fine = true, fine && t.assigned(p, n, i, depth)
				} else if w, part := syntax.Var(p, lhs); w == v && part && len(n.Lhs) == len(n.Rhs) { // out[i] = x
					fine = fine && t.kept(p, n.Rhs[i], depth)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if p.Object(name) == v {
					set = true
					fine = fine && (i >= len(n.Values) || t.kept(p, n.Values[i], depth))
				}
			}
		}
		return fine
	})
	return fine && set
}

// assigned reports whether the value of a variable in an assignment is kept.
func (t *tracer) assigned(p *gocode.Place, a *ast.AssignStmt, i, depth int) bool {
	if len(a.Lhs) == len(a.Rhs) {
		return t.kept(p, a.Rhs[i], depth)
	}
	if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok {
		return t.result(p, call, i, depth)
	}
	return i > 0 || t.kept(p, a.Rhs[0], depth) // v, ok := m[k]
}

// builders are functions that build a value from what they get alone, as source names them.
var builders = []string{
	"append", "len", "cap", "min", "max", "maps.*", "slices.*", "strings.Join", "strings.To*", "strconv.*", "fmt.Sprint*", "bytes.Clone", "cmp.Or",
}

// readersOf are functions that return a reader of the bytes that they get, or a decoder of such a
// reader.
var readersOf = []string{
	"bytes.NewReader", "bytes.NewBuffer", "bytes.NewBufferString", "strings.NewReader", "bufio.NewReader",
	"encoding/json.NewDecoder", "encoding/gob.NewDecoder", "encoding/xml.NewDecoder", "gopkg.in/yaml.v*.NewDecoder",
}

// result reports whether a result of a call is kept, or built from what is kept.
func (t *tracer) result(p *gocode.Place, call *ast.CallExpr, index, depth int) bool {
	if _, conversion := p.Conversion(call); conversion {
		return len(call.Args) == 1 && t.kept(p, call.Args[0], depth)
	}
	name := p.CalleeName(call)
	if name == "make" || name == "new" {
		t.Built = true
		return true
	}
	if funcname.Match(name, readersOf...) {
		return t.kept(p, call.Args[0], depth)
	}
	if funcname.Match(name, builders...) {
		t.Built = true
		return !slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return !isFunc(p, e) && !t.kept(p, e, depth) })
	}
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	in, ok := t.syntax.Declared(fn)
	if !ok && fn.Signature().Recv() != nil && types.IsInterface(fn.Signature().Recv().Type()) {
		if all := t.syntax.Methods(fn.Name()); len(all) == 1 {
			in, ok = all[0], true
		}
	}
	if ok && in.Decl != nil && in.Decl.Body != nil {
		return t.entered(p, in, call, index, depth)
	}
	return index == 0 && looksUp(fn) && syntax.Receiver(call) != nil && t.kept(p, syntax.Receiver(call), depth)
}

// isFunc reports whether an argument is a function, other than an iterator that a call returns.
func isFunc(p *gocode.Place, e ast.Expr) bool {
	if _, iterator := ast.Unparen(e).(*ast.CallExpr); iterator {
		return false
	}
	_, ok := p.TypeOf(e).Underlying().(*types.Signature)
	return ok
}

// looksUp reports whether a method of a library returns what its receiver keeps in memory.
func looksUp(fn *types.Func) bool {
	if fn.Pkg() == nil || fn.Signature().Recv() == nil {
		return false
	}
	switch fn.Name() {
	case "Load", "Get", "Peek", "GetIfPresent", "Value", "Items", "Values", "Keys", "List":
	default:
		return false
	}
	path := fn.Pkg().Path()
	return path == "sync" || path == "sync/atomic" || !strings.Contains(path, "redis") && !strings.Contains(path, "memcache") && strings.Contains(strings.ToLower(path), "cache") ||
		strings.Contains(path, "lru") || strings.Contains(path, "ristretto") || strings.Contains(path, "otter") || strings.Contains(path, "concurrent-map") || strings.Contains(path, "xsync")
}

// entered reports whether a function that a call enters returns what is kept.
func (t *tracer) entered(p, in *gocode.Place, call *ast.CallExpr, index, depth int) bool {
	if _, under := t.bound[in.Decl]; under {
		return false // a recursion, or a function of the stack that is called again
	}
	t.bound[in.Decl] = binding{p, call}
	defer delete(t.bound, in.Decl)
	built := t.Built
	t.Built = false
	ok, returns := true, 0
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			returns++
			ok = ok && t.returned(in, n, index, depth)
		}
		return ok
	})
	t.Asked = t.Asked || t.Built && t.getsMore(p, call)
	t.Built = t.Built || built
	return ok && returns > 0
}

// getsMore reports whether a call passes something that is not kept, other than a context.
func (t *tracer) getsMore(p *gocode.Place, call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(e ast.Expr) bool {
		other := &tracer{syntax: t.syntax, bound: t.bound, seen: map[*types.Var]bool{}}
		typ := p.TypeOf(e)
		return (typ == nil || types.TypeString(typ, nil) != "context.Context") && !other.kept(p, e, 6)
	})
}

// returned reports whether a return statement returns what is kept.
func (t *tracer) returned(in *gocode.Place, r *ast.ReturnStmt, index, depth int) bool {
	results := in.Decl.Type.Results
	if results == nil {
		return false
	}
	switch {
	case len(r.Results) == 0:
		var names []*ast.Ident
		for _, f := range results.List {
			names = append(names, f.Names...)
		}
		return index < len(names) && t.kept(in, names[index], depth)
	case len(r.Results) == 1 && results.NumFields() > 1:
		call, ok := ast.Unparen(r.Results[0]).(*ast.CallExpr)
		return ok && t.result(in, call, index, depth)
	}
	return index < len(r.Results) && t.kept(in, r.Results[index], depth)
}

// Changes returns how often lines of their packages change the variables, for each unit of work. It
// reports false where that is not known.
func (o *Origin) Changes(pass *rule.Pass) (sum float64, known bool) {
	for i, v := range o.Vars {
		in, ok := pass.Syntax.Package(v.Pkg().Path())
		if !ok {
			return 0, false
		}
		place := *o.Places[i]
		if place.Pkg != v.Pkg() {
			place = *in
		}
		c := &Changes{Pass: pass, Frame: &site.Frame{Owner: gocode.Owner{Package: v.Pkg().Path()}}, Place: &place, Var: v}
		times, ok := c.Count()
		if !ok {
			return 0, false
		}
		sum += times
	}
	return sum, true
}

// Names names the variables: "Store.results".
func (o *Origin) Names() string {
	var names []string
	for i, v := range o.Vars {
		name := v.Name()
		if p := o.Places[i]; v.IsField() && p.Decl != nil && p.Decl.Recv != nil && len(p.Decl.Recv.List) > 0 {
			name = strings.TrimPrefix(types.ExprString(p.Decl.Recv.List[0].Type), "*") + "." + name
		}
		names = append(names, name)
	}
	return funcname.List(names)
}
