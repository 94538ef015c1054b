package wholeperchange

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// coders are functions that encode or decode a value, as profiles name them. That the value is
// read, changed and stored again is what the source shows, so the names may be broad.
var coders = []string{"*.Marshal*", "*.Unmarshal*", "*).Marshal*", "*).Unmarshal*", "*).Encode", "*).Decode"}

// storing are the first words of functions that store what they are given.
var storing = []string{"put", "set", "save", "store", "write", "update", "insert", "persist", "upload", "replace", "encode"}

// mostBelow is how many frames may be between a call on a line and the coder.
const mostBelow = 6

// document is a collection that a function decodes from where it is stored, changes in a few
// places, encodes and stores again.
type document struct {
	v       *types.Var
	in, out *ast.CallExpr // the calls that decode and encode it
	changes []ast.Node
}

// documentAt returns the document that a line decodes or encodes; nil for none.
func documentAt(p *gocode.Place) *document {
	if p.Decl == nil || p.Decl.Body == nil || answers(p) {
		return nil
	}
	var calls []*ast.CallExpr
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && p.CalleeName(call) != "append" && p.CalleeName(call) != "delete" {
			calls = append(calls, call)
		}
		return true
	})
	if !slices.ContainsFunc(calls, func(call *ast.CallExpr) bool { return onLine(p, call) }) {
		return nil
	}
	for _, in := range calls {
		v := readInto(p, in)
		if v == nil {
			continue
		}
		changes := changesAfter(p, in.End(), v)
		if len(changes) == 0 {
			continue
		}
		for _, out := range calls {
			d := &document{v, in, out, changes}
			if out.Pos() > changes[0].Pos() && takes(p, out, v) && (onLine(p, in) || onLine(p, out)) && d.stored(p) {
				return d
			}
		}
	}
	return nil
}

func onLine(p *gocode.Place, n ast.Node) bool {
	return syntax.Line(p, n.Pos()) <= p.Line && p.Line <= syntax.Line(p, n.End())
}

// readInto returns the local variable that a call fills or returns, if it is a collection or has
// some.
func readInto(p *gocode.Place, call *ast.CallExpr) *types.Var {
	candidates := slices.Clone(call.Args)
	for i, arg := range candidates {
		if addr, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && addr.Op == token.AND {
			candidates[i] = addr.X
		} else if t := p.TypeOf(arg); t == nil || !isPointer(t) {
			candidates[i] = nil
		}
	}
	if to := syntax.AssignedTo(p, call); to != nil {
		candidates = append(candidates, to)
	}
	for _, e := range candidates {
		if e == nil {
			continue
		}
		if v := syntax.LocalVar(p, e); v != nil && !syntax.Param(p, v) && syntax.Receiver(call) != e && hasCollection(v.Type()) {
			return v
		}
	}
	return nil
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// hasCollection reports whether a type is a collection, or a struct with one, or points to such.
func hasCollection(t types.Type) bool {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() && collection(f.Type()) {
				return true
			}
		}
	}
	return collection(t)
}

// takes reports whether a call is given a variable, or its address.
func takes(p *gocode.Place, call *ast.CallExpr, v *types.Var) bool {
	if name := p.CalleeName(call); name == "len" || name == "cap" || strings.HasPrefix(name, "slices.") || strings.HasPrefix(name, "maps.") || strings.HasPrefix(name, "sort.") {
		return false
	}
	return slices.ContainsFunc(call.Args, func(e ast.Expr) bool {
		if addr, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
			e = addr.X
		}
		return syntax.LocalVar(p, e) == v
	})
}

// changesAfter returns the statements after a position that change an element of a variable, add or
// remove one.
func changesAfter(p *gocode.Place, after token.Pos, v *types.Var) (found []ast.Node) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if n == nil || n.Pos() <= after || !changesPart(p, n, v) {
			return true
		}
		found = append(found, n)
		return false
	})
	return found
}

// changesPart reports whether a statement changes an element of a variable's collection.
func changesPart(p *gocode.Place, n ast.Node, v *types.Var) bool {
	root := func(e ast.Expr) bool { w, _ := syntax.Var(p, e); return w == v }
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if !root(lhs) {
				continue
			}
			if element(lhs) != nil {
				return true
			}
			if call, ok := ast.Unparen(n.Rhs[min(i, len(n.Rhs)-1)]).(*ast.CallExpr); ok && len(call.Args) > 0 &&
				funcname.Match(p.CalleeName(call), "append", "slices.Insert*", "slices.Delete*") && root(call.Args[0]) {
				return true
			}
		}
	case *ast.IncDecStmt:
		return element(n.X) != nil && root(n.X)
	case *ast.CallExpr:
		if p.CalleeName(n) == "delete" {
			return root(n.Args[0])
		}
		recv := syntax.Receiver(n)
		return recv != nil && root(recv) && changesReceiver(p, n)
	}
	return false
}

// changesReceiver reports whether the method that is called changes a part of its receiver.
func changesReceiver(p *gocode.Place, call *ast.CallExpr) bool {
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil || decl.Recv == nil || len(decl.Recv.List) == 0 || len(decl.Recv.List[0].Names) == 0 {
		return false
	}
	in := p.Entry(decl)
	recv, _ := in.Object(decl.Recv.List[0].Names[0]).(*types.Var)
	return recv != nil && syntax.Changes(in, decl.Body, recv)
}

// stored reports whether the document is stored where it was read from: both calls, or those that
// get and put its text, have an argument in common, such as a key or a path.
func (d *document) stored(p *gocode.Place) bool {
	put := d.out
	text := syntax.Result(p, d.out)
	if text != nil && !syntax.IsError(text.Type()) {
		put = nil
		for _, id := range syntax.Uses(p, text) {
			if call, ok := syntax.Parent(p, id).(*ast.CallExpr); ok && id.Pos() > d.out.End() && slices.Contains(call.Args, ast.Expr(id)) && p.CalleeName(call) != "len" {
				put = call
				break
			}
		}
	}
	if put == nil || !storesText(p, put) {
		return false
	}
	from := d.names(p, d.in, text)
	for v := range d.names(p, put, text) {
		if from[v] {
			return true
		}
	}
	return false
}

// storesText reports whether the name of a function says that it stores what it gets.
func storesText(p *gocode.Place, call *ast.CallExpr) bool {
	name := p.CalleeName(call)
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	return slices.ContainsFunc(storing, func(verb string) bool { return strings.HasPrefix(name, verb) })
}

// names returns the variables and constants from which a call's receiver and arguments come, other
// than the document and its text.
func (d *document) names(p *gocode.Place, call *ast.CallExpr, text *types.Var) map[types.Object]bool {
	all := map[types.Object]bool{}
	var add func(e ast.Node, steps int)
	add = func(e ast.Node, steps int) {
		ast.Inspect(e, func(n ast.Node) bool {
			if _, lit := n.(*ast.FuncLit); lit {
				return false
			}
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			obj := p.Object(id)
			switch o := obj.(type) {
			case *types.Const:
				all[o] = true
			case *types.Var:
				if o == d.v || all[o] || passedAlong(o.Type()) {
					return true
				}
				if o != text || steps == 4 {
					all[o] = o != text
				}
				stmt, _ := syntax.Declared(p, o)
				if a, ok := stmt.(*ast.AssignStmt); ok && steps > 0 && len(a.Rhs) == 1 && (o != text || call == d.in) {
					add(a.Rhs[0], steps-1)
				}
			}
			return true
		})
	}
	add(call, 4)
	return all
}

// passedAlong reports whether values of a type are passed to most functions, so that two calls with
// the same one need not be about the same thing.
func passedAlong(t types.Type) bool {
	switch types.TypeString(t, nil) {
	case "error", "context.Context", "*net/http.Request", "net/http.ResponseWriter", "*log.Logger", "*log/slog.Logger", "io/fs.FileMode":
		return true
	}
	return false
}

// document returns the frame of a row that decodes or encodes a document; -1 for none.
func (s *search) document(r *site.Row) int {
	i := s.documents.Nearest(r)
	if i < 0 {
		return -1
	}
	for _, f := range r.Stack[max(0, i-mostBelow):i] {
		if f.Owner.Kind != gocode.Main && funcname.Match(f.Function, coders...) {
			return i
		}
	}
	return -1
}

// describe fills in a match; it reports false if the document is small, or much of it changes.
func (d *document) describe(c *finder.Case) bool {
	nanoseconds, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9)
	if !known {
		return false
	}
	runs, _ := evidence.Executions(c.Pass, c.Site.Frame)
	changed, line := d.changed(c)
	least, how := leastEncoding, "decodes"
	if onLine(c.Place, d.out) {
		least, how = leastEncoding/4, "encodes" // decoding takes most of the time
	}
	if runs.PerUnit <= 0 || changed <= 0 || changed > mostChanges*runs.PerUnit || each < least*max(1, changed/runs.PerUnit) {
		return false
	}
	c.Cause = fmt.Sprintf("%s %s all of %s each time, in %s: it reads the whole, changes %s (line %d), and stores the whole again. The time grows with the number of elements, so n changes cost n² steps.",
		syntax.FuncName(c.Place), how, d.v.Name(), units.Seconds(each), elements(changed/runs.PerUnit), line)
	c.Fix = fmt.Sprintf("Store each element of %s under a key of its own (the key of the whole, then that of the element; a scan of the prefix lists them), so that a change writes one small entry. Or keep %s in memory, and store it once for many changes.", d.v.Name(), d.v.Name())
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s per %s, %s each", evidence.Times(runs.PerUnit), c.Pass.Manifest.Unit(), units.Seconds(each))})
	return true
}

// changed returns how many elements of the document change for each unit of work, and the line that
// changes most of them.
func (d *document) changed(c *finder.Case) (sum float64, line int) {
	most := 0.0
	for _, n := range d.changes {
		times, _ := evidence.ReachedAt(c.Pass, c.Place, n.Pos())
		sum += times
		if times > most {
			most, line = times, syntax.Line(c.Place, n.Pos())
		}
	}
	return sum, line
}
