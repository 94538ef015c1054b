// Package retainedsubstring finds small parts of large buffers that keep the buffers in memory, and
// arrays of lists that keep elements which were taken out.
package retainedsubstring

import (
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
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// large is the minimum mean size, in bytes, of buffers that are worth copying a part out of.
	large = 1 << 10
	// leastShare of the live memory that the line must have allocated.
	leastShare = 0.05
)

// Rule is retained-substring.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "retained-substring",
		Kind:  rule.Leak,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "A small part of a buffer, or a slot of a queue, keeps memory alive",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// The size of the kept part is unknown.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.3, High: 1},
				Specificity: 1,
			},
			Lines: []finder.Line{{
				Start: finder.Sites(func(s *site.Site) rule.Match { return rule.Match{Site: s, Live: s.Live} }),
				Judge: judgeAll,
			}},
		},
	}
}

const doc = `A substring or a sub-slice points into the memory that it was sliced from, and
keeps all of that memory alive: a title of twenty bytes keeps the whole
document. The heap profile shows live memory at the line that read the document,
though nothing seems to refer to it.

Copy what is kept: strings.Clone(part), bytes.Clone(part).

In the same way list = list[:n-1] keeps the array of the list, and the pointer
behind the new end. A queue that returns slots[i] and only moves i on keeps each
element, with all that it refers to, until the slot is used again: a pool of
workers so keeps the tasks that have ended. Set the slot to nil before.

It is fine when most of the buffer is kept in parts anyway: then one buffer is
cheaper than many copies. The rule follows live buffers through results,
parameters and fields to the stores, and reports those of which only small parts
are stored; functions that keep a few values which other packages read out of a
buffer, if so many buffers are live that something must keep them; and elements
that are live although the only list for them is often empty, as counted.

Seen in the field: betterleaks/betterleaks#308, cortexproject/cortex#4739,
praetorian-inc/titus#77, rclone/rclone#8684, mulgadc/viperblock#20 (blocks of a
request's buffer in a cache); golang/go#69370 was the same in package unique;
jellydator/ttlcache#62 (the slots of a heap).`

// judgeAll asks about parts of large objects, and about elements of lists. The question that
// follows values farthest is first: when it sees that the buffer as a whole is stored, the next two
// need not be asked.
func judgeAll(c *finder.Case) bool {
	live, objects := stacks.Sum(c.Live)
	if objects > 0 && live/objects >= large {
		found, stored := pins(c)
		if found || !stored && (judge(c) || readParts(c)) {
			return true
		}
	}
	return popped(c) || handed(c)
}

func judge(c *finder.Case) bool {
	live, objects := stacks.Sum(c.Live)
	if float64(live) < leastShare*float64(c.Pass.Table.Totals.LiveBytes) {
		return false
	}
	buffer := made(c.Place)
	if buffer == nil {
		return false
	}
	part := (&escape{place: c.Place.Outer(), from: map[*types.Var]bool{buffer: true}}).only()
	if part == nil {
		return false
	}
	clone := "strings.Clone"
	if !syntax.IsString(c.Place, part) {
		clone = "bytes.Clone"
	}
	text := syntax.Text(part)
	c.Confidence = rule.Likely // the size of the part is unknown
	c.Cause = fmt.Sprintf("Line %d keeps %s, a part of %s, which keeps all of the %s allocated here in memory: %s are live.",
		syntax.Line(c.Place, part.Pos()), text, buffer.Name(), units.Bytes(float64(live)/float64(objects)), units.Bytes(float64(live)))
	c.Fix = fmt.Sprintf("Keep a copy: %s(%s).", clone, text)
	c.Evidence = []rule.Evidence{{
		What:    "live memory allocated by the line",
		Value:   fmt.Sprintf("%s in %d objects", units.Bytes(float64(live)), objects),
		Command: evidence.ListCommand(c.Pass, "inuse_space", c.Site.Function),
	}}
	return true
}

// made returns the local variable that the line sets to a new string or byte slice; nil for none.
func made(p *gocode.Place) *types.Var {
	for _, call := range syntax.Calls(p) {
		v := syntax.Result(p, call)
		if v == nil {
			continue
		}
		if syntax.LocalVar(p, ident(p, call)) == v && syntax.StringOrBytes(v.Type()) {
			return v
		}
	}
	return nil
}

// ident returns the expression that the first result of a call is assigned to.
func ident(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if a, ok := syntax.Parent(p, call).(*ast.AssignStmt); ok {
		return a.Lhs[0]
	}
	return call
}

// escape follows a buffer through a function.
type escape struct {
	place *gocode.Place
	from  map[*types.Var]bool // the buffer, and variables that hold all or parts of it
}

// only returns the one part of the buffer that the function keeps or returns; nil when there is
// none, when there are several, or when the buffer as a whole may escape.
func (f *escape) only() ast.Expr {
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

// declaredIn reports whether each iteration of a loop declares the buffer again.
func (f *escape) declaredIn(loop ast.Node) bool {
	for v := range f.from {
		if v.Pos() < loop.Pos() || v.Pos() >= loop.End() {
			return false
		}
	}
	return true
}

// spread adds the local variables that parts of the buffer are assigned to.
func (f *escape) spread() {
	for range 4 { // parts of parts
		ast.Inspect(f.place.Decl, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Rhs) != 1 || !f.part(a.Rhs[0]) {
				return true
			}
			for _, lhs := range a.Lhs {
				if v := syntax.LocalVar(f.place, lhs); v != nil && syntax.StringOrBytes(v.Type()) {
					f.from[v] = true
				}
			}
			return true
		})
	}
}

// outlets returns the expressions at a node whose values may outlive the function: results, values
// that are sent, appended or assigned to fields, elements and package variables, and arguments of
// functions that may keep them.
func (f *escape) outlets(n ast.Node) []ast.Expr {
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

// cuts reports whether the results of a function are parts of its first argument.
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
func (f *escape) part(e ast.Expr) bool {
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
func (f *escape) holds(e ast.Expr) bool {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		v, ok := f.place.Object(id).(*types.Var)
		return ok && f.from[v]
	}
	return f.part(e)
}

// buffer reports whether a variable is the buffer itself: the first that is declared.
func (f *escape) buffer(v *types.Var) bool {
	for w := range f.from {
		if w.Pos() < v.Pos() {
			return false
		}
	}
	return true
}

// names reports whether a node mentions the buffer or a part of it, outside calls that keep
// nothing.
func (f *escape) names(n ast.Node) bool {
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
