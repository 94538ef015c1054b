package retainedsubstring

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// many live buffers are more than are in use at a time: something keeps them.
	many = 256
	// fewParts is the largest number of parts that a function keeps of a buffer. With more, the
	// parts may be most of it.
	fewParts = 8
)

// readParts judges lines whose buffers stay in memory although only values that functions of other
// packages read from them are kept. The calling code does not show whether those functions copy;
// that the buffers are still in memory shows that they do not.
func readParts(c *finder.Case) bool {
	live, objects := stacks.Sum(c.Live)
	if objects < many || float64(live) < leastShare*float64(c.Pass.Table.Totals.LiveBytes) {
		return false
	}
	r := buffer(c.Place)
	if r == nil {
		return false
	}
	if r.follow(); r.whole || len(r.kept) == 0 || len(r.kept) > fewParts {
		return false
	}
	part := r.kept[0]
	text, clone := syntax.Text(part), "strings.Clone"
	if !syntax.IsString(r.place, part) {
		clone = "bytes.Clone"
	}
	c.Confidence = rule.Likely // the size of the parts is unknown
	others := ""
	if n := len(r.kept) - 1; n > 0 {
		others = fmt.Sprintf(" and %s", units.Some(float64(n), "other part"))
	}
	c.Cause = fmt.Sprintf("%s keeps %s%s of %s (line %d), read by %s. A part keeps the whole buffer in memory: %s each, %s in all.",
		syntax.FuncName(r.place), text, others, r.buffer.Name(), syntax.Line(r.place, part.Pos()), r.reader,
		units.Bytes(float64(live)/float64(objects)), units.Bytes(float64(live)))
	c.Fix = fmt.Sprintf("Keep a copy: %s(%s).", clone, text)
	if others != "" {
		c.Fix = fmt.Sprintf("Keep copies: %s(%s), and so on.", clone, text)
	}
	c.Evidence = []rule.Evidence{{
		What:    "live memory allocated by the line",
		Value:   fmt.Sprintf("%s in %d objects", units.Bytes(float64(live)), objects),
		Command: evidence.ListCommand(c.Pass, "inuse_space", c.Site.Function),
	}}
	return true
}

// reading follows a buffer through the calls that read it.
type reading struct {
	place   *gocode.Place // of the function
	buffer  *types.Var
	results map[*types.Var]bool // variables with what was read
	reader  string              // the first function that read something
	kept    []ast.Expr          // strings and byte slices, out of what was read, that the function keeps or returns
	whole   bool                // the buffer as a whole may be kept, or go where it cannot be followed
}

// buffer returns the buffer that a line creates: a variable of the function, or the parameter of a
// function of the package that gets it; nil for none.
func buffer(p *gocode.Place) *reading {
	if v := made(p); v != nil {
		return &reading{place: p.Outer(), buffer: v}
	}
	for _, call := range syntax.Calls(p) {
		decl := p.Declaration(p.Callee(call))
		if decl == nil || decl.Body == nil {
			continue
		}
		params := p.Callee(call).Signature().Params()
		for i, arg := range call.Args {
			_, ok := ast.Unparen(arg).(*ast.CallExpr)
			if t := p.TypeOf(arg); ok && t != nil && syntax.StringOrBytes(t) && i < params.Len() && syntax.StringOrBytes(params.At(i).Type()) {
				return &reading{place: p.Entry(decl), buffer: params.At(i)}
			}
		}
	}
	return nil
}

// follow finds what is kept.
func (r *reading) follow() {
	r.results = map[*types.Var]bool{}
	for range 3 { // results of results
		ast.Inspect(r.place.Decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					rhs := n.Rhs[0]
					if len(n.Lhs) == len(n.Rhs) {
						rhs = n.Rhs[i]
					}
					r.result(lhs, rhs)
				}
			case *ast.RangeStmt:
				r.result(n.Value, n.X)
			}
			return true
		})
	}
	f := &escape{place: r.place}
	ast.Inspect(r.place.Decl, func(n ast.Node) bool {
		r.whole = r.whole || r.aliases(n)
		if call, ok := n.(*ast.CallExpr); ok && r.reads(call) {
			return true
		}
		for _, e := range f.outlets(n) {
			r.whole = r.whole || r.is(e)
			if t := r.place.TypeOf(e); t != nil && syntax.StringOrBytes(t) && r.read(e) {
				r.kept = append(r.kept, e)
				r.whole = r.whole || len(loops.Around(r.place, e)) > 0 // each iteration may keep another part
			}
		}
		return true
	})
}

// result notes that a variable holds what was read, if it does.
func (r *reading) result(to, from ast.Expr) {
	if to == nil || !r.read(from) {
		return
	}
	if v := syntax.LocalVar(r.place, to); v != nil && v != r.buffer {
		r.results[v] = true
	}
}

// read reports whether an expression is a value that was read from the buffer, or a part of it: an
// element, a field, a method's result.
func (r *reading) read(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := r.place.Object(x).(*types.Var)
		return ok && r.results[v]
	case *ast.IndexExpr:
		return r.read(x.X)
	case *ast.SliceExpr:
		return r.read(x.X)
	case *ast.SelectorExpr:
		return r.place.Info.Selections[x] != nil && r.read(x.X)
	case *ast.CallExpr:
		if r.reads(x) {
			return true
		}
		sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		return ok && r.place.Info.Selections[sel] != nil && r.read(sel.X)
	}
	return false
}

// reads reports whether a call passes the buffer to a function of another package that may return
// parts of it.
func (r *reading) reads(call *ast.CallExpr) bool {
	fn, name := r.place.Callee(call), r.place.CalleeName(call)
	if fn == nil || fn.Pkg() == nil || fn.Pkg() == r.place.Pkg || copies(name) {
		return false
	}
	for _, arg := range call.Args {
		if r.is(arg) {
			if r.reader == "" {
				r.reader = symbol.Short(fn.FullName())
			}
			return true
		}
	}
	return false
}

// is reports whether an expression is the buffer.
func (r *reading) is(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && r.place.Object(id) == r.buffer
}

// aliases reports whether a node gives the buffer, or a slice of it, another name, or captures it
// in a function literal.
func (r *reading) aliases(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Rhs {
			if r.is(e) {
				return true
			}
		}
	case *ast.SliceExpr:
		return r.is(n.X)
	case *ast.FuncLit:
		if syntax.Inside(n, r.buffer.Pos()) {
			return false
		}
		captured := false
		ast.Inspect(n, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			captured = captured || ok && r.is(e)
			return !captured
		})
		return captured
	}
	return false
}
