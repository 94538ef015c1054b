package rescangrowing

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// A buffer that is a field has no loop around it where it grows: a caller's loop passes it chunk by
// chunk, one call for each. How often it grows, is searched and is emptied was counted.

// fed judges a line that searches all of a field which nearly every call extends, and which is
// seldom emptied.
func fed(c *finder.Case) bool {
	p := c.Place
	for _, call := range p.Calls() {
		name := p.CalleeName(call)
		if !whole(p, call, name) || funcname.Match(name, "slices.*", "sort.*") {
			continue // what is searched for differs, in general
		}
		for i, arg := range subjects(call) {
			buffer := bufferOf(p, arg)
			field := fieldOf(p, buffer)
			if field == nil || !sameSearch(p, call, i) {
				continue
			}
			f := &feeding{pass: c.Pass, p: p, field: field, owner: p.TypeOf(ast.Unparen(buffer).(*ast.SelectorExpr).X)}
			if !f.often(c) {
				continue
			}
			what := symbol.Short(name)
			if name == "" {
				what = "a conversion"
			}
			emptied := "nothing empties it"
			if f.emptied > 0 {
				emptied = fmt.Sprintf("it is emptied %s", evidence.Times(f.emptied))
			}
			c.Cause = fmt.Sprintf("%s searches all of %s each time that something was added to it, including the part that it searched before: %s per %s, and %s. The time grows with the square of the input.",
				what, syntax.Text(buffer), evidence.Times(f.scans), c.Pass.Manifest.Unit(), emptied)
			c.Fix = fmt.Sprintf("Search only what was added: keep in another field how far %s was searched, and reset that field when the buffer is emptied. Or let a bufio.Reader or a bufio.Scanner find the end.", syntax.Text(buffer))
			c.Confidence = rule.Likely
			return true
		}
	}
	return false
}

// fieldOf returns the field that a buffer is; nil for other variables.
func fieldOf(p *gocode.Place, buffer ast.Expr) *types.Var {
	if buffer == nil {
		return nil
	}
	if _, ok := ast.Unparen(buffer).(*ast.SelectorExpr); !ok {
		return nil
	}
	if v := syntax.Named(p, buffer); v != nil && v.IsField() {
		return v
	}
	return nil
}

// sameSearch reports whether a call does the same each time, except for the text: its other
// arguments and its receiver are constants or variables of a package.
func sameSearch(p *gocode.Place, call *ast.CallExpr, text int) bool {
	for i, e := range subjects(call) {
		if i == text || isPackage(p, e) {
			continue
		}
		if c, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(c.Args) == 1 {
			if _, conversion := p.Conversion(c); conversion {
				e = c.Args[0]
			}
		}
		if _, constant := p.Const(e); constant {
			continue
		}
		v := syntax.Named(p, e)
		if v == nil || !v.IsField() && (v.Pkg() == nil || v.Parent() != v.Pkg().Scope()) {
			return false
		}
	}
	return true
}

func isPackage(p *gocode.Place, e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	_, is := p.Object(id).(*types.PkgName)
	return is
}

// feeding is how a field is used in its package.
type feeding struct {
	pass  *rule.Pass
	p     *gocode.Place
	field *types.Var
	owner types.Type // of the value that has the field
	// How often per unit of work it is searched, grows, and is emptied.
	scans, grown, emptied float64
	unknown               bool
}

// often reports whether the field grows nearly each time that the line of the case runs, is seldom
// emptied, and is long.
func (f *feeding) often(c *finder.Case) bool {
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || e.PerUnit <= 0 {
		return false
	}
	f.scans = e.PerUnit
	for _, file := range f.p.Files() {
		ast.Inspect(file, f.visit)
	}
	if f.unknown || f.grown < f.scans/2 || f.emptied*least > f.scans {
		return false
	}
	seconds, _ := stacks.Sum(c.CPU)
	each, ok := evidence.PerExecution(c.Pass, c.Site.Frame, float64(seconds)/1e9)
	return ok && each >= leastEach
}

// visit adds up the statements that change the field. A new value has an empty one.
func (f *feeding) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if f.has(f.p.TypeOf(n)) {
			f.emptied += f.runs(n)
		}
	case *ast.ValueSpec:
		if n.Type != nil && f.has(f.p.TypeOf(n.Type)) {
			f.emptied += f.runs(n)
		}
	case *ast.CallExpr:
		if f.p.CalleeName(n) == "new" && f.has(f.p.TypeOf(n.Args[0])) {
			f.emptied += f.runs(n)
		}
		to := syntax.Receiver(n)
		if to == nil || syntax.Named(f.p, to) != f.field {
			return true
		}
		switch name := f.p.CalleeName(n); {
		case funcname.Match(name, "(*bytes.Buffer).Write*", "(*bytes.Buffer).ReadFrom", "(*strings.Builder).Write*"):
			f.grown += f.runs(n)
		case funcname.Match(name, "(*bytes.Buffer).Reset", "(*bytes.Buffer).Truncate", "(*bytes.Buffer).Next", "(*bytes.Buffer).Read*", "(*strings.Builder).Reset"):
			f.emptied += f.runs(n)
		}
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if syntax.Named(f.p, lhs) != f.field {
				continue
			}
			switch {
			case len(n.Lhs) != len(n.Rhs):
				f.emptied += f.runs(n)
			case n.Tok == token.ADD_ASSIGN || f.appends(n.Rhs[i]):
				f.grown += f.runs(n)
			default:
				f.emptied += f.runs(n)
			}
		}
	case *ast.UnaryExpr:
		// Whoever has its address may empty it.
		f.unknown = f.unknown || n.Op == token.AND && syntax.Named(f.p, n.X) == f.field
	}
	return true
}

// has reports whether a type is that of the values with the field.
func (f *feeding) has(t types.Type) bool {
	owner := f.owner
	if ptr, ok := owner.Underlying().(*types.Pointer); ok {
		owner = ptr.Elem()
	}
	return t != nil && types.Identical(t, owner)
}

// appends reports whether an expression is append to the field itself.
func (f *feeding) appends(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && f.p.CalleeName(call) == "append" && syntax.Named(f.p, call.Args[0]) == f.field
}

// runs returns how often a node of the package ran per unit of work.
func (f *feeding) runs(n ast.Node) float64 {
	e, ok := evidence.ExecutionsAt(f.pass, f.p, n.Pos())
	if !ok {
		f.unknown = true
	}
	return e.PerUnit
}
