// Package poolmiss finds sync.Pools whose values are made again and again because they are not put back.
package poolmiss

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

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
		Finder: finder.Lines{
			Claim: rule.Claim{
				// Collections empty pools, so that some values are made in any case.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.5, High: 0.97},
				Specificity: 2,
			},
			Loop: find,
		},
	}
}

const doc = `A sync.Pool gives back what was put into it, and calls New when it is empty. A
value that is taken and not put back on some path through the function (an
early return, an error) is lost to the pool, and the next Get makes a new one:
the pool is then a slow way to allocate.

Put the value back by defer, right after Get, or on each path. Where a value is
handed on, whoever uses it last has to put it back.

It is fine to drop a value on purpose, for example a buffer that has grown too
large. The collector empties pools, too: two collections without use and a
value is gone. The rule speaks only where New makes much memory for a Get, and
the code shows a path without Put, or that no Put exists.

Seen in the field: jaegertracing/jaeger#2609, grafana/loki#1793,
XTLS/Xray-core#6240.`

// getter is a line that calls Get, and the rows of New under it.
type getter struct {
	frame *site.Frame
	rows  rule.Match
}

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		for _, g := range getters(s) {
			m := g.rows
			if _, objects := stacks.Sum(m.Allocs); objects < 64 || p.Syntax == nil {
				continue
			}
			place, ok := p.Syntax.At(g.frame.File, g.frame.Line)
			if !ok || !guilty(place, &m) {
				continue
			}
			if m.Confidence == "" {
				m.Confidence = evidence.Weigh(p, s, false)
			}
			m.Evidence = evidence.Compiler(p, s)
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// getters returns the lines whose Get made the site run in a pool's New, in the order of their rows.
func getters(s *site.Site) []*getter {
	var list []*getter
	find := func(r *site.Row) *getter {
		for i := r.Owner + 1; i+1 < len(r.Stack) && i < r.Owner+6; i++ {
			if r.Stack[i].Function != "sync.(*Pool).Get" {
				continue
			}
			f := r.Stack[i+1]
			for _, g := range list {
				if g.frame.Function == f.Function && g.frame.Line == f.Line && g.frame.File == f.File {
					return g
				}
			}
			g := &getter{f, rule.Match{Site: s}}
			list = append(list, g)
			return g
		}
		return nil
	}
	for _, r := range s.Allocs {
		if g := find(r); g != nil {
			g.rows.Allocs = append(g.rows.Allocs, r)
		}
	}
	for _, r := range s.CPU {
		if g := find(r); g != nil {
			g.rows.CPU = append(g.rows.CPU, r)
		}
	}
	return list
}

// guilty judges a line that calls Get.
func guilty(p *gocode.Place, m *rule.Match) bool {
	for _, call := range syntax.CallsOf(p, get) {
		pool := pool(p, call)
		if pool == nil || pool.Exported() || p.Decl == nil {
			continue
		}
		if !everPut(p, pool) {
			m.Cause = fmt.Sprintf("%s takes a value from %s on line %d, and nothing in the package ever puts one back: each Get makes a new one here.",
				syntax.FuncName(p), pool.Name(), p.Line)
			m.Fix = fmt.Sprintf("Put the value back into %s when it is no longer used, best by defer right after Get.", pool.Name())
			return true
		}
		if line, ok := lost(p, call, pool); ok {
			m.Confidence = rule.Likely // how often that path is taken is not known
			m.Cause = fmt.Sprintf("%s takes a value from %s on line %d and returns on line %d without putting it back: each such value is re-created here.",
				syntax.FuncName(p), pool.Name(), p.Line, line)
			m.Fix = fmt.Sprintf("Put the value back on that path, too: defer %s.Put right after Get.", pool.Name())
			return true
		}
	}
	return false
}

// pool returns the variable or field that a call of one of its methods names.
func pool(p *gocode.Place, call *ast.CallExpr) *types.Var {
	return named(p, syntax.Receiver(call))
}

// named returns the variable or field that an expression ends in.
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

// everPut reports whether the package may put something into a pool: it uses the pool for
// anything but Get and setting its New, or in another file.
func everPut(p *gocode.Place, pool *types.Var) bool {
	uses, gets := 0, 0 // gets are uses that put nothing
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
				gets++ // sets its New
			}
		}
		return true
	})
	return uses > gets
}

func poolOf(p *gocode.Place, call *ast.CallExpr) *types.Var {
	if syntax.Receiver(call) == nil {
		return nil
	}
	return pool(p, call)
}

// lost returns the line of a return between Get and the Put of the same function, in
// which the value is neither handed on nor returned.
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
	if puts != 1 || deferred || handedOn(p, v, pool) {
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

// value returns the local variable that takes what Get returns, through a type assertion.
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

// handedOn reports whether the value is given to somebody who may put it back: returned, stored,
// sent or captured by a function.
func handedOn(p *gocode.Place, v *types.Var, pool *types.Var) bool {
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
