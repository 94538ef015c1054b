package chaniter

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// only reports whether a body closes a channel, sends to it for each element of a collection in
// memory, and does nothing else that takes time.
func only(p *gocode.Place, body *ast.BlockStmt, ch ast.Expr) bool {
	closes, each, other := false, false, false
	var path []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		switch n := n.(type) {
		case *ast.SendStmt:
			loop, callback := around(path)
			_, counts := loop.(*ast.ForStmt)
			each = each || loop != nil && !(counts && number(p, n.Value)) || callback && visited(p, path)
			other = other || !syntax.Same(p, n.Chan, ch)
		case *ast.RangeStmt:
			other = other || !inMemory(p, n)
		case *ast.UnaryExpr:
			other = other || arrow(n) && !chosen(path)
		case *ast.GoStmt:
			other = true
		case *ast.CallExpr:
			if p.CalleeName(n) == "close" && len(n.Args) == 1 && syntax.Same(p, n.Args[0], ch) {
				closes = true
			}
			other = other || !cheap(p, n)
		}
		return true
	})
	return closes && each && !other
}

// visited reports whether the literal of a path is an argument of a call, which calls it for each
// element.
func visited(p *gocode.Place, path []ast.Node) bool {
	for i := len(path) - 1; i > 0; i-- {
		if lit, ok := path[i].(*ast.FuncLit); ok {
			call, ok := path[i-1].(*ast.CallExpr)
			return ok && call.Fun != ast.Expr(lit) && visits(p, call)
		}
	}
	return false
}

// visits reports whether a call calls a literal for each element of a collection in memory, as far
// as its name shows.
func visits(p *gocode.Place, call *ast.CallExpr) bool {
	literal := false
	for _, a := range call.Args {
		_, is := ast.Unparen(a).(*ast.FuncLit)
		literal = literal || is
	}
	if !literal || p.Callee(call) == nil {
		return false
	}
	name := p.CalleeName(call)
	words := []string{"Range", "Each", "Ascend", "Descend", "Walk", "Visit", "Scan", "Do", "Iter", "All"}
	method := name[strings.LastIndexByte(name, '.')+1:]
	for _, w := range words {
		if strings.Contains(strings.ToLower(method), strings.ToLower(w)) {
			return !strings.Contains(name, "sql") && !funcname.Match(name, "path/filepath.*", "io/fs.*", "(*sync.Once).Do", "(*net/http.Client).Do")
		}
	}
	return false
}

// inMemory reports whether a range is over values that are there already: no channel, and no
// iterator function, which may compute or read them.
func inMemory(p *gocode.Place, r *ast.RangeStmt) bool {
	t := p.TypeOf(r.X)
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Chan, *types.Signature:
		return false
	case *types.Basic:
		return t.Info()&types.IsString != 0
	}
	return true
}

// number reports whether a value is a variable of an integer type: a loop that sends it counts, and
// goes over nothing.
func number(p *gocode.Place, value ast.Expr) bool {
	_, variable := ast.Unparen(value).(*ast.Ident)
	t, ok := p.TypeOf(value).Underlying().(*types.Basic)
	return variable && ok && t.Info()&types.IsInteger != 0
}

// chosen reports whether the end of a path is the condition of a select's case: the goroutine
// chooses between a send and being stopped.
func chosen(path []ast.Node) bool {
	for i := len(path) - 1; i >= 0; i-- {
		if c, ok := path[i].(*ast.CommClause); ok {
			return c.Comm != nil && syntax.Within(c.Comm, path[len(path)-1])
		}
	}
	return false
}

// cheap reports whether a call takes no time that would be worth a goroutine: of the language, of a
// lock, of a context, of a function that only returns a field, or one that visits elements.
func cheap(p *gocode.Place, call *ast.CallExpr) bool {
	if _, conversion := p.Conversion(call); conversion {
		return true
	}
	if _, lit := ast.Unparen(call.Fun).(*ast.FuncLit); lit {
		return true // its body is examined
	}
	name := p.CalleeName(call)
	if !strings.Contains(name, ".") && name != "" {
		return true
	}
	if funcname.Match(name, "(*sync.Mutex).*", "(*sync.RWMutex).*", "(sync.Locker).*", "(*sync.WaitGroup).Done", "(context.Context).*", "sync/atomic.*", "(*sync/atomic.*") {
		return true
	}
	return accessor(p, call) || visits(p, call)
}

// accessor reports whether a call is of a function of the package that consists of a return of
// something without a call.
func accessor(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
		return false
	}
	ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok {
		return false
	}
	calls := false
	ast.Inspect(ret, func(n ast.Node) bool {
		_, is := n.(*ast.CallExpr)
		calls = calls || is
		return !calls
	})
	return !calls
}
