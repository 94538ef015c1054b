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
		Finder: finder.Line{
			Claim: rule.Claim{
				// Collections empty pools, so some values are allocated in any case.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.5, High: 0.97},
				Specificity: 2,
			},
			Start: finder.Sites(missed),
			Judge: judge,
		},
	}
}

const doc = `Get of a sync.Pool returns a value that was put into it, and calls New when the
pool is empty. A value that some path through the function (an early return, an
error) does not put back is lost to the pool, and a later Get allocates a new
one: the pool is then a slow way to allocate.

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
	inNew := func(r *site.Row) bool { return getter(r) != nil }
	return rule.Match{Site: s, CPU: stacks.Select(s.CPU, inNew), Allocs: stacks.Select(s.Allocs, inNew)}
}

// getter returns the frame whose Get calls the New that a row is in; nil for none.
func getter(r *site.Row) *site.Frame {
	for i := r.Owner + 1; i+1 < len(r.Stack) && i < r.Owner+6; i++ {
		if r.Stack[i].Function == "sync.(*Pool).Get" {
			return r.Stack[i+1]
		}
	}
	return nil
}

// judge keeps the rows of lines that call Get and whose values are not put back. The words are those of the line for
// which the pool allocates most.
func judge(c *finder.Case) bool {
	all := *c.Match
	c.CPU, c.Allocs = nil, nil
	most := int64(0)
	for _, f := range getters(all.Allocs) {
		m := all
		m.Keep(func(r *site.Row) bool { return sameLine(getter(r), f) })
		bytes, objects := stacks.Sum(m.Allocs)
		place := c.Pass.Place(&site.Site{Frame: *f})
		if objects < leastValues || place == nil || !guilty(place, &m) {
			continue
		}
		c.CPU, c.Allocs = append(c.CPU, m.CPU...), append(c.Allocs, m.Allocs...)
		if bytes > most {
			most = bytes
			c.Cause, c.Fix, c.Confidence = m.Cause, m.Fix, m.Confidence
		}
	}
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return most > 0
}

// getters returns one frame of each line that calls Get, in the order of their rows.
func getters(rows []*site.Row) []*site.Frame {
	var frames []*site.Frame
	for _, r := range rows {
		f := getter(r)
		if !slices.ContainsFunc(frames, func(g *site.Frame) bool { return sameLine(f, g) }) {
			frames = append(frames, f)
		}
	}
	return frames
}

func sameLine(f, g *site.Frame) bool {
	return f.Function == g.Function && f.Line == g.Line && f.File == g.File
}

// guilty reports whether a line that calls Get takes values that are not put back, and fills in the words of a match.
func guilty(p *gocode.Place, m *rule.Match) bool {
	for _, call := range syntax.CallsOf(p, get) {
		pool := poolOf(p, call)
		if pool == nil || pool.Exported() || p.Decl == nil {
			continue
		}
		if !everPut(p, pool) {
			m.Cause = fmt.Sprintf("%s takes a value from %s on line %d, and nothing in the package ever puts one back: each Get allocates a new one here.",
				syntax.FuncName(p), pool.Name(), p.Line)
			m.Fix = fmt.Sprintf("Put the value back into %s when it is no longer used, best with a defer right after Get.", pool.Name())
			return true
		}
		if line, ok := lost(p, call, pool); ok {
			m.Confidence = rule.Likely // how often the function takes that path is unknown
			m.Cause = fmt.Sprintf("%s takes a value from %s on line %d and returns on line %d without putting it back: for each such value, a new one is allocated here.",
				syntax.FuncName(p), pool.Name(), p.Line, line)
			m.Fix = fmt.Sprintf("Put the value back on that path, too: defer %s.Put right after Get.", pool.Name())
			return true
		}
	}
	return false
}

// poolOf returns the variable or field whose method a call calls.
func poolOf(p *gocode.Place, call *ast.CallExpr) *types.Var {
	return named(p, syntax.Receiver(call))
}

// named returns the variable or field that an expression names: pool, x.pool.
func named(p *gocode.Place, e ast.Expr) *types.Var {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, _ := p.Object(x).(*types.Var)
		return v
	case *ast.SelectorExpr:
		v, _ := p.Object(x.Sel).(*types.Var)
		return v
	}
	return nil
}

// everPut reports whether the package may put something into a pool: it has other uses of the pool
// than calls of Get and assignments to New, or uses in another file.
func everPut(p *gocode.Place, pool *types.Var) bool {
	uses, gets := 0, 0 // gets are uses that put nothing into it
	for _, obj := range p.Info.Uses {
		if obj == pool {
			uses++
		}
	}
	ast.Inspect(p.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if p.CalleeName(n) == get && poolOf(p, n) == pool {
				gets++
			}
		case *ast.SelectorExpr:
			if n.Sel.Name == "New" && named(p, n.X) == pool {
				gets++ // assigns to New
			}
		}
		return true
	})
	return uses > gets
}

// lost returns the line of a return statement between Get and the only Put of the function, if
// the function does not pass the value on.
func lost(p *gocode.Place, call *ast.CallExpr, pool *types.Var) (int, bool) {
	v := value(p, call)
	if v == nil {
		return 0, false
	}
	puts := 0
	deferred := false
	var last ast.Node
	ast.Inspect(p.Func, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || p.CalleeName(c) != put || poolOf(p, c) != pool {
			return true
		}
		puts++
		last = c
		for _, x := range p.Enclosing(c) {
			if _, ok := x.(*ast.DeferStmt); ok {
				deferred = true
			}
		}
		return true
	})
	if puts != 1 || deferred || passedOn(p, v, pool) {
		return 0, false
	}
	line := 0
	ast.Inspect(p.Func, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == p.Func
		case *ast.ReturnStmt:
			if line == 0 && call.End() < n.Pos() && n.End() < last.Pos() {
				line = syntax.Line(p, n.Pos())
			}
		}
		return true
	})
	return line, line > 0
}

// value returns the local variable that the result of Get is assigned to, directly or through a type assertion.
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

// passedOn reports whether other code may put the value back: it is returned, stored, sent, passed to a
// function of the package, or captured by a function literal.
func passedOn(p *gocode.Place, v *types.Var, pool *types.Var) bool {
	for _, use := range syntax.Reads(p, v) {
		switch n := syntax.Parent(p, use).(type) {
		case *ast.ReturnStmt, *ast.SendStmt, *ast.KeyValueExpr, *ast.CompositeLit:
			return true
		case *ast.AssignStmt:
			return true
		case *ast.CallExpr:
			fn := p.Callee(n)
			if p.CalleeName(n) != put && (fn == nil || fn.Pkg() == p.Pkg) && n.Fun != use {
				return true // a function of the package may put it back
			}
		case nil:
			return true // in a function literal
		}
	}
	return false
}
