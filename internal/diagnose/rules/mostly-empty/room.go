package mostlyempty

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastRoom is the minimum mean size of the slices that a line creates, in bytes: below it,
	// growing costs more than clearing.
	leastRoom = 2048
	// mostUsed is the largest share of their memory that elements may take.
	mostUsed = 1. / 8
)

// judgeRoom judges a line that creates slices with a capacity of which few elements are used.
func judgeRoom(c *finder.Case) bool {
	created, ok := evidence.Executions(c.Pass, c.Site.Frame)
	bytes, objects := stacks.Sum(c.Allocs)
	if !ok || !evidence.Hot(c.Pass, created) || c.Place.Decl == nil || objects == 0 || bytes/objects < leastRoom {
		return false
	}
	var made *ast.CallExpr
	for _, n := range syntax.Allocating(c.Place) {
		call, ok := n.(*ast.CallExpr)
		if !ok || made != nil || !roomy(c.Place, call) {
			return false
		}
		made = call
	}
	if made == nil {
		return false
	}
	p := c.Place.Outer()
	v := holder(p, made)
	if v == nil || v.IsField() && (v.Pkg() != p.Pkg || v.Exported() && p.Pkg.Name() != "main") {
		return false
	}
	a := &appended{c: c, v: v, known: true}
	a.count(p)
	elem := float64(syntax.Sizes().Sizeof(p.TypeOf(made).Underlying().(*types.Slice).Elem()))
	each := a.elements / created.PerUnit
	share := each * elem / float64(bytes/objects)
	if !a.known || a.handed && !a.fills || share > mostUsed {
		return false
	}
	describeRoom(c, made, v, each, float64(bytes/objects), float64(bytes/objects)/max(1, elem))
	c.Fraction = &rule.Fraction{Expect: 0.95 * (1 - 2*share), Low: 0.6 * (1 - 2*share), High: 1 - share}
	return true
}

func describeRoom(c *finder.Case, made *ast.CallExpr, v *types.Var, each, bytes, room float64) {
	count := "no element is appended to it"
	if each >= 0.005 {
		count = "each gets only " + units.Some(max(0.01, each), "element") + " on average"
	}
	c.Confidence = rule.Likely // larger ones may come, for which the capacity is
	c.Cause = fmt.Sprintf("Each execution creates %s with room for about %s elements (%s, %s), but %s: the memory is cleared and collected unused.",
		v.Name(), units.Count(int64(room)), syntax.Text(made), units.Bytes(bytes), count)
	c.Fix = fmt.Sprintf("Create %s with the capacity that is usual, and let append grow it where there are more; or reuse it for the next, with its length set to 0.", v.Name())
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s elements appended per slice of %s", units.Number(each), units.Bytes(bytes)),
	})
	c.Live = nil
}

// roomy reports whether a call makes an empty slice with a capacity.
func roomy(p *gocode.Place, call *ast.CallExpr) bool {
	if p.CalleeName(call) != "make" || len(call.Args) != 3 {
		return false
	}
	t := p.TypeOf(call)
	if t == nil || syntax.Generic(t) {
		return false
	}
	n, ok := syntax.ConstInt(p, call.Args[1])
	_, slice := t.Underlying().(*types.Slice)
	return ok && n == 0 && slice
}

// appended counts the elements that a package appends to a list.
type appended struct {
	c        *finder.Case
	v        *types.Var
	elements float64 // for each unit of work
	known    bool    // nothing else may use the room
	handed   bool    // the list is returned, sent, or put into something
	fills    bool    // the package has a line that appends to it
}

func (a *appended) count(p *gocode.Place) {
	if !a.v.IsField() {
		a.in(p, p.Decl.Body)
		return
	}
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil && mentions(p, decl, a.v) {
				a.in(p.Entry(decl), decl.Body)
			}
		}
	}
}

func (a *appended) in(p *gocode.Place, body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && a.is(p, id) {
			a.use(p, whole(p, id))
		}
		return a.known
	})
}

// whole returns the expression that a name is the last part of: x.f for f.
func whole(p *gocode.Place, id *ast.Ident) ast.Expr {
	if sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr); ok && sel.Sel == id {
		return sel
	}
	return id
}

// use judges one use of the list, or of a part of it that starts where the list starts.
func (a *appended) use(p *gocode.Place, e ast.Expr) {
	if syntax.Defines(p, e) {
		return
	}
	switch n := syntax.Parent(p, e).(type) {
	case *ast.KeyValueExpr:
		a.handed = a.handed || n.Key != e
	case *ast.ReturnStmt, *ast.CompositeLit, *ast.SendStmt:
		a.handed = true
	case *ast.AssignStmt, *ast.ValueSpec: // another variable may fill it
		a.known = syntax.Named(p, syntax.AssignedTo(p, e)) == a.v
	case *ast.SliceExpr: // list[:n] uses the room, list[:0] does not
		if ast.Unparen(n.X) != e {
			return
		}
		if n.High != nil {
			high, ok := syntax.ConstInt(p, n.High)
			a.known = ok && high == 0
		}
		a.use(p, n)
	case *ast.CallExpr:
		if p.CalleeName(n) == "append" && ast.Unparen(n.Args[0]) == e {
			a.appends(p, n)
			return
		}
		a.known = spares(p, n, e)
	case *ast.IndexExpr:
	default:
		a.known = kept.Reads(p, e)
	}
}

// inPlace are functions that change elements and do not add any, as source names them.
var inPlace = []string{"copy", "clear", "slices.Sort*", "slices.Reverse", "sort.*"}

// spares reports whether a call leaves the room of its argument alone. One that returns the list or
// keeps it, such as strconv.AppendInt, Seal of a cipher or Buffer of a scanner, may fill it.
func spares(p *gocode.Place, call *ast.CallExpr, e ast.Expr) bool {
	if _, ok := p.Conversion(call); ok {
		return syntax.IsString(p, call)
	}
	return funcname.Match(p.CalleeName(call), inPlace...) || kept.Reads(p, e)
}

func (a *appended) appends(p *gocode.Place, call *ast.CallExpr) {
	n, ok := evidence.ReachedAt(a.c.Pass, p, call.Pos())
	a.known = a.known && ok && !call.Ellipsis.IsValid()
	a.elements += n * float64(len(call.Args)-1)
	a.fills = true
}

func (a *appended) is(p *gocode.Place, e ast.Expr) bool {
	v := syntax.Named(p, e)
	return v != nil && v.Origin() == a.v
}
