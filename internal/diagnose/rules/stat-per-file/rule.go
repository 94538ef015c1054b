// Package statperfile finds directory listings that ask for information on each file that is not
// used.
package statperfile

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is stat-per-file.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "stat-per-file",
		Kind:  rule.CPU,
		Title: "System call per file for information that is not used",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are those of the calls of lstat; WalkDir and os.ReadDir omit all of them
				// except that of the root.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.85, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Start: finder.Calls{
				Functions: []string{"path/filepath.Walk", "io/ioutil.ReadDir", "os.(*File).Readdir", "os.(*unixDirent).Info"},
				Types:     []string{"path/filepath.Walk", "io/ioutil.ReadDir", "(*os.File).Readdir", "(io/fs.DirEntry).Info"},
				Keep:      asks,
			},
			Judge: judge,
		},
	}
}

const doc = `filepath.Walk, ioutil.ReadDir and Readdir of os.File, and Info of each
fs.DirEntry, return an fs.FileInfo: size, time and permissions, for which they
ask the system with lstat, file by file. The names and kinds of the entries are
in the directory itself, and reading it returns hundreds at a time.

Use filepath.WalkDir and os.ReadDir (since Go 1.16): they return an fs.DirEntry,
which has the name and the kind, and whose Info method asks the system when it is
called.

It is fine where the program needs the size or the time of most files. The rule
reports only listings of which the program uses the names and the kinds, and
nothing else from an fs.FileInfo.

Seen in the field: google/syzkaller#5724; golang/go#16399 has the figures that led
to WalkDir.`

// asks reports whether a row is in a call that asks the system for the information on a file.
func asks(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool {
		return funcname.Match(f.Function, "os.Lstat", "os.lstat*", "os.(*File).lstatat*", "os.(*unixDirent).Info", "syscall.Lstat", "syscall.fstatat")
	})
}

func judge(c *finder.Case) bool {
	p := c.Place
	for _, call := range c.Calls {
		name := p.CalleeName(call)
		switch {
		case name == "path/filepath.Walk":
			fn, body := callback(p, call.Args[1], mostSteps)
			if fn == nil || fn.Params().Len() != 3 || !nameAndKind(p, body, fn.Params().At(1), mostSteps) {
				continue
			}
			c.Fix = "Use filepath.WalkDir, whose function gets the name and the kind from the directory; call Info where more is needed."
		case name == "(io/fs.DirEntry).Info":
			v := syntax.Result(p, call)
			if v == nil || !syntax.Local(p, v) || p.Decl == nil || !nameAndKind(p, p.Decl.Body, v, mostSteps) {
				continue
			}
			c.Fix = fmt.Sprintf("Ask %s itself for the name and the kind, which come from the directory: Name, IsDir and Type.", syntax.Text(syntax.Receiver(call)))
		default:
			v := syntax.Result(p, call)
			if v == nil || !listed(p, v) {
				continue
			}
			c.Fix = "Use os.ReadDir, whose entries have the name and the kind from the directory; call Info where more is needed."
			if strings.HasSuffix(name, "Readdir") {
				c.Fix = "Use ReadDir, or Readdirnames if names are enough: the entries have the name and the kind from the directory; call Info where more is needed."
			}
		}
		c.Cause = fmt.Sprintf("%s asks the system for the size, time and permissions of each file with lstat, and only names and kinds are used.", symbol.Short(name))
		return true
	}
	return false
}

// mostSteps is how many functions of the package are followed.
const mostSteps = 3

// callback returns the signature and the body of a function literal, of a function of the package
// by its name, or of the literal that such a function returns or a variable holds.
func callback(p *gocode.Place, e ast.Expr, steps int) (*types.Signature, *ast.BlockStmt) {
	var id *ast.Ident
	switch made := syntax.Origin(p, e).(type) {
	case *ast.FuncLit:
		sig, _ := p.TypeOf(made).(*types.Signature)
		return sig, made.Body
	case *ast.CallExpr:
		if _, conversion := p.Conversion(made); conversion && len(made.Args) == 1 && steps > 0 {
			return callback(p, made.Args[0], steps-1)
		}
		decl := p.Declaration(p.Callee(made))
		if decl == nil || decl.Body == nil || steps == 0 {
			return nil, nil
		}
		last, ok := decl.Body.List[max(len(decl.Body.List)-1, 0)].(*ast.ReturnStmt)
		if !ok || len(last.Results) != 1 {
			return nil, nil
		}
		return callback(p.Entry(decl), last.Results[0], steps-1)
	case *ast.Ident:
		id = made
	case *ast.SelectorExpr:
		id = made.Sel
	default:
		return nil, nil
	}
	fn, ok := p.Object(id).(*types.Func)
	if !ok {
		return nil, nil
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return nil, nil
	}
	return fn.Signature(), decl.Body
}

// nameAndKind reports whether nothing but the name and the kind is used of a value in a body, and
// in functions of the package that it is passed to.
func nameAndKind(p *gocode.Place, body ast.Node, v *types.Var, steps int) bool {
	used, known := 0, 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if p.Object(n) == v && p.Info.Defs[n] == nil {
				used++
			}
		case *ast.BinaryExpr: // info == nil
			if is(p, n.X, v) && isNil(n.Y) {
				known++
			}
		case *ast.CallExpr:
			decl := p.Declaration(p.Callee(n))
			for i, arg := range n.Args {
				if is(p, arg, v) && decl != nil && decl.Body != nil && steps > 0 && passes(p, p.Callee(n), decl, i, steps-1) {
					known++
				}
			}
		case *ast.SelectorExpr:
			if is(p, n.X, v) && (n.Sel.Name == "Name" || n.Sel.Name == "IsDir") || modeOf(p, n, v) {
				known++
			}
		}
		return true
	})
	return used == known
}

// passes reports whether a function uses only the name and the kind of its parameter i.
func passes(p *gocode.Place, fn *types.Func, decl *ast.FuncDecl, i, steps int) bool {
	params := fn.Signature().Params()
	return i < params.Len() && !fn.Signature().Variadic() && nameAndKind(p, decl.Body, params.At(i), steps)
}

// modeOf reports whether an expression is the kind in a value's mode: v.Mode().IsRegular.
func modeOf(p *gocode.Place, n *ast.SelectorExpr, v *types.Var) bool {
	if n.Sel.Name != "IsDir" && n.Sel.Name != "IsRegular" && n.Sel.Name != "Type" {
		return false
	}
	call, ok := ast.Unparen(n.X).(*ast.CallExpr)
	if !ok {
		return false
	}
	mode, ok := call.Fun.(*ast.SelectorExpr)
	return ok && mode.Sel.Name == "Mode" && is(p, mode.X, v)
}

func is(p *gocode.Place, e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && p.Object(id) == v
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

// listed reports whether loops over a list, and comparisons that sort it, use only the name and the
// kind of its elements.
func listed(p *gocode.Place, list *types.Var) bool {
	found := 0
	for _, use := range syntax.Reads(p, list) {
		switch n := syntax.Parent(p, use).(type) {
		case *ast.RangeStmt:
			value, ok := n.Value.(*ast.Ident)
			if !ok {
				continue // its elements are read by their index
			}
			v, ok := p.Object(value).(*types.Var)
			if !ok || !nameAndKind(p, n.Body, v, mostSteps) {
				return false
			}
			found++
		case *ast.IndexExpr:
			if !element(p, n) {
				return false
			}
			found++
		case *ast.CallExpr:
			switch p.CalleeName(n) {
			case "len", "sort.Slice", "sort.SliceStable":
			default:
				return false
			}
		default:
			return false
		}
	}
	return found > 0
}

// element reports whether only the name and the kind of an element list[i] are used.
func element(p *gocode.Place, e *ast.IndexExpr) bool {
	sel, ok := syntax.Parent(p.Outer(), e).(*ast.SelectorExpr)
	if !ok {
		v := syntax.LocalVar(p, syntax.AssignedTo(p.Outer(), e))
		return v != nil && syntax.Local(p, v) && nameAndKind(p, p.Decl.Body, v, mostSteps)
	}
	switch sel.Sel.Name {
	case "Name", "IsDir":
		return true
	case "Mode": // list[i].Mode().IsRegular()
		call, ok := syntax.Parent(p.Outer(), sel).(*ast.CallExpr)
		if !ok {
			return false
		}
		of, ok := syntax.Parent(p.Outer(), call).(*ast.SelectorExpr)
		return ok && (of.Sel.Name == "IsDir" || of.Sel.Name == "IsRegular" || of.Sel.Name == "Type")
	}
	return false
}
