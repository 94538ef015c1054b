// Package ctorpercall finds values that an unknown function re-creates on every call though nothing
// about them depends on the call.
package ctorpercall

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// heavy is the minimum size, in bytes, that one value must allocate to be worth a pool.
const heavy = 1024

// Rule is ctor-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "ctor-per-call",
		Kind:  rule.Alloc,
		Title: "Same large value re-created on every call",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				Removes: true,
				// The rows are all of the construction. A package variable saves all of it. A pool
				// loses some values at each collection, and each value has to be reset.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: -1, // a rule that knows the constructor gives better advice
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function that runs many times calls a constructor whose arguments are always
the same: constants, package variables, or none. It uses the result only itself,
so each call allocates and fills the same large value, and discards it. The rule
does not depend on any library. It examines what the call allocates according to
the profile, where the arguments come from and the result goes, and the name
(New, Open, Build, Parse, …).

Create the value once, in a package variable or a field, if its use does not
change it. If it does, keep values in a sync.Pool and reset them.

It is fine when each use needs a value of its own that cannot be reset, and when
the constructor's result changes from call to call (the time, a random number, a
file that is edited). The rule cannot see that, so its findings are at most
likely.

Seen in the field: flipt-io/flipt#170 and labstack/echo#1672 (writers),
gobeam/stringy#27 (patterns), grafana/loki#20647 (buffers).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	if p.Syntax == nil {
		return finder.Line{} // only the source shows what a call depends on
	}
	s := search{pass: p, known: map[pair]bool{}}
	return finder.Line{Start: finder.Frames(s.caller), Judge: guilty}
}

// search caches, by line and function, the calls of such constructors.
type search struct {
	pass  *rule.Pass
	known map[pair]bool
}

// pair is a line and the function that it calls.
type pair struct {
	line   *site.Frame
	callee string
}

// caller returns the frame of a row nearest to its leaf that calls such a constructor.
func (s *search) caller(r *site.Row) int {
	for i := max(r.Owner, 1); i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		at := pair{f, r.Stack[i-1].Function}
		yes, seen := s.known[at]
		if !seen {
			if place, ok := s.pass.Syntax.At(f.File, f.Line); ok {
				yes = constructor(place, at.callee) != nil
			}
			s.known[at] = yes
		}
		if yes {
			return i
		}
	}
	return -1
}

// constructor returns the call on the line of a function, given by its name in profiles, that
// creates the same value every time for this function alone; nil when there is none.
func constructor(p *gocode.Place, callee string) *ast.CallExpr {
	name := funcname.Typed(callee)
	if rest, ok := cutMain(name); ok {
		name = p.Pkg.Path() + rest // a main package cannot be imported, so it is this one
	}
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil || gocode.FullName(fn) != name || fn.Signature().Recv() != nil || !named(fn) || !makes(fn) {
			continue
		}
		if loops.PerCall(p, call) && settled(p, call) && staysHere(p, call) {
			return call
		}
	}
	return nil
}

func cutMain(name string) (string, bool) {
	const pkg = "main"
	if len(name) > len(pkg) && name[:len(pkg)] == pkg && name[len(pkg)] == '.' {
		return name[len(pkg):], true
	}
	return "", false
}

// verbs are the first words of the names of constructors. Other functions (Load, List, Users) may
// return something different each time for the same arguments.
var verbs = []string{"new", "make", "build", "create", "open", "compile", "parse", "must", "init", "default", "setup"}

func named(fn *types.Func) bool {
	name := strings.ToLower(fn.Name())
	return slices.ContainsFunc(verbs, func(v string) bool { return strings.HasPrefix(name, v) })
}

// makes reports whether a function returns a value that can be kept: a pointer, interface, map,
// slice, struct or function, but not bytes, and no type whose values are for one use.
func makes(fn *types.Func) bool {
	results := fn.Signature().Results()
	if results.Len() == 0 || results.Len() > 2 {
		return false
	}
	t := results.At(0).Type()
	if single(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Struct, *types.Signature:
		return true
	case *types.Interface:
		return !types.Identical(t, types.Universe.Lookup("error").Type())
	case *types.Slice:
		basic, ok := u.Elem().Underlying().(*types.Basic)
		return !ok || basic.Kind() != types.Byte
	}
	return false
}

// single reports whether values of a type are for one use: requests, contexts, timers, files,
// connections, and types with fields or elements of these.
func single(t types.Type) bool {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil &&
		slices.Contains([]string{"context", "time", "net", "net/http", "net/http/httptest", "os", "os/exec", "testing", "sync", "iter"}, named.Obj().Pkg().Path()) {
		return true
	}
	return holds(t, 4)
}

// holds reports whether a value has timers, files, connections or commands in its fields or
// elements, down to a depth.
func holds(t types.Type, depth int) bool {
	if named, ok := t.(*types.Named); ok {
		name := types.TypeString(named, nil)
		if slices.Contains([]string{"time.Timer", "time.Ticker", "os.File", "os/exec.Cmd", "net.Conn", "net/http.Response"}, name) {
			return true
		}
	}
	if depth == 0 {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return holds(u.Elem(), depth-1)
	case *types.Slice:
		return holds(u.Elem(), depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if holds(f.Type(), depth-1) {
				return true
			}
		}
	}
	return false
}

// settled reports whether all arguments are the same in every call of the function.
func settled(p *gocode.Place, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if !constantValue(p, arg) {
			return false
		}
	}
	return true
}

func constantValue(p *gocode.Place, e ast.Expr) bool {
	e = syntax.Origin(p, e)
	if syntax.Fixed(p, e) || p.Info.Types[e].IsNil() {
		return true
	}
	switch x := e.(type) {
	case *ast.Ident:
		switch obj := p.Object(x).(type) {
		case *types.Func:
			return true
		case *types.Var:
			return obj.Parent() == obj.Pkg().Scope()
		}
	case *ast.SelectorExpr:
		if _, isFunc := p.Object(x.Sel).(*types.Func); isFunc && p.Info.Selections[x] == nil {
			return true
		}
		v, _ := syntax.Var(p, x)
		return v != nil && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
	case *ast.UnaryExpr:
		lit, ok := x.X.(*ast.CompositeLit)
		return ok && constantValue(p, lit)
	case *ast.CompositeLit:
		for _, elt := range x.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if !constantValue(p, elt) {
				return false
			}
		}
		return true
	}
	return false
}

// guilty fills in the words if the call allocates enough.
func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	each := perCall(m.Allocs)
	if each < heavy {
		return false
	}
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil || constructor(p, gocode.FullName(fn)) != call {
			continue
		}
		m.Cause = fmt.Sprintf("%s calls %s each time it runs, with arguments that never differ, and uses the result only there: the same value is allocated again in each call, about %s.",
			syntax.FuncName(p), symbol.Short(gocode.FullName(fn)), units.Bytes(each))
		m.Fix = fmt.Sprintf("Create it once, in a package variable or a field (%s), if its use does not change it; else keep values in a sync.Pool and reset them.", syntax.Text(call))
		m.Confidence = rule.Likely
		return true
	}
	return false
}

// perCall estimates what one call allocates. It assumes that the line below it that allocates the
// largest objects runs once a call.
func perCall(rows []*site.Row) float64 {
	var bytes, calls, largest float64
	for _, r := range rows {
		bytes += float64(r.Value)
		if r.Count <= 0 {
			continue
		}
		if size := float64(r.Value) / float64(r.Count); size > largest {
			largest, calls = size, float64(r.Count)
		}
	}
	if calls == 0 {
		return 0
	}
	return bytes / calls
}
