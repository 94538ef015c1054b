package loglevel

import (
	"context"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Search examines the calls of one recording.
type Search struct {
	pass   *rule.Pass
	of     func(types.Type) bool
	loaded map[string]*gocode.Syntax // packages that were loaded for function bodies
}

// New returns a search for loggers that test a level before they use parameters of some types.
func New(p *rule.Pass, of func(types.Type) bool) *Search {
	return &Search{pass: p, of: of, loaded: map[string]*gocode.Syntax{}}
}

// Any reports whether a type is an interface without methods.
func Any(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0
}

// Text reports whether a type can hold a text.
func Text(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0 || Any(t)
}

// Tests reports whether a call is of a logger that tests a level before anything else: by its body,
// or by its name when the body is not available. Of a function value only the name is known.
func (s *Search) Tests(ctx context.Context, p *gocode.Place, call *ast.CallExpr) bool {
	return s.level(ctx, p, call, 0)
}

// level is Tests at a depth of calls.
func (s *Search) level(ctx context.Context, p *gocode.Place, call *ast.CallExpr, depth int) bool {
	fn := p.Callee(call)
	if fn == nil {
		v := syntax.Named(p, call.Fun) // a function value
		return depth == 0 && v != nil && levelName(v.Name())
	}
	if fn.Pkg() == nil || depth > 3 {
		return false
	}
	if depth == 0 && !logs(fn) {
		return false
	}
	if fn.Pkg().Path() == "log/slog" {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return levelName(fn.Name())
	}
	body := s.body(ctx, p, fn)
	if body == nil {
		return depth == 0 && levelName(fn.Name())
	}
	return s.tests(ctx, body, depth) || s.drops(ctx, body, depth)
}

// logs reports whether a function is about logging, by the words in its name, receiver or package.
func logs(fn *types.Func) bool {
	name := strings.ToLower(fn.FullName())
	for _, word := range []string{"log", "debug", "trace", "verbose"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// levelName reports whether a method's name is that of a level: "Debugf", "TraceContext".
func levelName(name string) bool {
	name = strings.ToLower(name)
	for _, level := range []string{"debug", "trace", "verbose", "info", "warn"} {
		if strings.HasPrefix(name, level) {
			return true
		}
	}
	return false
}

// body returns the place of a function's declaration. It loads the package if necessary.
func (s *Search) body(ctx context.Context, p *gocode.Place, fn *types.Func) *gocode.Place {
	at := p.Fset.Position(fn.Pos())
	if !at.IsValid() {
		return nil
	}
	place, ok := s.pass.Syntax.At(at.Filename, at.Line)
	if !ok && s.pass.Code != nil {
		path := fn.Pkg().Path()
		syntax, tried := s.loaded[path]
		if !tried {
			syntax, _ = s.pass.Code.Syntax(ctx, []string{path}) // without it the name decides
			s.loaded[path] = syntax
		}
		if syntax != nil {
			place, ok = syntax.At(at.Filename, at.Line)
		}
	}
	if !ok || place.Decl == nil || place.Decl.Body == nil || place.Decl.Name.Name != fn.Name() {
		return nil
	}
	return place
}

// tests reports whether a function starts with a test that skips all use of its parameters, or only
// calls such a function.
func (s *Search) tests(ctx context.Context, p *gocode.Place, depth int) bool {
	params := s.parameters(p)
	list := p.Decl.Body.List
	for i, stmt := range list {
		switch n := stmt.(type) {
		case *ast.IfStmt:
			if mentions(p, n.Cond, params) {
				return false
			}
			rest := &ast.BlockStmt{List: list[i+1:]}
			return returns(n.Body) && !mentions(p, n.Body, params) || n.Else == nil && !mentionsAny(p, rest.List, params)
		case *ast.ExprStmt:
			call, ok := n.X.(*ast.CallExpr)
			if !ok {
				return false
			}
			if passes(p, call, params) {
				return i == len(list)-1 && s.level(ctx, p, call, depth+1)
			}
			if mentions(p, call, params) {
				return false
			}
		case *ast.AssignStmt, *ast.DeclStmt:
			if mentions(p, n, params) {
				return false
			}
		case *ast.ReturnStmt:
			call, ok := single(n)
			return ok && passes(p, call, params) && s.level(ctx, p, call, depth+1)
		default:
			return false
		}
	}
	return false
}

func single(s *ast.ReturnStmt) (*ast.CallExpr, bool) {
	if len(s.Results) != 1 {
		return nil, false
	}
	call, ok := ast.Unparen(s.Results[0]).(*ast.CallExpr)
	return call, ok
}

// parameters returns a function's parameters of the types that matter, and of slices of them.
func (s *Search) parameters(p *gocode.Place) map[types.Object]bool {
	params := map[types.Object]bool{}
	for _, field := range p.Decl.Type.Params.List {
		for _, name := range field.Names {
			v := p.Object(name)
			if v == nil {
				continue
			}
			t := v.Type()
			if list, ok := t.(*types.Slice); ok {
				t = list.Elem()
			}
			params[v] = s.of(t)
		}
	}
	return params
}

func mentions(p *gocode.Place, n ast.Node, params map[types.Object]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && params[p.Object(id)] {
			found = true
		}
		return !found
	})
	return found
}

func mentionsAny(p *gocode.Place, list []ast.Stmt, params map[types.Object]bool) bool {
	for _, s := range list {
		if mentions(p, s, params) {
			return true
		}
	}
	return false
}

// passes reports whether a call passes the parameters on unchanged.
func passes(p *gocode.Place, call *ast.CallExpr, params map[types.Object]bool) bool {
	for _, arg := range call.Args {
		if id, ok := ast.Unparen(arg).(*ast.Ident); ok && params[p.Object(id)] {
			return true
		}
	}
	return false
}

// returns reports whether a block ends the function.
func returns(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}
