package batchbarrier

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// batch is a loop that starts goroutines in a loop inside it and then waits for them.
type batch struct {
	place *gocode.Place // of the whole function
	loop  ast.Node      // over the batches
	in    *gocode.Place // of the function with that loop, which may call the one that waits
	spawn ast.Node      // the go statement, or the call of Go
	wait  *ast.CallExpr // of the group's Wait
}

// find finds the batch that starts the goroutines of a place: it has the go statement, or is in the
// function literal that is passed to Go.
func (b *batch) find(pass *rule.Pass, p *gocode.Place) bool {
	if p.Decl == nil {
		return false
	}
	at := p.Line
	p = p.Outer()
	var found bool
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		if found || n == nil || !starts(n) || syntax.Line(p, n.Pos()) > at || at > syntax.Line(p, n.End()) {
			return !found
		}
		around := loops.Around(p, n)
		if len(around) == 1 {
			found = b.called(pass, p, n)
			return !found
		}
		if len(around) < 2 || !independent(p, around[1]) {
			return true
		}
		if wait := waitIn(p, around[1], n); wait != nil {
			*b = batch{place: p, loop: around[1], in: p, spawn: n, wait: wait}
			found = true
		}
		return !found
	})
	return found
}

// called finds the batch of a function that starts goroutines for all elements of a list and waits
// for them: a loop calls it with one part of a list after the other.
func (b *batch) called(pass *rule.Pass, p *gocode.Place, spawn ast.Node) bool {
	wait := waitIn(p, nil, spawn)
	if wait == nil {
		return false
	}
	above, call := flow.RunningCall(pass, p)
	if call == nil {
		return false
	}
	above = above.Outer()
	around := loops.Around(above, call)
	if len(around) == 0 || !independent(above, around[0]) || !slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return partOf(above, around[0], arg) }) {
		return false
	}
	*b = batch{place: p, loop: around[0], in: above, spawn: spawn, wait: wait}
	return true
}

// partOf reports whether an expression is a part of a list in a loop: list[i:j], or the list that
// is the element of the loop.
func partOf(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		r, is := loop.(*ast.RangeStmt)
		if is && r.Value != nil && syntax.Same(p, r.Value, id) {
			return syntax.Elem(p.TypeOf(id)) != nil
		}
	}
	_, ok := syntax.Origin(p, e).(*ast.SliceExpr)
	return ok
}

// starts reports whether a node starts a goroutine.
func starts(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Go" && len(n.Args) == 1
	}
	return false
}

// waitIn returns the call in a loop, or of the function for none, that waits for the group after a
// goroutine's start, once in each iteration; nil for none.
func waitIn(p *gocode.Place, loop, after ast.Node) *ast.CallExpr {
	var found *ast.CallExpr
	body := p.Decl.Body
	if loop != nil {
		body = loops.Body(loop)
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if _, inner := n.(*ast.FuncLit); inner || found != nil {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < after.End() || !slices.Contains([]string{"(*sync.WaitGroup).Wait", "(*golang.org/x/sync/errgroup.Group).Wait"}, p.CalleeName(call)) {
			return true
		}
		if around := loops.Around(p, call); len(around) == 0 && loop == nil || len(around) > 0 && around[0] == loop {
			found = call
		}
		return found == nil
	})
	return found
}

// independent reports whether what a loop iterates over is known before it: numbers that it counts
// up, the parts of a list, or a list that it only shortens. The levels of a breadth-first search
// are not.
func independent(p *gocode.Place, loop ast.Node) bool {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		_, channel := p.TypeOf(l.X).Underlying().(*types.Chan)
		return !channel && loops.FromOutside(p, loop, l.X)
	case *ast.ForStmt:
		if l.Cond == nil {
			return false
		}
		if l.Post != nil {
			return counts(l.Post)
		}
		return shortened(p, l)
	}
	return false
}

// counts reports whether a statement adds to a variable.
func counts(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok == token.ADD_ASSIGN || s.Tok == token.SUB_ASSIGN
	}
	return false
}

// shortened reports whether a loop ends when a list is empty that it only cuts parts from: rest =
// rest[n:].
func shortened(p *gocode.Place, l *ast.ForStmt) bool {
	cond, ok := l.Cond.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	length, ok := cond.X.(*ast.CallExpr)
	if !ok || p.CalleeName(length) != "len" {
		return false
	}
	list := syntax.Named(p, length.Args[0])
	if list == nil {
		return false
	}
	cuts, others := 0, 0
	ast.Inspect(l.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, lhs := range a.Lhs {
			if syntax.Named(p, lhs) != list {
				continue
			}
			part, ok := ast.Unparen(a.Rhs[min(i, len(a.Rhs)-1)]).(*ast.SliceExpr)
			if ok && syntax.Named(p, part.X) == list {
				cuts++
			} else {
				others++
			}
		}
		return true
	})
	return cuts > 0 && others == 0
}
