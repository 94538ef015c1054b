package copytoread

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// reader follows a value and determines whether it is only read.
type reader struct {
	pass    *rule.Pass
	looksUp bool // and only single entries of it, or compares and counts them
	scanned bool // a loop compares or counts all entries
	asked   bool // it comes through a channel
	seen    map[*types.Var]bool
	within  int
}

// deepest is the number of nested calls that a value is followed into.
const deepest = 4

// readers are functions that read their arguments and keep none of them.
func readers() []string {
	return []string{
		"slices.Contains*", "slices.Index*", "slices.BinarySearch*", "sort.Search*", "slices.Equal*", "maps.Equal*", "bytes.Equal", "bytes.Contains", "bytes.Index*",
		"fmt.Errorf", "fmt.Sprint*", // of an error that says what was wrong
	}
}

// variable reports whether a variable is only read, except by the statement that fills it.
func (u *reader) variable(p *gocode.Place, id *ast.Ident, filling ast.Node) bool {
	v, ok := p.Object(id).(*types.Var)
	return ok && u.object(p.Outer(), v, filling)
}

func (u *reader) object(p *gocode.Place, v *types.Var, filling ast.Node) bool {
	if u.seen[v] {
		return true
	}
	u.seen[v] = true
	if v.IsField() || v.Parent() == p.Pkg.Scope() || syntax.IsResult(p, v) {
		return false
	}
	reads := false
	for _, use := range syntax.Uses(p, v) {
		if syntax.Defines(p, use) || filling != nil && syntax.Within(filling, use) {
			continue
		}
		if a, ok := syntax.Parent(p, use).(*ast.AssignStmt); ok && assigns(a, use) {
			continue // another value, whose uses are examined too
		}
		if !u.value(p, use) {
			return false
		}
		reads = true
	}
	return reads
}

func assigns(a *ast.AssignStmt, id *ast.Ident) bool {
	for _, lhs := range a.Lhs {
		if lhs == ast.Expr(id) {
			return true
		}
	}
	return false
}

// value reports whether an expression's value is only read.
func (u *reader) value(p *gocode.Place, e ast.Expr) bool {
	var child ast.Node = e
	entry := false // child is an entry, or a part of one
	for _, parent := range p.Enclosing(e) {
		switch n := parent.(type) {
		case *ast.ParenExpr:
		case *ast.IndexExpr:
			if n.X != child {
				return true // the entry is an index
			}
			entry = true
		case *ast.SelectorExpr:
			if !entry {
				return false // a method of the list's type
			}
		case *ast.UnaryExpr:
			return n.Op != token.AND
		case *ast.IncDecStmt:
			return false
		case *ast.AssignStmt:
			return u.assigned(p, n, child, entry)
		case *ast.ValueSpec:
			return entry
		case *ast.RangeStmt:
			return n.X == child && (entry || !u.looksUp || leaves(n.Body) || u.compares(p, n))
		case *ast.CallExpr:
			return entry || u.argument(p, n, child)
		case *ast.ReturnStmt, *ast.SliceExpr, *ast.CompositeLit, *ast.KeyValueExpr, *ast.SendStmt:
			return entry
		default:
			return true
		}
		child = parent
	}
	return entry
}

// assigned reports whether an assignment only reads a value: on its right side it may be an entry,
// or be assigned to a variable that is only read.
func (u *reader) assigned(p *gocode.Place, a *ast.AssignStmt, value ast.Node, entry bool) bool {
	for _, lhs := range a.Lhs {
		if ast.Node(lhs) == value {
			return false
		}
	}
	if entry {
		return true
	}
	// Of a call with several results the value is the first.
	for i, rhs := range a.Rhs {
		if ast.Node(rhs) != value || i >= len(a.Lhs) {
			continue
		}
		id, ok := ast.Unparen(a.Lhs[i]).(*ast.Ident)
		if !ok {
			return false
		}
		v, ok := p.Object(id).(*types.Var)
		return id.Name == "_" || ok && u.object(p, v, nil)
	}
	return false
}

// leaves reports whether a loop may end before its last iteration: it searches for something.
func leaves(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.BREAK
		}
		return !found
	})
	return found
}

// compares reports whether a loop only compares and counts entries: it calls nothing, keeps
// nothing, and is as fast as the copy.
func (u *reader) compares(p *gocode.Place, loop *ast.RangeStmt) bool {
	var entry *types.Var
	if loop.Value != nil {
		entry = syntax.LocalVar(p, loop.Value)
	}
	fine := true
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			_, conversion := p.Conversion(n)
			name := p.CalleeName(n)
			fine = fine && (conversion || name == "len" || name == "min" || name == "max")
		case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt, *ast.SendStmt, *ast.CompositeLit, *ast.UnaryExpr:
			fine = false
		case *ast.AssignStmt:
			for _, e := range n.Rhs { // numbers may be summed up, entries must not be kept
				t := p.TypeOf(e)
				fine = fine && t != nil && plain(t)
			}
			for _, e := range n.Lhs {
				v, part := syntax.Var(p, e)
				fine = fine && v != entry && !part
			}
		}
		return fine
	})
	u.scanned = u.scanned || fine
	return fine
}

// plain reports whether a type is a number or a bool.
func plain(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

// argument reports whether a call only reads an argument.
func (u *reader) argument(p *gocode.Place, call *ast.CallExpr, arg ast.Node) bool {
	name := p.CalleeName(call)
	if name == "len" || name == "cap" || funcname.Match(name, readers()...) {
		return true
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || u.within >= deepest || call.Ellipsis.IsValid() {
		return false
	}
	place := p.Entry(decl)
	params := fn.Signature().Params()
	for i, a := range call.Args {
		if ast.Node(a) != arg {
			continue
		}
		if i >= params.Len() || fn.Signature().Variadic() && i >= params.Len()-1 {
			return false
		}
		v := params.At(i)
		if v.Name() == "_" || v.Name() == "" {
			return true
		}
		u.within++
		fine := u.object(place, v, nil) || !used(place, v)
		u.within--
		return fine
	}
	return false
}

func used(p *gocode.Place, v *types.Var) bool {
	for _, use := range syntax.Uses(p, v) {
		if !syntax.Defines(p, use) {
			return true
		}
	}
	return false
}
