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
				Functions: []string{"path/filepath.Walk", "io/ioutil.ReadDir", "os.(*File).Readdir"},
				Keep:      asks,
			},
			Judge: judge,
		},
	}
}

const doc = `filepath.Walk, ioutil.ReadDir and Readdir of os.File return an fs.FileInfo for each
entry: size, time and permissions, for which they ask the system with lstat, file
by file. The names and kinds of the entries are in the directory itself, and
reading it returns hundreds at a time.

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
			fn, body := callback(p, call.Args[1])
			if fn == nil || fn.Params().Len() != 3 || !nameAndKind(p, body, fn.Params().At(1)) {
				continue
			}
			c.Fix = "Use filepath.WalkDir, whose function gets the name and the kind from the directory; call Info where more is needed."
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
		c.Cause = fmt.Sprintf("%s asks the system for the size, time and permissions of each file with lstat, and only names and kinds are used.", funcname.Short(name))
		return true
	}
	return false
}

// callback returns the signature and the body of a function literal, or of a function of the
// package by its name.
func callback(p *gocode.Place, e ast.Expr) (*types.Signature, *ast.BlockStmt) {
	sig, _ := p.TypeOf(e).(*types.Signature)
	e = ast.Unparen(e)
	if lit, ok := e.(*ast.FuncLit); ok {
		return sig, lit.Body
	}
	var id *ast.Ident
	switch e := e.(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	default:
		return nil, nil
	}
	fn, ok := p.Object(id).(*types.Func)
	if !ok {
		return nil, nil
	}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && p.Info.Defs[decl.Name] == fn && decl.Body != nil {
				return fn.Signature(), decl.Body
			}
		}
	}
	return nil, nil
}

// nameAndKind reports whether nothing but the name and the kind is used of a value in a body.
func nameAndKind(p *gocode.Place, body ast.Node, v *types.Var) bool {
	used, known := 0, 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if p.Object(n) == v {
				used++
			}
		case *ast.BinaryExpr: // info == nil
			if is(p, n.X, v) && isNil(n.Y) {
				known++
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

// listed reports whether loops over a list use only the name and the kind of its elements.
func listed(p *gocode.Place, list *types.Var) bool {
	loops := 0
	for _, use := range syntax.Reads(p, list) {
		switch n := syntax.Parent(p, use).(type) {
		case *ast.RangeStmt:
			value, ok := n.Value.(*ast.Ident)
			if !ok {
				return false
			}
			v, ok := p.Object(value).(*types.Var)
			if !ok || !nameAndKind(p, n.Body, v) {
				return false
			}
			loops++
		case *ast.CallExpr:
			if p.CalleeName(n) != "len" {
				return false
			}
		default:
			return false
		}
	}
	return loops > 0
}
