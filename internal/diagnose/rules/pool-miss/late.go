package poolmiss

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// late finds what values that their pool has lost allocate at their first use: a writer of
// compress/gzip creates its compressor, of 800 KB, in its first Write. The writer itself is too
// small for a sample of New.
type late struct {
	pass  *rule.Pass
	known map[string][]taken // by function, as profiles name it
}

// taken is a value that a function takes from a pool and loses.
type taken struct {
	loss
	methods string // what the names of the methods of its type start with: "compress/gzip.(*Writer)."
}

// atFirstUse returns a line that finds the lines of such first uses.
func atFirstUse(p *rule.Pass) []finder.Line {
	l := late{pass: p, known: map[string][]taken{}}
	return []finder.Line{{Start: finder.Frames(l.user), Judge: l.judge}}
}

// nearTaker is the maximum distance in frames between a method of a value and the function that
// takes the value.
const nearTaker = 4

// user returns the index of the frame that takes and loses a value, below which a method of the
// value calls a constructor; -1 for none.
func (l late) user(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		method := r.Stack[i].Function
		if !constructs(r.Stack[i-1].Function) || !strings.Contains(method, ".(*") {
			continue
		}
		for j := i + 1; j < len(r.Stack) && j <= i+nearTaker; j++ {
			if _, ok := l.taken(r.Stack[j], method); ok {
				return j
			}
		}
	}
	return -1
}

// constructs reports whether a function is a constructor by its name.
func constructs(function string) bool {
	name := function[strings.LastIndexByte(function, '.')+1:]
	return strings.HasPrefix(name, "New") || strings.HasPrefix(name, "new")
}

// taken returns the value with that method that the function of a frame loses.
func (l late) taken(f *site.Frame, method string) (taken, bool) {
	if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
		return taken{}, false
	}
	all, ok := l.known[f.Function]
	if !ok {
		all = l.losses(f)
		l.known[f.Function] = all
	}
	for _, t := range all {
		if strings.HasPrefix(method, t.methods) {
			return t, true
		}
	}
	return taken{}, false
}

// losses returns the values that the function of a frame takes from pools and loses.
func (l late) losses(f *site.Frame) (all []taken) {
	p := l.pass.Place(&site.Site{Frame: *f})
	if p == nil || p.Decl == nil || p.Func != p.Decl {
		return nil
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || p.CalleeName(call) != get {
			return true
		}
		if v, ok := lossOf(p, call); ok && v.value != nil {
			if methods := methodsOf(v.value.Type()); methods != "" {
				all = append(all, taken{loss: v, methods: methods})
			}
		}
		return true
	})
	return all
}

// methodsOf returns what the names of a pointer type's methods start with in profiles; "" for other
// types.
func methodsOf(t types.Type) string {
	ptr, ok := t.(*types.Pointer)
	if !ok {
		return ""
	}
	named, ok := types.Unalias(ptr.Elem()).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.TypeArgs().Len() > 0 {
		return ""
	}
	return named.Obj().Pkg().Path() + ".(*" + named.Obj().Name() + ")."
}

func (l late) judge(c *finder.Case) bool {
	for _, t := range l.known[c.Site.Function] {
		c.Cause = t.words + ": a new one takes its place, and its first use creates its state here."
		c.Fix, c.Confidence = t.fix, t.confidence
		return true
	}
	return false
}
