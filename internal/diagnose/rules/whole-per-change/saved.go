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
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// encoders encode their last argument as a whole.
var encoders = []string{
	"encoding/json.Marshal", "encoding/json.MarshalIndent", "(*encoding/json.Encoder).Encode", "(*encoding/gob.Encoder).Encode",
	"encoding/xml.Marshal", "encoding/xml.MarshalIndent", "(*encoding/xml.Encoder).Encode", "*/yaml*.Marshal", "*/yaml*.Encoder).Encode",
	"*/toml*.Marshal", "*/toml*.Encoder).Encode", "*/msgpack*.Marshal", "*/msgpack*.Encoder).Encode", "*/cbor*.Marshal", "*/json*.Marshal", "*/json*.MarshalIndent",
}

// encoding is a line that encodes a whole collection.
type encoding struct {
	call   *ast.CallExpr
	value  ast.Expr
	of     []*types.Var // the collections that the value has
	looked int          // stacks that were searched for the function that changes them
	hashed bool         // it is encoded to be hashed
	// changed is the place of the function that changes a collection and gets it encoded, and how
	// many elements it changes for each unit of work; nil for none.
	changed *changer
}

type changer struct {
	name    string
	line    int
	changes float64
}

// encodingAt returns the call on a line that encodes a collection which outlives the call; nil for
// none.
func encodingAt(s *gocode.Syntax, p *gocode.Place) *encoding {
	if p.Decl == nil || answers(p) {
		return nil
	}
	for _, call := range syntax.CallsOf(p, encoders...) {
		if len(call.Args) == 0 {
			continue
		}
		e := &encoding{call: call, value: call.Args[0], hashed: hashes(p)}
		if e.of = collections(p, e.value); len(e.of) > 0 {
			return e
		}
		if v := syntax.LocalVar(p, e.value); v != nil && types.IsInterface(v.Type()) { // a helper that encodes any value
			for _, given := range flow.Passed(s, p, v) {
				e.of = append(e.of, collections(given.Place, given.Value)...)
			}
			if len(e.of) > 0 {
				return e
			}
		}
	}
	return nil
}

// hashes reports whether the function of a place hashes something: what it encodes is compared, not
// saved.
func hashes(p *gocode.Place) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found {
			fn := p.Callee(call)
			found = fn != nil && fn.Pkg() != nil && (strings.HasPrefix(fn.Pkg().Path(), "hash") || strings.HasPrefix(fn.Pkg().Path(), "crypto/")) &&
				(strings.HasPrefix(fn.Name(), "Sum") || strings.HasPrefix(fn.Name(), "New"))
		}
		return !found
	})
	return found
}

// answers reports whether a function gets an http.ResponseWriter: what it encodes is an answer.
func answers(p *gocode.Place) bool {
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return false
	}
	for v := range sig.Params().Variables() {
		if types.TypeString(v.Type(), nil) == "net/http.ResponseWriter" {
			return true
		}
	}
	return false
}

// collections returns the fields and package variables of map and slice types that an expression
// contains: it is one, a struct with some, or a local variable that a loop fills from one.
func collections(p *gocode.Place, e ast.Expr) []*types.Var {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
		e = u.X
	}
	v := syntax.Named(p, e)
	if v == nil {
		return nil
	}
	lasting := v.IsField() || v.Parent() == p.Pkg.Scope() || syntax.Param(p, v)
	if collection(v.Type()) {
		if lasting && !syntax.Param(p, v) {
			return []*types.Var{v}
		}
		return filledFrom(p, v)
	}
	if !lasting {
		return nil
	}
	t := v.Type().Underlying()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem().Underlying()
	}
	s, ok := t.(*types.Struct)
	if !ok {
		return nil
	}
	var all []*types.Var
	for f := range s.Fields() {
		if f.Exported() && f.Pkg() == p.Pkg && collection(f.Type()) {
			all = append(all, f)
		}
	}
	return all
}

func collection(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return !ok || b.Kind() != types.Byte
	}
	return false
}

// filledFrom returns the collection that a loop copies to a local variable.
func filledFrom(p *gocode.Place, v *types.Var) (from []*types.Var) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || !syntax.Changes(p, loop.Body, v) {
			return true
		}
		of := syntax.Named(p, loop.X)
		if of != nil && (of.IsField() || of.Parent() == p.Pkg.Scope()) && collection(of.Type()) {
			from = append(from, of)
		}
		return true
	})
	return from
}

// changer returns the function that changes an encoded collection, the function that encodes it or
// one of its callers; nil if there is none within a few frames, or if it changes many elements each
// time.
func (s *search) changer(stack []*site.Frame, e *encoding) *changer {
	encoded, ok := evidence.Executions(s.pass, *stack[0])
	if !ok || encoded.PerUnit <= 0 {
		return nil
	}
	for i, f := range stack {
		if i > mostFrames {
			break
		}
		place := s.pass.Place(&site.Site{Frame: *f})
		if place == nil || place.Decl == nil || f.Owner.Package != stack[0].Owner.Package {
			continue
		}
		c := &changer{name: syntax.FuncName(place)}
		var most float64
		ast.Inspect(place.Decl, func(n ast.Node) bool {
			if !changes(place, n, e.of) {
				return true
			}
			runs, _ := evidence.ExecutionsAt(s.pass, place, n.Pos())
			c.changes += runs.PerUnit
			if runs.PerUnit > most {
				most, c.line = runs.PerUnit, syntax.Line(place, n.Pos())
			}
			return true
		})
		if c.changes > 0 {
			c.changes /= encoded.PerUnit
			if c.changes <= mostChanges {
				return c
			}
			return nil
		}
	}
	return nil
}

// changes reports whether a statement changes one element of a collection, maybe through a variable
// that refers to it.
func changes(p *gocode.Place, n ast.Node, of []*types.Var) bool {
	is := func(e ast.Expr) bool { return slices.Contains(of, syntax.Named(p, e)) }
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if x := element(lhs); x != nil && is(x) {
				return true
			}
			if v, part := root(p, lhs); part && n.Tok != token.DEFINE && refersTo(p, v, is) {
				return true
			}
			if !is(lhs) || len(n.Lhs) != len(n.Rhs) {
				continue
			}
			call, ok := ast.Unparen(n.Rhs[i]).(*ast.CallExpr)
			if ok && p.CalleeName(call) == "append" && is(call.Args[0]) && !call.Ellipsis.IsValid() {
				return true
			}
		}
	case *ast.IncDecStmt:
		x := element(n.X)
		return x != nil && is(x)
	case *ast.CallExpr:
		return p.CalleeName(n) == "delete" && is(n.Args[0])
	}
	return false
}

// root returns the local variable at the start of an expression, and whether the expression is a
// part of what it refers to.
func root(p *gocode.Place, e ast.Expr) (v *types.Var, part bool) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e, part = x.X, true
		case *ast.IndexExpr:
			e, part = x.X, true
		case *ast.Ident:
			return syntax.LocalVar(p, x), part
		default:
			return nil, false
		}
	}
}

// refersTo reports whether a local variable is a pointer to an element: b, ok := m[k]; x := &xs[i].
func refersTo(p *gocode.Place, v *types.Var, is func(ast.Expr) bool) bool {
	if v == nil {
		return false
	}
	if _, pointer := v.Type().Underlying().(*types.Pointer); !pointer {
		return false
	}
	stmt, _ := syntax.Declared(p, v)
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || syntax.LocalVar(p, a.Lhs[0]) != v {
		return false
	}
	e := ast.Unparen(a.Rhs[0])
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	x, ok := e.(*ast.IndexExpr)
	return ok && is(x.X)
}

// element returns the collection of which an expression is an element, or a field of one; nil for
// others.
func element(e ast.Expr) ast.Expr {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			return x.X
		case *ast.SelectorExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// describe fills in a match; it reports false if the collection is small.
func (e *encoding) describe(c *finder.Case) bool {
	nanoseconds, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9)
	if !known || each < leastEncoding*max(1, e.changed.changes) {
		return false
	}
	runs, _ := evidence.Executions(c.Pass, c.Site.Frame)
	name := e.of[0].Name()
	c.Cause = fmt.Sprintf("%s encodes all of %s each time, in %s, although %s changes %s (line %d). The time grows with the number of elements.",
		syntax.FuncName(c.Place), name, units.Seconds(each), e.changed.name, elements(e.changed.changes), e.changed.line)
	c.Fix = fmt.Sprintf("Append a record of the change to a journal, and write all of %s rarely; or save at most once in a while, for many changes; or keep it in an embedded database, which writes what changed.", name)
	if e.hashed {
		c.Fix = fmt.Sprintf("Compare the element of %s that changes with its old value, or keep a hash for each element, and hash the changed one alone.", name)
	}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("encoded %s per %s, %s each", evidence.Times(runs.PerUnit), c.Pass.Manifest.Unit(), units.Seconds(each))})
	return true
}

func elements(n float64) string {
	if n < 1.5 {
		return "one element"
	}
	return "at most " + units.Some(n, "element")
}
