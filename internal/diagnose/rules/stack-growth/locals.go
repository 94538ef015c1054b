package stackgrowth

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastLocal is the minimum size, in bytes, of a variable that alone outgrows a stack: goroutines
// start with 2 KiB, or with the average stack size.
const leastLocal = 4 << 10

// local is a large variable on the stack of a function; without a name, there is none.
type local struct {
	name, function string
	bytes          int64
}

// String describes the variable for a sentence.
func (l local) String() string {
	return fmt.Sprintf("the %s of %s in %s", units.Bytes(float64(l.bytes)), l.name, l.function)
}

// locals finds the largest variables of functions. It remembers them by function.
type locals struct {
	pass  *rule.Pass
	known map[string]local
}

// large returns the main module's first frame from index at whose function has a large variable, or
// nil.
func (l locals) large(r *site.Row, at int) *site.Frame {
	for _, f := range r.Stack[at:] {
		if f.Owner.Kind == gocode.Main && l.of(f).name != "" {
			return f
		}
	}
	return nil
}

// of returns the largest variable on the stack of a frame's function.
func (l locals) of(f *site.Frame) local {
	if known, ok := l.known[f.Function]; ok {
		return known
	}
	var largest local
	s := &site.Site{Frame: *f}
	if p := l.pass.Place(s); p != nil && p.Func != nil && evidence.HasFacts(l.pass, s) {
		for id, obj := range p.Info.Defs {
			v, ok := obj.(*types.Var)
			if !ok || syntax.LocalVar(p, id) == nil || !owns(p.Func, id) || syntax.Generic(v.Type()) {
				continue
			}
			size := syntax.Sizes().Sizeof(v.Type())
			if size < leastLocal || size < largest.bytes || size == largest.bytes && v.Name() > largest.name || l.onHeap(f, syntax.Line(p, id.Pos()), v.Name()) {
				continue
			}
			largest = local{v.Name(), syntax.FuncName(p), size}
		}
	}
	l.known[f.Function] = largest
	return largest
}

// owns reports whether a function, and not a literal inside it, declares an identifier.
func owns(fn ast.Node, id *ast.Ident) bool {
	if !syntax.Inside(fn, id.Pos()) {
		return false
	}
	inner := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && n != fn && syntax.Inside(lit, id.Pos()) {
			inner = true
		}
		return !inner
	})
	return !inner
}

// onHeap reports whether the compiler moved the variable that a line declares to the heap.
func (l locals) onHeap(f *site.Frame, line int, name string) bool {
	at := *f
	at.Line = line
	words, _ := evidence.Escapes(l.pass, &site.Site{Frame: at})
	return slices.ContainsFunc(words, func(w string) bool { return evidence.Escaping(w) == name })
}
