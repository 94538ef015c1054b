// Package retainedsubstring finds small parts of large buffers that keep the buffers in memory.
package retainedsubstring

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// large is the size of buffers, in bytes, that are worth copying a part out of.
	large = 1 << 10
	// leastShare of what is live.
	leastShare = 0.05
)

// Rule is retained-substring.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "retained-substring",
		Kind:  rule.Leak,
		Title: "A small part keeps a large buffer in memory",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// How much of each buffer the kept part is, is not seen.
				Fraction: rule.Fraction{Expect: 0.8, Low: 0.3, High: 1},
			},
			Loop: find,
		},
	}
}

const doc = `A substring or a sub-slice points into the memory that it was cut from, and as
long as it lives, all of that memory does: a title of twenty bytes keeps the whole
document. The heap profile shows live memory at the line that read the document,
though nobody seems to hold it.

Copy what is kept: strings.Clone(part), bytes.Clone(part).

It is fine when most of the buffer is kept in parts anyway: then one buffer is
cheaper than many copies. The rule speaks of functions out of which only one
part of a local buffer gets, while the heap profile shows the buffers alive.

Seen in the field: betterleaks/betterleaks#308, cortexproject/cortex#4739,
praetorian-inc/titus#77; golang/go#69370 was the same in package unique.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		live, objects := stacks.Sum(s.Live)
		if objects == 0 || live/objects < large || float64(live) < leastShare*float64(p.Table.Totals.LiveBytes) {
			continue
		}
		place := p.Place(s)
		if place == nil {
			continue
		}
		buffer := made(place)
		if buffer == nil {
			continue
		}
		part := (&flow{place: place.Outer(), from: map[*types.Var]bool{buffer: true}}).only()
		if part == nil {
			continue
		}
		clone := "strings.Clone"
		if !syntax.IsString(place, part) {
			clone = "bytes.Clone"
		}
		text := syntax.Text(part)
		matches = append(matches, rule.Match{
			Site: s, Live: s.Live, Confidence: rule.Likely, // how small the part is, is not seen
			Cause: fmt.Sprintf("Line %d keeps %s, a part of %s. It keeps all of the %s allocated here in memory: %s are live.",
				syntax.Line(place, part.Pos()), text, buffer.Name(), units.Bytes(float64(live)/float64(objects)), units.Bytes(float64(live))),
			Fix:      fmt.Sprintf("Keep a copy: %s(%s).", clone, text),
			Evidence: []rule.Evidence{{What: "live memory made by the line", Value: fmt.Sprintf("%s in %d objects", units.Bytes(float64(live)), objects), Command: evidence.ListCommand(p, "inuse_space", s.Function)}},
		})
	}
	return matches, nil
}

// made is the local variable that takes the string or the bytes that the line makes.
func made(p *gocode.Place) *types.Var {
	for _, call := range syntax.Calls(p) {
		v := syntax.Result(p, call)
		if v == nil {
			continue
		}
		if syntax.LocalVar(p, ident(p, call)) == v && contiguous(v.Type()) {
			return v
		}
	}
	return nil
}

// ident is the identifier that takes the first result of a call.
func ident(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if a, ok := syntax.Parent(p, call).(*ast.AssignStmt); ok {
		return a.Lhs[0]
	}
	return call
}

// contiguous reports whether parts of a value share its memory: strings and slices of bytes.
func contiguous(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && b.Kind() == types.Uint8
	}
	return false
}

// flow follows a buffer through a function.
type flow struct {
	place *gocode.Place
	from  map[*types.Var]bool // the buffer, then variables that hold all or parts of it
}

// only returns the one part of the buffer that the function keeps or returns; nil when there is none, when there
// are several, or when the buffer as a whole may get out.
func (f *flow) only() ast.Expr {
	f.spread()
	var parts []ast.Expr
	whole := false
	ast.Inspect(f.place.Decl, func(n ast.Node) bool {
		for _, e := range f.outlets(n) {
			switch {
			case f.part(e):
				parts = append(parts, e)
			case f.names(e):
				whole = true
			}
		}
		return true
	})
	if whole || len(parts) != 1 {
		return nil
	}
	for _, loop := range loops.Around(f.place, parts[0]) {
		if f.names(loop) && !f.declaredIn(loop) {
			return nil // each iteration keeps another part of the same buffer
		}
	}
	return parts[0]
}

// declaredIn reports whether the buffer is re-created in each iteration of a loop.
func (f *flow) declaredIn(loop ast.Node) bool {
	for v := range f.from {
		if v.Pos() < loop.Pos() || v.Pos() >= loop.End() {
			return false
		}
	}
	return true
}

// spread adds the local variables that are made of parts of the buffer.
func (f *flow) spread() {
	for range 4 { // parts of parts
		ast.Inspect(f.place.Decl, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Rhs) != 1 || !f.part(a.Rhs[0]) {
				return true
			}
			for _, lhs := range a.Lhs {
				if v := syntax.LocalVar(f.place, lhs); v != nil && contiguous(v.Type()) {
					f.from[v] = true
				}
			}
			return true
		})
	}
}

// outlets are the expressions by which a value leaves the function at a node: what is returned, sent, assigned to
// fields, elements and package variables or appended, and what functions that may keep it are called with.
func (f *flow) outlets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.ReturnStmt:
		return n.Results
	case *ast.SendStmt:
		return []ast.Expr{n.Value}
	case *ast.CompositeLit:
		var out []ast.Expr
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			out = append(out, e)
		}
		return out
	case *ast.AssignStmt:
		var out []ast.Expr
		for i, lhs := range n.Lhs {
			if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
				out = append(out, x.Index) // a map keeps its keys
			}
			if syntax.LocalVar(f.place, lhs) == nil && len(n.Lhs) == len(n.Rhs) {
				out = append(out, n.Rhs[i])
			}
		}
		return out
	case *ast.CallExpr:
		name := f.place.CalleeName(n)
		if _, conversion := f.place.Conversion(n); conversion || cuts(name) || copies(name) {
			return nil
		}
		return n.Args
	}
	return nil
}

// cuts reports whether a function's results are parts of its first argument.
func cuts(name string) bool {
	return funcname.Match(name, "strings.Cut*", "strings.Trim*", "strings.TrimSpace", "bytes.Cut*", "bytes.Trim*")
}

// copies reports whether a function keeps nothing of its arguments.
func copies(name string) bool {
	return funcname.Match(name, "len", "copy", "print*", "strconv.*", "unicode/utf8.*", "hash/*", "crypto/*", "fmt.Fprint*", "fmt.Print*", "fmt.Sprint*",
		"strings.Clone", "strings.Compare", "strings.Contains*", "strings.Count", "strings.EqualFold", "strings.Has*", "strings.Index*", "strings.LastIndex*", "(*strings.Builder).Write*",
		"bytes.Clone", "bytes.Compare", "bytes.Contains*", "bytes.Count", "bytes.Equal*", "bytes.Has*", "bytes.Index*", "bytes.LastIndex*", "(*bytes.Buffer).Write*", "encoding/json.Unmarshal")
}

// part reports whether an expression is a piece of the buffer, or of a piece.
func (f *flow) part(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return (x.Low != nil || x.High != nil) && f.holds(x.X)
	case *ast.CallExpr:
		return cuts(f.place.CalleeName(x)) && len(x.Args) > 0 && f.holds(x.Args[0])
	case *ast.Ident:
		v, ok := f.place.Object(x).(*types.Var)
		return ok && f.from[v] && !f.buffer(v)
	}
	return false
}

// holds reports whether an expression is the buffer or a part.
func (f *flow) holds(e ast.Expr) bool {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		v, ok := f.place.Object(id).(*types.Var)
		return ok && f.from[v]
	}
	return f.part(e)
}

// buffer reports whether a variable is the buffer itself: the first that is declared.
func (f *flow) buffer(v *types.Var) bool {
	for w := range f.from {
		if w.Pos() < v.Pos() {
			return false
		}
	}
	return true
}

// names reports whether the buffer or a part is named anywhere below a node, other than in calls that keep
// nothing.
func (f *flow) names(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if name := f.place.CalleeName(n); copies(name) && !cuts(name) {
				return false
			}
		case *ast.Ident:
			v, ok := f.place.Object(n).(*types.Var)
			found = found || ok && f.from[v]
		}
		return !found
	})
	return found
}
