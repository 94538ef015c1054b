package unchangedwrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
)

// given follows expressions of a function to its parameters.
type given struct {
	place   *gocode.Place
	params  []*types.Var // with a name, in order
	used    []*types.Var // parameters that the expressions so far depend on
	keeps   bool         // fields of the receiver, which are set once, may be a part
	depth   int
	visited []*types.Var
}

func givenTo(p *gocode.Place) *given {
	g := &given{place: p}
	for _, list := range p.Decl.Type.Params.List {
		for _, id := range list.Names {
			if v, ok := p.Info.Defs[id].(*types.Var); ok && id.Name != "_" {
				g.params = append(g.params, v)
			}
		}
	}
	return g
}

// all reports whether expressions depend only on constants and parameters.
func (g *given) all(list []ast.Expr) bool {
	for _, e := range list {
		if e != nil && !g.is(e) {
			return false
		}
	}
	return true
}

func (g *given) is(e ast.Expr) bool {
	const deepest = 60
	if g.depth++; g.depth > deepest {
		return false
	}
	if _, ok := g.place.Const(e); ok {
		return true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return g.variable(x)
	case *ast.SelectorExpr:
		if g.place.Info.Selections[x] == nil {
			return false
		}
		if g.keeps && g.kept(x) {
			return true
		}
		return g.is(x.X)
	case *ast.UnaryExpr:
		return x.Op != token.ARROW && g.is(x.X)
	case *ast.StarExpr:
		return g.is(x.X)
	case *ast.BinaryExpr:
		return g.is(x.X) && g.is(x.Y)
	case *ast.IndexExpr:
		return g.is(x.X) && g.is(x.Index)
	case *ast.SliceExpr:
		return g.all([]ast.Expr{x.X, x.Low, x.High, x.Max})
	case *ast.CompositeLit:
		for _, elt := range x.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if !g.is(elt) {
				return false
			}
		}
		return true
	case *ast.CallExpr:
		return g.call(x)
	}
	return false
}

// call reports whether the result of a call depends only on parameters.
func (g *given) call(call *ast.CallExpr) bool {
	if _, ok := g.place.Conversion(call); ok {
		return g.all(call.Args)
	}
	name := g.place.CalleeName(call)
	if to := syntax.Receiver(call); to != nil && name != "" && len(call.Args) == 0 {
		fn := g.place.Callee(call) // status.String()
		return fn != nil && !effects.Impure(fn) && fn.Signature().Recv() != nil && g.is(to)
	}
	known := append(slices.Clip(funcname.TypedAll(effects.DeterministicFuncs())),
		"encoding/json.Marshal*", "fmt.Sprint*", "strings.NewReader", "bytes.NewReader", "bytes.NewBuffer", "bytes.NewBufferString", "path/filepath.Join", "path.Join", "net/url.*Escape", "len", "append")
	return funcname.Match(name, known...) && g.all(call.Args)
}

// variable reports whether a variable is a parameter, or a local one that is set once from some.
func (g *given) variable(id *ast.Ident) bool {
	v, ok := g.place.Object(id).(*types.Var)
	if !ok {
		_, isNil := g.place.Object(id).(*types.Nil)
		return isNil
	}
	if slices.Contains(g.params, v) {
		if whole := len(syntax.Assigned(g.place, v)); whole > 0 {
			return false
		}
		if !slices.Contains(g.used, v) {
			g.used = append(g.used, v)
		}
		return true
	}
	if !syntax.Local(g.place, v) || slices.Contains(g.visited, v) {
		return false
	}
	g.visited = append(g.visited, v)
	from := syntax.Origin(g.place, id)
	ok = from != ast.Expr(id) && g.is(from)
	g.visited = g.visited[:len(g.visited)-1]
	return ok
}

// kept reports whether an expression is a field of the receiver with a text that nothing in the
// package assigns to.
func (g *given) kept(sel *ast.SelectorExpr) bool {
	v, ok := g.place.Object(sel.Sel).(*types.Var)
	root, _ := syntax.Var(g.place, sel)
	if !ok || root == nil || !syntax.StringOrBytes(v.Type()) || slices.Contains(g.params, root) || !syntax.Param(g.place, root) {
		return false
	}
	set := false
	for _, file := range g.place.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok {
				set = set || slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return syntax.Named(g.place, e) == v })
			}
			return !set
		})
	}
	return !set
}

// hashed reports whether the values of all parameters that were used are known, so that equal
// hashes mean equal values: of a pointer that is so if the struct behind it has no pointers but
// those of texts.
func (g *given) hashed(in *inputs.Function) bool {
	const largest = 512 // bytes of a struct that the probe reads
	for i, v := range g.params {
		if !slices.Contains(g.used, v) {
			continue
		}
		if i >= len(in.Params) {
			return false
		}
		if in.Params[i] == inputs.ByValue {
			continue
		}
		ptr, ok := v.Type().Underlying().(*types.Pointer)
		if !ok || !plain(ptr.Elem()) || syntax.Sizes().Sizeof(ptr.Elem()) > largest {
			return false
		}
	}
	return true
}

// plain reports whether a type consists of numbers and strings.
func plain(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Array:
		return plain(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if !plain(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}
