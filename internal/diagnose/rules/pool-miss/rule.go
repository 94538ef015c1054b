// Package poolmiss finds values that a sync.Pool allocates because none is put back.
package poolmiss

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	get = "(*sync.Pool).Get"
	put = "(*sync.Pool).Put"
)

// Rule is pool-miss.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "pool-miss",
		Kind:  rule.Alloc,
		Title: "sync.Pool makes new values because they are not put back",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Collections empty pools, so some values are allocated in any case.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.5, High: 0.97},
				Specificity: 2,
			},
			Lines:   []finder.Line{{Start: finder.Sites(missed), Judge: judge}},
			Prepare: atFirstUse,
		},
	}
}

const doc = `Get of a sync.Pool returns a value that was put into it, and calls New when the
pool is empty. A value that some path through the function (an early return, an
error, or the success when only errors put it back) does not put back is lost to
the pool, and a later Get allocates a new one: the pool is then a slow way to
allocate. Some values allocate most at their first use: a gzip writer creates its
compressor of 800 KB in the first Write.

Put the value back with a defer right after Get, or on each path. If a value is
passed on, its last user has to put it back.

It is fine to drop a value on purpose, for example a buffer that has grown too
large. Garbage collections empty pools too: a value that is unused for two of
them is gone. The rule reports only lines where New allocates many values, and
the code has a path without Put, or no Put at all.

Seen in the field: jaegertracing/jaeger#2609, grafana/loki#1793,
XTLS/Xray-core#6240.`

// leastValues is the number of values that the pool must have allocated for a line that calls Get.
const leastValues = 64

// missed selects the rows in which a line allocates values in the New of a pool.
func missed(s *site.Site) rule.Match {
	inNew := func(r *site.Row) bool { return getter(r) >= 0 }
	return rule.Match{Site: s, CPU: stacks.Select(s.CPU, inNew), Allocs: stacks.Select(s.Allocs, inNew)}
}

// getter returns the index of the frame whose Get calls the New that a row is in; -1 for none.
func getter(r *site.Row) int {
	for i := r.Owner + 1; i+1 < len(r.Stack) && i < r.Owner+6; i++ {
		if r.Stack[i].Function == "sync.(*Pool).Get" {
			return i + 1
		}
	}
	return -1
}

// taker returns the frame that takes a value in a row: the one that calls Get or, if its function
// only returns the value, its caller.
func taker(pass *rule.Pass, r *site.Row) *site.Frame {
	i := getter(r)
	if i+1 < len(r.Stack) && r.Stack[i+1].Owner.Kind == gocode.Main {
		if p := pass.Place(&site.Site{Frame: *r.Stack[i]}); p != nil && p.Decl != nil {
			for _, call := range syntax.CallsOf(p, get) {
				if returns(p, call) {
					return r.Stack[i+1]
				}
			}
		}
	}
	return r.Stack[i]
}

// judge keeps the rows of lines that call Get and whose values are not put back. Cause and fix are
// those of the line for which the pool allocates most.
func judge(c *finder.Case) bool {
	all := *c.Match
	c.CPU, c.Allocs = nil, nil
	most := int64(0)
	for _, f := range takers(c.Pass, all.Allocs) {
		m := all
		m.Keep(func(r *site.Row) bool { return sameLine(taker(c.Pass, r), f) })
		bytes, objects := stacks.Sum(m.Allocs)
		if objects < leastValues {
			continue
		}
		l, ok := lossAt(c.Pass, f)
		if !ok {
			continue
		}
		c.CPU, c.Allocs = append(c.CPU, m.CPU...), append(c.Allocs, m.Allocs...)
		if bytes > most {
			most = bytes
			c.Cause, c.Fix, c.Confidence = l.words+": a new one is allocated here instead.", l.fix, l.confidence
		}
	}
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return most > 0
}

// takers returns one frame of each line that takes a value, in the order of their rows.
func takers(pass *rule.Pass, rows []*site.Row) []*site.Frame {
	var frames []*site.Frame
	for _, r := range rows {
		f := taker(pass, r)
		if !slices.ContainsFunc(frames, func(g *site.Frame) bool { return sameLine(f, g) }) {
			frames = append(frames, f)
		}
	}
	return frames
}

func sameLine(f, g *site.Frame) bool {
	return f.Function == g.Function && f.Line == g.Line && f.File == g.File
}

// loss is how a line that calls Get loses the value.
type loss struct {
	words, fix string
	confidence rule.Confidence // "" for what profile and syntax say
	value      *types.Var      // nil when it is not in a variable
}

// lossAt returns how the line of a frame loses the values that it takes; false if it does not.
func lossAt(pass *rule.Pass, f *site.Frame) (loss, bool) {
	if p := pass.Place(&site.Site{Frame: *f}); p != nil && p.Decl != nil {
		for _, call := range syntax.Calls(p) {
			if l, ok := lossOf(p, call); ok {
				return l, true
			}
		}
	}
	return loss{}, false
}

// lossOf returns how the function of a place loses the value that a call of Get returns; false if
// it does not.
func lossOf(p *gocode.Place, call *ast.CallExpr) (loss, bool) {
	pool := poolOf(p, call)
	if pool == nil || pool.Exported() {
		return loss{}, false
	}
	l := loss{value: value(p, call)}
	took := fmt.Sprintf("%s takes a value from %s on line %d", syntax.FuncName(p), pool.Name(), syntax.Line(p, call.Pos()))
	uses := usesOf(p, pool)
	if len(uses.puts) == 0 && !uses.other {
		l.words = took + ", and nothing in the package ever puts one back"
		l.fix = fmt.Sprintf("Put the value back into %s when it is no longer used, best with a defer right after Get.", pool.Name())
		return l, true
	}
	line, ok := lost(p, call, uses)
	if !ok {
		return loss{}, false
	}
	l.words = fmt.Sprintf("%s and returns on line %d without putting it back", took, line)
	l.fix = fmt.Sprintf("Put the value back on that path, too: defer %s.Put right after Get.", pool.Name())
	l.confidence = rule.Likely // how often the function takes that path is unknown
	return l, true
}

// poolOf returns the variable or field from which a call takes a value, itself or by a function of
// the package that only returns it; nil for other calls.
func poolOf(p *gocode.Place, call *ast.CallExpr) *types.Var {
	if p.CalleeName(call) == get || p.CalleeName(call) == put {
		return syntax.Named(p, syntax.Receiver(call))
	}
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil {
		return nil
	}
	in := p.Entry(decl)
	var pool *types.Var
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		inner, ok := n.(*ast.CallExpr)
		if ok && in.CalleeName(inner) == get && returns(in, inner) {
			pool = syntax.Named(in, syntax.Receiver(inner))
		}
		return pool == nil
	})
	return pool
}

// returns reports whether a function returns the value that a call of Get takes, at once or after
// calls of its methods.
func returns(p *gocode.Place, call *ast.CallExpr) bool {
	var e ast.Expr = call
	if a, ok := syntax.Parent(p, call).(*ast.TypeAssertExpr); ok {
		e = a
	}
	if _, ok := syntax.Parent(p, e).(*ast.ReturnStmt); ok {
		return true
	}
	v := value(p, call)
	if v == nil {
		return false
	}
	found := false
	for _, use := range syntax.Reads(p, v) {
		switch n := syntax.Parent(p, use).(type) {
		case *ast.ReturnStmt:
			found = true
		case *ast.SelectorExpr:
			if _, field := p.Object(n.Sel).(*types.Var); field {
				return false
			}
		default:
			return false
		}
	}
	return found
}

// putter reports whether a function of the package puts a parameter back into a pool.
func putter(p *gocode.Place, call *ast.CallExpr, pool *types.Var) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() != p.Pkg || len(call.Args) != 1 {
		return false
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return false
	}
	in := p.Entry(decl)
	found := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		inner, ok := n.(*ast.CallExpr)
		if ok && in.CalleeName(inner) == put && len(inner.Args) == 1 && poolOf(in, inner) == pool {
			v := syntax.LocalVar(in, inner.Args[0])
			found = found || v != nil && syntax.Param(in, v)
		}
		return !found
	})
	return found
}

// uses are what a package does with a pool.
type uses struct {
	puts []*ast.CallExpr
	// other says that the pool is used in a way that may put a value into it: a function gets its
	// address, for example.
	other bool
}

// usesOf returns what the package does with a pool, other than calls of Get and assignments to New.
func usesOf(p *gocode.Place, pool *types.Var) (u uses) {
	all, known := 0, 0
	for _, obj := range p.Info.Uses {
		if obj == pool {
			all++
		}
	}
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := p.CalleeName(n)
			if (name == get || name == put) && poolOf(p, n) == pool {
				known++
				if name == put && !inPutter(p, n, pool) {
					u.puts = append(u.puts, n)
				}
			}
			if putter(p, n, pool) {
				u.puts = append(u.puts, n)
			}
		case *ast.SelectorExpr:
			if n.Sel.Name == "New" && syntax.Named(p, n.X) == pool {
				known++ // assigns to New
			}
		}
		return true
	}
	for _, f := range p.Files() {
		ast.Inspect(f, visit)
	}
	u.other = all > known
	return u
}

// inPutter reports whether a call of Put is that of a function which puts its parameter back: the
// calls of that function count instead.
func inPutter(p *gocode.Place, call *ast.CallExpr, pool *types.Var) bool {
	if len(call.Args) != 1 {
		return false
	}
	id, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	if !ok {
		return false
	}
	v, _ := p.Object(id).(*types.Var)
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if ok && v != nil && syntax.Inside(decl.Type, v.Pos()) {
				return true
			}
		}
	}
	return false
}

// lost returns the line of a return statement after Get that no Put comes before, if the function
// does not pass the value on.
func lost(p *gocode.Place, call *ast.CallExpr, u uses) (int, bool) {
	v := value(p, call)
	if v == nil || p.Func == nil || !syntax.Inside(p.Func, v.Pos()) || p.LoopAround(call) != nil {
		return 0, false
	}
	elsewhere, here := u.other, false
	for _, c := range u.puts {
		if !syntax.Within(p.Func, c) {
			elsewhere = true
			continue
		}
		here = true
		for _, x := range p.Enclosing(c) {
			switch x.(type) {
			case *ast.DeferStmt, *ast.GoStmt, *ast.FuncLit:
				return 0, false // it runs at another time
			}
		}
	}
	if !here || passedOn(p, v, poolOf(p, call), elsewhere) {
		return 0, false
	}
	line := 0
	ast.Inspect(p.Func, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == p.Func
		case *ast.ReturnStmt:
			if line == 0 && call.End() < n.Pos() && !slices.ContainsFunc(u.puts, func(c *ast.CallExpr) bool { return before(p, c, n) }) {
				line = syntax.Line(p, n.Pos())
			}
		}
		return true
	})
	return line, line > 0
}

// before reports whether a call of a function may run before a return statement: it is above the
// statement, and no block that contains only the call leaves the function.
func before(p *gocode.Place, call *ast.CallExpr, ret *ast.ReturnStmt) bool {
	if !syntax.Within(p.Func, call) || call.Pos() > ret.Pos() {
		return false
	}
	for _, x := range p.Enclosing(call) {
		var list []ast.Stmt
		switch x := x.(type) {
		case *ast.BlockStmt:
			list = x.List
		case *ast.CaseClause:
			list = x.Body
		default:
			continue
		}
		if syntax.Within(x, ret) {
			return true
		}
		if len(list) > 0 && syntax.Departs(list[len(list)-1], false) {
			return false
		}
	}
	return true
}

// value returns the local variable that the result of Get is assigned to, directly or through a
// type assertion.
func value(p *gocode.Place, call *ast.CallExpr) *types.Var {
	var e ast.Expr = call
	if a, ok := syntax.Parent(p, call).(*ast.TypeAssertExpr); ok {
		e = a
	}
	to := syntax.AssignedTo(p, e)
	if to == nil {
		return nil
	}
	return syntax.LocalVar(p, to)
}

// passedOn reports whether other code may put the value back: it is returned, stored, sent, passed
// to a function of the package while functions elsewhere put values into the pool, or captured by a
// function literal.
func passedOn(p *gocode.Place, v, pool *types.Var, elsewhere bool) bool {
	for _, use := range syntax.Reads(p, v) {
		switch n := syntax.Parent(p, use).(type) {
		case *ast.ReturnStmt, *ast.SendStmt, *ast.KeyValueExpr, *ast.CompositeLit:
			return true
		case *ast.AssignStmt:
			return true
		case *ast.CallExpr:
			fn := p.Callee(n)
			if elsewhere && p.CalleeName(n) != put && !putter(p, n, pool) && (fn == nil || fn.Pkg() == p.Pkg) && n.Fun != use {
				return true // a function of the package may put it back
			}
		case *ast.SelectorExpr:
			fn, _ := p.Object(n.Sel).(*types.Func)
			if elsewhere && fn != nil && fn.Pkg() == p.Pkg {
				return true // so may a method of the value
			}
		case nil:
			return true // in a function literal
		}
	}
	return false
}
