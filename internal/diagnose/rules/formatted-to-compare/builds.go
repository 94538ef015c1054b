package formattedtocompare

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// buildsText reports whether each result of a method of the package is a text that the method puts
// together, so that different objects have different texts as far as its source shows.
func buildsText(p *gocode.Place, fn *types.Func) bool {
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || fn.Signature().Results().Len() != 1 {
		return false
	}
	in := p.Entry(decl)
	if in == nil {
		return false
	}
	built, fine := false, true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			fine = fine && !rounds(in, n)
		case *ast.ReturnStmt:
			if len(n.Results) != 1 {
				fine = false
				return false
			}
			if _, constant := in.Const(n.Results[0]); !constant {
				built = true
				fine = fine && puts(in, n.Results[0])
			}
		}
		return fine
	})
	return built && fine
}

// puts reports whether an expression puts a text together.
func puts(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return e.Op == token.ADD
	case *ast.CallExpr:
		return funcname.Match(p.CalleeName(e), "(*strings.Builder).String", "(*bytes.Buffer).String", "fmt.Sprintf", "fmt.Sprint", "strings.Join")
	}
	return false
}

// rounds reports whether a call formats a number with fewer digits than it has: other numbers have
// the same text.
func rounds(p *gocode.Place, call *ast.CallExpr) bool {
	name := p.CalleeName(call)
	switch {
	case funcname.Match(name, "strconv.FormatFloat", "strconv.AppendFloat", "(time.Time).Format", "strings.ToLower", "strings.TrimSpace"):
		return true
	case funcname.Match(name, "fmt.Sprintf", "fmt.Fprintf", "fmt.Appendf"):
		for _, arg := range call.Args[:min(2, len(call.Args))] {
			if text, ok := syntax.ConstString(p, arg); ok {
				return !plain(text)
			}
		}
		return true
	}
	return false
}
