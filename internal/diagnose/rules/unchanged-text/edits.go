package unchangedtext

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
)

// edits reports whether a function's source shows that it changes a text: it goes through the text
// that it got, and what it writes depends on each character, or it joins the parts of the text with
// constants between them.
func edits(s *gocode.Syntax, in *inputs.Function) bool {
	if s == nil || in.File == "" {
		return false
	}
	p, ok := s.At(in.File, in.Line)
	if !ok {
		return false
	}
	typ, body := source(p)
	if body == nil || typ.Results == nil {
		return false
	}
	e := &editor{p: p, typ: typ, texts: map[*types.Var]bool{}}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			e.follow(n)
		case *ast.RangeStmt:
			e.found = e.found || e.of(n.X) && chooses(p, n.Body)
		case *ast.ForStmt:
			e.found = e.found || e.counts(n) && chooses(p, n.Body)
		case *ast.CallExpr:
			e.found = e.found || p.CalleeName(n) == "strings.Join" && e.split(n.Args[0])
		}
		return !e.found
	})
	return e.found && e.returnsOther(body)
}

// returnsOther reports whether a function returns something other than its parameters as they are.
func (e *editor) returnsOther(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 { // a named result
				found = true
				break
			}
			v := syntax.LocalVar(e.p, n.Results[0])
			_, constant := e.p.Const(n.Results[0])
			param := v != nil && syntax.Inside(e.typ.Params, v.Pos())
			found = found || !constant && (!param || len(syntax.Assigned(e.p, v)) > 0)
		}
		return !found
	})
	return found
}

// source returns the function that starts on the line of a place: a declaration or a literal.
func source(p *gocode.Place) (typ *ast.FuncType, body *ast.BlockStmt) {
	for _, n := range p.Nodes {
		if f, ok := n.(*ast.FuncLit); ok && syntax.Line(p, f.Pos()) == p.Line {
			return f.Type, f.Body
		}
	}
	if f, ok := p.Func.(*ast.FuncDecl); ok && f.Body != nil {
		return f.Type, f.Body
	}
	return nil, nil
}

// editor knows the variables of a function that hold its text.
type editor struct {
	p     *gocode.Place
	typ   *ast.FuncType
	texts map[*types.Var]bool
	found bool
}

// follow notes that a variable is another form of the text: runes := []rune(s).
func (e *editor) follow(a *ast.AssignStmt) {
	if len(a.Lhs) != len(a.Rhs) {
		return
	}
	for i, rhs := range a.Rhs {
		if v := syntax.LocalVar(e.p, a.Lhs[i]); v != nil && e.of(rhs) {
			e.texts[v] = true
		}
	}
}

// of reports whether an expression is the text: a parameter or a form of one.
func (e *editor) of(x ast.Expr) bool {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		_, conversion := e.p.Conversion(call)
		return conversion && len(call.Args) == 1 && e.of(call.Args[0])
	}
	v := syntax.LocalVar(e.p, x)
	return v != nil && (e.texts[v] || syntax.Inside(e.typ.Params, v.Pos()) && text(v.Type()))
}

// text reports whether a type is a string or []byte.
func text(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && b.Kind() == types.Uint8
	}
	return false
}

// counts reports whether a loop steps through the bytes of the text: i < len(s).
func (e *editor) counts(l *ast.ForStmt) (found bool) {
	if l.Cond == nil {
		return false
	}
	ast.Inspect(l.Cond, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && e.p.CalleeName(call) == "len" && len(call.Args) == 1 && e.of(call.Args[0])
		return !found
	})
	return found
}

// split reports whether an expression is a list of the parts of the text.
func (e *editor) split(x ast.Expr) bool {
	call, ok := ast.Unparen(syntax.Origin(e.p, x)).(*ast.CallExpr)
	return ok && len(call.Args) > 0 && e.of(call.Args[0]) && funcname.Match(e.p.CalleeName(call), "strings.Fields*", "strings.Split*")
}

// writers are methods that add a piece to a text.
var writers = []string{"(*strings.Builder).Write*", "(*bytes.Buffer).Write*", "(*bufio.Writer).Write*"}

// chooses reports whether the body of a loop writes pieces of a text, and whether a condition
// decides which.
func chooses(p *gocode.Place, body *ast.BlockStmt) bool {
	writes, tests := 0, false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if name := p.CalleeName(n); funcname.Match(name, writers...) || name == "append" && len(n.Args) > 0 && p.TypeOf(n.Args[0]) != nil && characters(p.TypeOf(n.Args[0])) {
				writes++
			}
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				at, ok := ast.Unparen(lhs).(*ast.IndexExpr)
				if ok && p.TypeOf(at.X) != nil && characters(p.TypeOf(at.X)) || n.Tok == token.ADD_ASSIGN && syntax.IsString(p, lhs) {
					writes++
				}
			}
		case *ast.IfStmt, *ast.SwitchStmt:
			tests = true
		}
		return true
	})
	return writes > 0 && tests
}

// characters reports whether a type is a list of bytes or runes.
func characters(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Uint8 || b.Kind() == types.Int32)
}
