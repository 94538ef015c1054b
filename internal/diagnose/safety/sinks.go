package safety

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// sinkOf returns the sink that an argument of a call goes to; NoSink for none.
func sinkOf(p *gocode.Place, call *ast.CallExpr, index int) Sink {
	name := p.CalleeName(call)
	switch {
	case isQuery(p, call, index):
		return Query
	case funcname.Match(name, "os/exec.Command", "os/exec.CommandContext") && shellBefore(p, call.Args[:index]):
		return Shell
	case funcname.Match(name, "os.Open", "os.OpenFile", "os.ReadFile", "os.WriteFile", "os.Create", "os.Remove", "os.RemoveAll", "os.Stat", "os.Lstat",
		"os.Mkdir", "os.MkdirAll", "os.ReadDir", "os.DirFS") && index == 0 || name == "os.Rename" || name == "net/http.ServeFile" && index == 2:
		return FileName
	case funcname.Match(name, "net/http.Get", "net/http.Head", "net/http.Post", "net/http.PostForm", "net/http.NewRequest", "net/http.NewRequestWithContext", "net/http.Redirect",
		"(*net/http.Client).Get", "(*net/http.Client).Head", "(*net/http.Client).Post", "(*net/http.Client).PostForm") && urlArgument(p, call, index):
		return URL
	}
	if w := writtenTo(p, call, name, index); w != nil && isType(p.TypeOf(w), "net/http.ResponseWriter") {
		return Markup
	}
	return NoSink
}

// databases are the packages whose methods take queries.
func databases() []string {
	return []string{
		"database/sql", "github.com/jmoiron/sqlx", "github.com/jackc/pgx", "github.com/go-pg/pg", "github.com/uptrace/bun", "xorm.io/xorm",
		"gorm.io/gorm", "github.com/jinzhu/gorm", "github.com/gocql/gocql",
	}
}

// takesQuery reports whether methods of that name take the text of a query, or a part of it.
func takesQuery(method string) bool {
	return funcname.Match(method, "Query*", "Exec*", "Prepare*", "MustExec*", "NamedQuery*", "NamedExec*", "Raw*", "Get*", "Select*", "Where*", "Having*", "Order*",
		"Joins*", "Group*", "Not", "Or", "Queue", "SQL", "NewRaw")
}

// isQuery reports whether an argument is the text of a query. It is one if the method has such a
// name, belongs to a package for databases or returns a type of one, and the parameter has type
// string (any type where gorm takes conditions) and is not among the values.
func isQuery(p *gocode.Place, call *ast.CallExpr, index int) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() == nil || !takesQuery(fn.Name()) {
		return false
	}
	sig := fn.Signature()
	if index >= sig.Params().Len() || sig.Variadic() && index == sig.Params().Len()-1 {
		return false // one of the values
	}
	gorm := fn.Pkg() != nil && strings.HasSuffix(fn.Pkg().Path(), "/gorm")
	switch t := sig.Params().At(index).Type().Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString == 0 {
			return false
		}
	case *types.Interface:
		if !gorm || index > 0 {
			return false
		}
	default:
		return false
	}
	if fn.Pkg() != nil && ofDatabase(fn.Pkg().Path()) {
		return true
	}
	for v := range sig.Results().Variables() { // an interface of the program
		if named := namedType(v.Type()); named != nil && named.Obj().Pkg() != nil && ofDatabase(named.Obj().Pkg().Path()) {
			return true
		}
	}
	return false
}

func ofDatabase(pkg string) bool {
	return slices.ContainsFunc(databases(), func(d string) bool { return pkg == d || strings.HasPrefix(pkg, d+"/") })
}

// shellBefore reports whether the arguments of exec.Command so far name a shell that reads its
// command from the next one.
func shellBefore(p *gocode.Place, args []ast.Expr) bool {
	shell, flag := false, false
	for _, a := range args {
		text, ok := syntax.ConstString(p, a)
		if !ok {
			continue
		}
		base := text[strings.LastIndexAny(text, `/\`)+1:]
		switch strings.TrimSuffix(strings.ToLower(base), ".exe") {
		case "sh", "bash", "dash", "zsh", "ksh", "cmd", "powershell", "pwsh":
			shell = true
		case "-c", "-lc", "-ec", "c", "-command": // "/c" ends in c
			flag = shell
		}
	}
	return flag
}

// urlArgument reports whether an argument of one of package http's functions is its URL: the first
// string that is not the method.
func urlArgument(p *gocode.Place, call *ast.CallExpr, index int) bool {
	switch p.CalleeName(call) {
	case "net/http.NewRequest":
		return index == 1
	case "net/http.NewRequestWithContext", "net/http.Redirect":
		return index == 2
	}
	return index == 0
}

// markupType reports whether a type asserts that its text is safe in a page.
func markupType(t types.Type) bool {
	n := namedType(t)
	return n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "html/template" &&
		slices.Contains([]string{"HTML", "HTMLAttr", "JS", "JSStr", "CSS", "URL", "Srcset"}, n.Obj().Name())
}

func isType(t types.Type, name string) bool {
	n := namedType(t)
	return n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path()+"."+n.Obj().Name() == name
}

// namedType returns the named type of t, or of its element if t is a pointer.
func namedType(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// hasText reports whether a part of a text is neither constant nor a number or boolean, so that it
// may contain anything.
func hasText(p *gocode.Place, text ast.Expr) bool {
	switch x := ast.Unparen(text).(type) {
	case *ast.BinaryExpr:
		return hasText(p, x.X) || hasText(p, x.Y)
	case *ast.CallExpr:
		if funcname.Match(p.CalleeName(x), "fmt.Sprint*", "fmt.Append*", "strings.Join", "strings.Repeat") {
			return slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return hasText(p, a) })
		}
		if funcname.Match(p.CalleeName(x), "strconv.Itoa", "strconv.Format*") {
			return false
		}
	}
	if _, ok := p.Const(text); ok {
		return false
	}
	t := p.TypeOf(text)
	if t == nil {
		return true
	}
	b, ok := t.Underlying().(*types.Basic)
	return !ok || b.Info()&(types.IsNumeric|types.IsBoolean) == 0
}

var (
	sqlText  = regexp.MustCompile(`(?is)^\s*(select\s.*\sfrom\s|insert\s+into\s|replace\s+into\s|update\s.*\sset\s|delete\s+from\s|with\s.*\sas\s*\()`)
	htmlText = regexp.MustCompile(`<(!|/?[A-Za-z][A-Za-z0-9]*[\s/>])`)
)

// reads reports whether the constant parts of a text look like a query or like markup. For a
// variable these are the parts of all assignments in the function.
func reads(p *gocode.Place, text ast.Expr, as Sink) bool {
	like := htmlText
	if as == Query {
		like = sqlText
	}
	if v := syntax.LocalVar(p, text); v != nil {
		return slices.ContainsFunc(syntax.Assigned(p, v), func(e ast.Expr) bool { return like.MatchString(constants(p, e)) })
	}
	whole := text
	for _, n := range p.Enclosing(text) { // "<p>" + … is part of the text too
		b, ok := n.(*ast.BinaryExpr)
		if !ok {
			break
		}
		whole = b
	}
	return like.MatchString(constants(p, whole))
}

// constants joins the constant strings in an expression.
func constants(p *gocode.Place, e ast.Expr) string {
	var b strings.Builder
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok {
			if text, ok := syntax.ConstString(p, x); ok {
				b.WriteString(text)
				return false
			}
		}
		return true
	})
	return b.String()
}
