package syntax

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/gocode"
)

// Body returns the node that questions about a place are about: the function around the line, or
// the file for a package variable's initialiser.
func Body(p *gocode.Place) ast.Node {
	if p.Func != nil {
		return p.Func
	}
	return p.File
}

// Line returns the line of a position.
func Line(p *gocode.Place, pos token.Pos) int { return p.Fset.Position(pos).Line }

// Where returns a position as sentences name it: "main.go:12".
func Where(p *gocode.Place, pos token.Pos) string {
	at := p.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

// Calls returns the calls that the compiler places on the line: those with the opening parenthesis
// on it (cmd/compile/internal/syntax/nodes.go), outermost first. [gocode.Place.Calls] has more:
// calls that only start or end on the line.
func Calls(p *gocode.Place) []*ast.CallExpr {
	var calls []*ast.CallExpr
	for _, n := range p.Nodes {
		if call, ok := n.(*ast.CallExpr); ok && Line(p, call.Lparen) == p.Line {
			calls = append(calls, call)
		}
	}
	return calls
}

// OnMutex reports whether a call is of a method of a sync.Mutex or sync.RWMutex.
func OnMutex(p *gocode.Place, call *ast.CallExpr) bool {
	return funcname.Match(p.CalleeName(call), "(*sync.Mutex).*", "(*sync.RWMutex).*")
}

// CallsOf returns the calls on the line of functions whose full names match one of the patterns
// ("fmt.Sprintf", "(*log.Logger).Printf").
func CallsOf(p *gocode.Place, patterns ...string) []*ast.CallExpr {
	var calls []*ast.CallExpr
	for _, call := range Calls(p) {
		if funcname.Match(p.CalleeName(call), patterns...) {
			calls = append(calls, call)
		}
	}
	return calls
}

// CallsTo returns the calls on the line of a function, given as a profile names it. What profiles
// call main.f is f of the program's import path.
func CallsTo(p *gocode.Place, profile string) []*ast.CallExpr {
	return CallsOf(p, Profiled(p, profile))
}

// Profiled turns the name of a function in a profile into the type checker's, for a function that
// the place's package calls.
func Profiled(p *gocode.Place, profile string) string {
	name := funcname.Typed(profile)
	if p.Pkg.Name() == "main" {
		for _, head := range []string{"main.", "(main.", "(*main."} {
			if rest, ok := strings.CutPrefix(name, head); ok {
				name = strings.TrimSuffix(head, "main.") + p.Pkg.Path() + "." + rest
				break
			}
		}
	}
	return name
}

// ConstString returns the value of a constant string.
func ConstString(p *gocode.Place, e ast.Expr) (string, bool) {
	v, ok := p.Const(e)
	if !ok || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// IsString reports whether the type of an expression is a string, or a type parameter that only
// strings satisfy.
func IsString(p *gocode.Place, e ast.Expr) bool {
	t := p.Info.TypeOf(e)
	return t != nil && stringType(t)
}

// StringOrBytes reports whether a type is a string or a slice of bytes, whose slices share memory.
func StringOrBytes(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && b.Kind() == types.Byte
	}
	return false
}

func stringType(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Union:
		for term := range u.Terms() {
			if !stringType(term.Type()) {
				return false
			}
		}
		return true
	case *types.Interface:
		if _, ok := t.(*types.TypeParam); !ok {
			return false
		}
		for one := range u.EmbeddedTypes() {
			if stringType(one) {
				return true
			}
		}
	}
	return false
}

// Receiver returns x of a call x.Method(…); nil for other calls.
func Receiver(call *ast.CallExpr) ast.Expr {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return sel.X
	}
	return nil
}

// Returned returns the result of a function of the package that does nothing but return one value,
// and the function's place; nil for other calls.
func Returned(p *gocode.Place, call *ast.CallExpr) (*gocode.Place, ast.Expr) {
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
		return nil, nil
	}
	ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return nil, nil
	}
	return p.Entry(decl), ret.Results[0]
}

// SignatureOf returns the signature of the function around a place; nil when it is not known.
func SignatureOf(p *gocode.Place) *types.Signature {
	switch f := p.Func.(type) {
	case *ast.FuncDecl:
		if self, ok := p.Info.Defs[f.Name].(*types.Func); ok {
			return self.Signature()
		}
	case *ast.FuncLit:
		s, _ := p.TypeOf(f).(*types.Signature)
		return s
	}
	return nil
}
