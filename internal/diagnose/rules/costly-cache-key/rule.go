// Package costlycachekey finds keys of caches that are computed from much that the program keeps.
package costlycachekey

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// mostStored is the largest share of the lookups after which a value is stored.
	mostStored = 0.2
	// leastEach is the minimum time to compute the key, in seconds.
	leastEach = 500e-9
)

// Rule is costly-cache-key.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "costly-cache-key",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Key of a cache computed from all that the cached value depends on",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// A version and the argument replace the key.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 4, // how the key is computed does not matter if it is not
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A cache keeps an expensive result: the permissions of a user, a merged
configuration. Its key has to change when the result would, so a function goes
through all that the result depends on (the roles of the user and their
revisions), sorts, formats and hashes it. It does so for each lookup. The cache
hits nearly always, and still takes about as long as without it.

Use what the caller asks for as the key, and a version that is counted up where
something that the result depends on changes: keep the version with the result,
and compare it on a hit. Or remove the entry of the user where a role changes. If
the hash is needed, keep it beside the object, and compute it where that changes.

It is fine where the key is the hash of what came with the request. The rule
reports functions that get only plain values and objects that the program keeps,
go through their lists or encode them, take at least half a microsecond, and
return the key of a lookup of which at most a fifth is followed by a store, as
counted.

Seen in the field: rancher/rancher#44824 (keys of a cache of permissions, hashed
for each request: among the most expensive work of large servers).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, kept: map[string]bool{}}
	s.edges = finder.RememberEdges(s.look)
	return finder.Line{Start: finder.Frames(s.farthest), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	edges *finder.Edges[key]
	kept  map[string]bool // whether the program keeps the objects of a key, by the frames that decide
}

// deepest is the number of frames above a call that decide where its arguments come from.
const deepest = 6

// farthest returns the frame nearest the root that computes the key of a cache, of plain values and
// of objects that the program keeps; -1 for none.
func (s *search) farthest(r *site.Row) int {
	for i := len(r.Stack) - 1; i > 0; i-- {
		if k := r.Stack[i].Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if k := s.edges.At(r.Stack[i], r.Stack[i-1]); k != nil && (len(k.objects) == 0 || s.keeps(r.Stack, i, k)) {
			return i
		}
	}
	return -1
}

// keeps reports whether the objects of which a key is computed come from fields and package
// variables, not with the request.
func (s *search) keeps(stack []*site.Frame, i int, k *key) bool {
	path := stacks.Key(stack[i:], deepest)
	is, seen := s.kept[path]
	if !seen {
		p, ok := s.pass.Syntax.At(stack[i].File, stack[i].Line)
		is = ok && !slices.ContainsFunc(k.objects, func(e ast.Expr) bool {
			from, ok := kept.From(s.pass.Syntax, stack, i, p, e)
			return !ok || from.Built
		})
		s.kept[path] = is
	}
	return is
}

// key is a call that computes the key of a cache.
type key struct {
	call    *ast.CallExpr
	callee  string // as profiles name it
	cache   ast.Expr
	lookups float64 // for each unit of work
	stores  float64
	filled  bool       // there are stores
	reads   string     // a list or map that the function reads
	objects []ast.Expr // arguments that are not plain: objects
}

// look returns the call at an edge, if it computes the key of a cache that mostly hits.
func (s *search) look(f, below *site.Frame) *key {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	p := place.Outer()
	for _, call := range syntax.CallsTo(place, below.Function) {
		v := syntax.LocalVar(p, syntax.OrBad(syntax.AssignedTo(p, call)))
		decl := p.Declaration(p.Callee(call))
		if v == nil || decl == nil || decl.Body == nil {
			continue
		}
		var objects []ast.Expr
		for _, arg := range call.Args {
			if !plain(p.TypeOf(arg)) && !receives(p, arg) {
				objects = append(objects, arg)
			}
		}
		if !ownReceiver(p, call) {
			continue // a request that computes its own key
		}
		k := &key{call: call, callee: below.Function, objects: objects, reads: keptIn(p.Entry(decl), 3)}
		if k.reads != "" && s.looksUp(p, v, k) && k.lookups > 0 && k.filled && k.stores <= mostStored*k.lookups {
			return k
		}
	}
	return nil
}

// plain reports whether values of a type are short texts or numbers.
func plain(t types.Type) bool {
	if t == nil {
		return false
	}
	_, basic := t.Underlying().(*types.Basic)
	return basic
}

// ownReceiver reports whether a call is of a function, or of a method of what the program keeps:
// the receiver of the function, a field or a package variable.
func ownReceiver(p *gocode.Place, call *ast.CallExpr) bool {
	to := methodOf(p, call)
	return to == nil || receives(p, to) || lasting(p, to) != nil
}

// beside reports whether a cache belongs to the receiver for which the key is computed. If not, the
// receiver may be a request, of which there are many.
func beside(p *gocode.Place, call *ast.CallExpr, cache ast.Expr) bool {
	sel, _ := ast.Unparen(cache).(*ast.SelectorExpr)
	for _, e := range append([]ast.Expr{methodOf(p, call)}, call.Args...) {
		if e != nil && receives(p, e) && (sel == nil || !syntax.Same(p, sel.X, e)) {
			return false
		}
	}
	return true
}

// methodOf returns what a call calls a method of; nil for functions.
func methodOf(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if _, method := p.Info.Selections[sel]; method {
			return sel.X
		}
	}
	return nil
}

// receives reports whether an expression is the receiver of the function.
func receives(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	return v != nil && p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos())
}

// looksUp reports whether all uses of a variable are keys of one map or cache that the program
// keeps, and notes how often it is looked up and stored.
func (s *search) looksUp(p *gocode.Place, v *types.Var, k *key) bool {
	for _, id := range syntax.Reads(p, v) {
		cache, stores := use(p, id)
		if cache == nil || !beside(p, k.call, cache) || k.cache != nil && !syntax.Same(p, cache, k.cache) {
			return false
		}
		runs, ok := evidence.ReachedAt(s.pass, p, id.Pos())
		if !ok {
			return false
		}
		if k.cache = cache; stores {
			k.stores, k.filled = k.stores+runs, true
		} else {
			k.lookups = max(k.lookups, runs)
		}
	}
	return k.cache != nil
}

// use returns the map or cache of which a variable is the key, and whether something is stored
// there; nil for other uses.
func use(p *gocode.Place, id *ast.Ident) (cache ast.Expr, stores bool) {
	switch up := syntax.Parent(p, id).(type) {
	case *ast.IndexExpr:
		if up.Index != ast.Expr(id) || lasting(p, up.X) == nil {
			return nil, false
		}
		a, ok := syntax.Parent(p, up).(*ast.AssignStmt)
		return up.X, ok && slices.Contains(a.Lhs, ast.Expr(up))
	case *ast.CallExpr:
		sel, ok := ast.Unparen(up.Fun).(*ast.SelectorExpr)
		if !ok || !slices.Contains(up.Args, ast.Expr(id)) || lasting(p, sel.X) == nil {
			return nil, false
		}
		switch sel.Sel.Name {
		case "Get", "Load", "Peek", "Lookup", "Find", "Contains":
			return sel.X, false
		case "Set", "Add", "Put", "Store", "SetWithTTL", "LoadOrStore":
			return sel.X, true
		}
	}
	return nil, false
}

// lasting returns the field or package variable that an expression names; nil for others.
func lasting(p *gocode.Place, e ast.Expr) *types.Var {
	v := syntax.Named(p, e)
	if v == nil || !v.IsField() && v.Parent() != p.Pkg.Scope() {
		return nil
	}
	return v
}

// keptIn returns a list, a map or an object that the program keeps and that a function, or one that
// it calls, goes through or encodes; "" for none.
func keptIn(p *gocode.Place, depth int) (found string) {
	loops := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if e := encoded(p, n); e != nil {
				loops, found = true, syntax.Text(e)
			}
		case *ast.RangeStmt, *ast.ForStmt:
			loops = true
		case *ast.SelectorExpr:
			if v := lasting(p, n); v != nil && found == "" && collection(v.Type()) {
				found = syntax.Text(n)
			}
		}
		return true
	})
	if loops && found != "" {
		return found
	}
	if depth == 0 {
		return ""
	}
	inner := ""
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || inner != "" {
			return inner == ""
		}
		if decl := p.Declaration(p.Callee(call)); decl != nil && decl.Body != nil && decl != p.Decl {
			inner = keptIn(p.Entry(decl), depth-1)
		}
		return true
	})
	return inner
}

// encoded returns a parameter, the receiver or a field of one that a call encodes as a whole; nil
// for none.
func encoded(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if !funcname.Match(p.CalleeName(call), append(funcname.TypedAll(codecs.Encoders()), "fmt.Sprint*", "fmt.Fprint*", "fmt.Append*")...) {
		return nil
	}
	for _, arg := range call.Args {
		root, _ := syntax.Var(p, arg)
		if root == nil || !syntax.Param(p, root) {
			continue
		}
		switch syntax.Pointed(p.TypeOf(arg)).Underlying().(type) {
		case *types.Struct, *types.Slice, *types.Map:
			return arg
		}
	}
	return nil
}

func collection(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	}
	return false
}

func (s *search) judge(c *finder.Case) bool {
	k := s.edges.From(&c.Site.Frame)
	if k == nil {
		return false
	}
	nanoseconds, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9)
	if !known || each < leastEach {
		return false
	}
	name, cache := symbol.Short(c.Place.CalleeName(k.call)), syntax.Text(k.cache)
	hits := 1 - k.stores/k.lookups
	by := "the arguments of " + name
	if len(k.objects) > 0 {
		by = "what identifies " + syntax.Text(k.objects[0]) + ", such as its pointer or ID,"
	}
	c.Cause = fmt.Sprintf("%s computes the key of %s for each lookup, in %s: it goes through %s, which the program keeps. %s of the lookups find what they look for, and still pay for that.",
		name, cache, units.Seconds(each), k.reads, units.Percent(hits))
	c.Fix = fmt.Sprintf("Use %s as the key, keep a version with each value of %s, and count the version up where %s changes; or remove the entries that a change is about.", by, cache, k.reads)
	c.Confidence, c.Callees = rule.Likely, []string{k.callee}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s lookups and %s stores per %s", units.Number(k.lookups), units.Number(k.stores), s.pass.Manifest.Unit())})
	return true
}
