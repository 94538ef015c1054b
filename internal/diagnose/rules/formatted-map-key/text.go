package formattedmapkey

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostBelow is how many functions of the program the text of a value may take.
const mostBelow = 4

// written is a call of a function of the package that makes a text of a value, which is only a key:
// of a String method, say.
type written struct {
	call *ast.CallExpr
	decl *ast.FuncDecl
	in   ast.Expr // the map
}

// writes returns the frame that gets a text from a function of the package, only as a key; -1 for
// none.
func (s *search) writes(r *site.Row) int {
	for i := r.Owner + 1; r.Owner >= 0 && i < len(r.Stack) && i <= r.Owner+mostBelow; i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			return -1
		}
		if w := s.written.At(f); w != nil {
			if in, ok := s.pass.Syntax.At(r.Stack[i-1].File, r.Stack[i-1].Line); ok && in.Decl == w.decl {
				return i
			}
		}
	}
	return -1
}

// ofValue returns the call on a line that makes the text of a value, if that is only a key.
func (s *search) ofValue(f *site.Frame, p *gocode.Place) *written {
	if p.Decl == nil {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		decl := p.Declaration(p.Callee(call))
		if decl == nil || decl.Body == nil || !syntax.IsString(p, call) || !describes(p, decl) || len(decl.Body.List) < 2 {
			continue
		}
		if in := p.Entry(decl); !builds(in) || !effects.LooksPure(in) {
			continue
		}
		u := uses{search: s, frame: f, place: p}
		if u.onlyKey(call, false) && u.in != nil && (syntax.LocalVar(p, u.in) != nil || exact(given(p, decl))) {
			return &written{call, decl, u.in}
		}
	}
	return nil
}

// describes reports whether a function has only a text as its result, and gets something other than
// texts: those it would normalize.
func describes(p *gocode.Place, decl *ast.FuncDecl) bool {
	fn, ok := p.Object(decl.Name).(*types.Func)
	return ok && fn.Signature().Results().Len() == 1 && slices.ContainsFunc(given(p, decl), func(v *types.Var) bool {
		switch t := v.Type().Underlying().(type) {
		case *types.Basic:
			return t.Info()&types.IsString == 0
		case *types.Slice:
			b, ok := t.Elem().Underlying().(*types.Basic)
			return !ok || b.Kind() != types.Byte
		}
		return true
	})
}

// given returns the parameters of a function and its receiver.
func given(p *gocode.Place, decl *ast.FuncDecl) (all []*types.Var) {
	fn, ok := p.Object(decl.Name).(*types.Func)
	if !ok {
		return nil
	}
	all = slices.Collect(fn.Signature().Params().Variables())
	if to := fn.Signature().Recv(); to != nil {
		all = append(all, to)
	}
	return all
}

// exact reports whether a struct of some values can be a key instead of their text. A map that is
// kept, such as a cache, needs that: two values may have the same hash.
func exact(values []*types.Var) bool {
	return !slices.ContainsFunc(values, func(v *types.Var) bool {
		t := v.Type()
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		return !plain(t)
	})
}

// plain reports whether values of a type are equal exactly if their contents are.
func plain(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Array:
		return plain(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if !plain(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// builds reports whether a function builds a text of several parts.
func builds(p *gocode.Place) bool {
	found := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || funcname.Match(p.CalleeName(n), "fmt.Sprint*", "fmt.Fprint*", "fmt.Append*", "strings.Join", "(*strings.Builder).Write*",
				"(*bytes.Buffer).Write*", "encoding/json.Marshal*", "strconv.Append*")
		case *ast.BinaryExpr:
			_, constant := p.Const(n)
			found = found || syntax.IsString(p, n) && !constant
		}
		return !found
	})
	return found
}

func (w *written) judge(c *finder.Case) bool {
	for _, r := range c.CPU {
		if i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.File == c.Site.File && f.Line == c.Site.Line }); i > 0 {
			c.Callees = []string{r.Stack[i-1].Function}
			break
		}
	}
	c.Confidence = rule.Likely // the values may be of many kinds, and then need a hash
	// What remains is hashing the values. Of a value with a map of five texts, a hash of its sorted
	// entries takes a third of what a text of it takes (worked out by hand).
	c.Fraction = &rule.Fraction{Expect: 0.65, Low: 0.3, High: 0.95}
	c.Cause = fmt.Sprintf("%s makes a text of the value for each lookup, and the text is only a key of %s: nothing shows or sends it.", syntax.Text(w.call), syntax.Text(w.in))
	c.Fix = fmt.Sprintf("Use a key that is not a text: a comparable struct of the fields, or a number that the value has already. If the value has lists or maps, hash it to 64 bits (hash/maphash) without formatting it, and let %s have the hash as its key.", syntax.Text(w.in))
	return true
}
