package gocode

import (
	"go/ast"
	"go/types"
	"slices"
)

// Timing is how a line relates to a benchmark.
type Timing int

// The relations of a line to a benchmark.
const (
	// NoBenchmark: the syntax around the line names no benchmark; its caller decides.
	NoBenchmark Timing = iota
	// Harness: the line belongs to a benchmark but is not measured: the head of its loop, setup
	// before it, cleanup after it, and code that runs while the timer is stopped.
	Harness
	// Timed: the line is in the loop that a benchmark measures.
	Timed
)

// Timing returns how the line relates to a benchmark. A function that takes a *testing.B or a
// *testing.PB is a benchmark or a part of one.
func (p *Place) Timing() Timing {
	if p.Decl == nil || !p.importsTesting() {
		return NoBenchmark
	}
	whole := p.Outer()
	part := whole.benchmark()
	if part == nil {
		return NoBenchmark
	}
	var loops []ast.Node // that drive this part of the benchmark
	uses := false        // b.N outside the head of such a loop
	ast.Inspect(part.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return !whole.takesB(n.Type)
		case *ast.ForStmt, *ast.RangeStmt:
			if whole.Drives(n) {
				loops = append(loops, n)
			}
		case *ast.SelectorExpr:
			uses = uses || whole.isN(n)
		}
		return true
	})
	for _, loop := range loops {
		if body := bodyOf(loop); whole.runsIn(body) && !whole.stopped(body) {
			return Timed
		}
	}
	switch {
	case part.node != p.Func:
		return NoBenchmark // a function literal: it is as timed as its caller
	case len(loops) == 0 && uses:
		return Timed // it passes b.N on
	}
	return Harness
}

// Drives reports whether a loop repeats what a benchmark measures: its head uses b.N, b.Loop or
// pb.Next. Such a loop is not the program's.
func (p *Place) Drives(loop ast.Node) bool {
	if !p.importsTesting() {
		return false
	}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		return p.asksB(l.X)
	case *ast.ForStmt:
		return l.Init != nil && p.asksB(l.Init) || l.Cond != nil && p.asksB(l.Cond) || l.Post != nil && p.asksB(l.Post)
	}
	return false
}

func (p *Place) importsTesting() bool {
	return slices.ContainsFunc(p.File.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
}

// benchmarkPart is a function that takes a *testing.B or *testing.PB.
type benchmarkPart struct {
	node ast.Node
	body *ast.BlockStmt
}

// benchmark returns the innermost function around the line that takes a *testing.B or *testing.PB.
func (p *Place) benchmark() *benchmarkPart {
	var found *benchmarkPart
	if p.takesB(p.Decl.Type) && p.Decl.Body != nil {
		found = &benchmarkPart{p.Decl, p.Decl.Body}
	}
	for _, n := range p.Nodes {
		if lit, ok := n.(*ast.FuncLit); ok && p.inside(lit.Body) && p.takesB(lit.Type) {
			found = &benchmarkPart{lit, lit.Body}
		}
	}
	return found
}

// runsIn reports whether the line is in the body of a loop, and not its head.
func (p *Place) runsIn(body *ast.BlockStmt) bool {
	return p.spans(body) && (p.line(body.Lbrace) < p.Line || p.oneLine(body)) && (p.line(body.Rbrace) > p.Line || p.oneLine(body))
}

// stopped reports whether the timer is stopped at the line: the last call before it, in the body of
// the loop, that stops or starts the benchmark's timer stops it.
func (p *Place) stopped(body *ast.BlockStmt) bool {
	stopped := false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || p.line(call.Pos()) > p.Line {
			return true
		}
		switch p.CalleeName(call) {
		case "(*testing.B).StopTimer":
			stopped = true
		case "(*testing.B).StartTimer":
			stopped = p.line(call.Pos()) == p.Line // the call itself is of the harness
		}
		return true
	})
	return stopped
}

func bodyOf(loop ast.Node) *ast.BlockStmt {
	if r, ok := loop.(*ast.RangeStmt); ok {
		return r.Body
	}
	return loop.(*ast.ForStmt).Body
}

// asksB reports whether a part of a loop's head asks a benchmark how often to run.
func (p *Place) asksB(n ast.Node) bool {
	asks := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			asks = asks || p.isN(n)
		case *ast.CallExpr:
			name := p.CalleeName(n)
			asks = asks || name == "(*testing.B).Loop" || name == "(*testing.PB).Next"
		case *ast.Ident:
			asks = asks || p.holdsN(n)
		}
		return !asks
	})
	return asks
}

// holdsN reports whether a variable is declared with the value b.N.
func (p *Place) holdsN(id *ast.Ident) bool {
	v, ok := p.Info.Uses[id].(*types.Var)
	if !ok || p.Decl == nil {
		return false
	}
	holds := false
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, lhs := range a.Lhs {
				sel, isSelector := ast.Unparen(a.Rhs[i]).(*ast.SelectorExpr)
				if def, ok := lhs.(*ast.Ident); ok && isSelector && p.Info.Defs[def] == v && p.isN(sel) {
					holds = true
				}
			}
		}
		return !holds
	})
	return holds
}

// isN reports whether a selector is the field N of a *testing.B.
func (p *Place) isN(sel *ast.SelectorExpr) bool {
	return sel.Sel.Name == "N" && isTesting(p.TypeOf(sel.X), "B")
}

// takesB reports whether a function has a parameter that drives a benchmark.
func (p *Place) takesB(f *ast.FuncType) bool {
	for _, field := range f.Params.List {
		if t := p.TypeOf(field.Type); isTesting(t, "B") || isTesting(t, "PB") {
			return true
		}
	}
	return false
}

// isTesting reports whether t is a pointer to the named type of package testing.
func isTesting(t types.Type, name string) bool {
	ptr, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	named, ok := types.Unalias(ptr.Elem()).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "testing"
}
