package rewrite

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

var (
	errJumps  = errors.New("the loop may end before it has seen all elements, or leaves some out")
	errSource = errors.New("what the loop goes over has no length that is known before it")
	errScope  = errors.New("it is declared outside of the block with the loop, and may be filled several times")
)

// growSlice gives a slice the capacity that a loop over something of known length will need.
// slices.Grow keeps a nil slice nil when there is nothing to add.
func growSlice(s *site, n ast.Node) (*proposal, error) {
	loop, ok := n.(*ast.RangeStmt)
	if !ok {
		return nil, nil
	}
	out, each := s.appended(loop)
	if out == nil {
		return nil, nil
	}
	if err := s.wholeLoop(loop); err != nil {
		return nil, err
	}
	if !s.inBlockOf(loop, out) {
		return nil, errScope
	}
	if s.assigned(loop.Body, out) > 1 {
		return nil, errors.New("the loop assigns the slice elsewhere, too")
	}
	if s.pkg.Module == nil || olderThan(s.pkg.Module.GoVersion, 21) {
		return nil, errors.New("package slices needs Go 1.21 in go.mod")
	}
	lib, ok := s.qualify("slices", loop.Pos())
	if !ok {
		return nil, errors.New("another name hides the package slices there")
	}
	count := "len(" + s.text(loop.X) + ")"
	if each > 1 {
		count = fmt.Sprintf("%d*%s", each, count)
	}
	name := out.Name()
	return &proposal{risk: ByTypes, why: "room alone changes nothing that the program can see but cap, and the loop fills all of it", edits: []edit{
		{loop.Pos(), loop.Pos(), name + " = " + lib + ".Grow(" + name + ", " + count + ")\n"},
	}}, nil
}

// appended returns the local slice to which a loop's body appends in each iteration, and how many
// elements.
func (s *site) appended(loop *ast.RangeStmt) (out *types.Var, each int) {
	for _, stmt := range loop.Body.List {
		assign, ok := stmt.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 || assign.Tok != token.ASSIGN {
			continue
		}
		call, ok := assign.Rhs[0].(*ast.CallExpr)
		if !ok || s.callee(call) != "append" || call.Ellipsis.IsValid() || len(call.Args) < 2 {
			continue
		}
		id, ok := assign.Lhs[0].(*ast.Ident)
		if !ok {
			continue
		}
		v, ok := s.pkg.TypesInfo.Uses[id].(*types.Var)
		if ok && s.is(call.Args[0], v) && v.Parent() != s.pkg.Types.Scope() {
			return v, len(call.Args) - 1
		}
	}
	return nil, 0
}

// wholeLoop reports an error unless a loop runs its body, from the first statement to the last, for
// each element of something with a length.
func (s *site) wholeLoop(loop *ast.RangeStmt) error {
	switch s.typeOf(loop.X).Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map:
	default:
		return errSource
	}
	if !s.pure(loop.X) {
		return errSource
	}
	jumps := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt, *ast.ReturnStmt:
			jumps = true
		}
		return true
	})
	if jumps {
		return errJumps
	}
	return nil
}

// inBlockOf reports whether a variable is declared in the block that contains a loop, or is a
// result of the function with that body.
func (s *site) inBlockOf(loop *ast.RangeStmt, v *types.Var) bool {
	parent := s.parent(1)
	if l, ok := parent.(*ast.LabeledStmt); ok && l.Stmt == ast.Stmt(loop) {
		return false
	}
	block, ok := parent.(*ast.BlockStmt)
	if !ok {
		return false
	}
	for _, stmt := range block.List {
		if stmt.Pos() <= v.Pos() && v.Pos() < stmt.End() {
			_, isDecl := stmt.(*ast.DeclStmt)
			_, isAssign := stmt.(*ast.AssignStmt)
			return isDecl || isAssign
		}
	}
	return block == s.fn.Body && s.fn.Type.Results != nil && s.fn.Type.Results.Pos() <= v.Pos() && v.Pos() < s.fn.Type.Results.End()
}

// assigned counts the assignments of a variable below a node.
func (s *site) assigned(n ast.Node, v *types.Var) (times int) {
	ast.Inspect(n, func(n ast.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok {
			for _, l := range assign.Lhs {
				if s.is(l, v) {
					times++
				}
			}
		}
		return true
	})
	return times
}

// sizeMap creates a map with room for the entries that the loop after it adds.
func sizeMap(s *site, n ast.Node) (*proposal, error) {
	loop, ok := n.(*ast.RangeStmt)
	if !ok {
		return nil, nil
	}
	v := s.filled(loop)
	if v == nil {
		return nil, nil
	}
	if err := s.wholeLoop(loop); err != nil {
		return nil, err
	}
	block, ok := s.parent(1).(*ast.BlockStmt)
	if !ok {
		return nil, errScope
	}
	made, between := s.madeIn(block, loop, v)
	if made == nil {
		return nil, errScope
	}
	for _, stmt := range between {
		// What the loop iterates over must exist and be the same there.
		if !s.leaves(stmt, loop.X) {
			return nil, errors.New("what the loop iterates over is created between the map and the loop")
		}
	}
	text := "make(" + s.text(typeExpr(made)) + ", len(" + s.text(loop.X) + "))"
	return &proposal{risk: ByTypes, why: "room alone changes nothing that the program can see",
		edits: []edit{{made.Pos(), made.End(), text}}}, nil
}

// filled returns the local map to which a loop's body assigns in each iteration.
func (s *site) filled(loop *ast.RangeStmt) *types.Var {
	for _, stmt := range loop.Body.List {
		assign, ok := stmt.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 {
			continue
		}
		index, ok := assign.Lhs[0].(*ast.IndexExpr)
		if !ok {
			continue
		}
		id, ok := index.X.(*ast.Ident)
		if !ok {
			continue
		}
		v, ok := s.pkg.TypesInfo.Uses[id].(*types.Var)
		if !ok || v.Parent() == s.pkg.Types.Scope() {
			continue
		}
		if _, ok := v.Type().Underlying().(*types.Map); ok {
			return v
		}
	}
	return nil
}

// madeIn returns the expression that creates an empty map for a variable in a block before a loop,
// and the statements between.
func (s *site) madeIn(block *ast.BlockStmt, loop *ast.RangeStmt, v *types.Var) (made ast.Expr, between []ast.Stmt) {
	for _, stmt := range block.List {
		if stmt == ast.Stmt(loop) {
			return made, between
		}
		if made != nil {
			between = append(between, stmt)
		}
		assign, ok := stmt.(*ast.AssignStmt)
		if !ok || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			continue
		}
		if id, ok := assign.Lhs[0].(*ast.Ident); !ok || s.pkg.TypesInfo.Defs[id] != v {
			continue
		}
		switch e := assign.Rhs[0].(type) {
		case *ast.CallExpr:
			if s.callee(e) == "make" && len(e.Args) == 1 {
				made = e
			}
		case *ast.CompositeLit:
			if len(e.Elts) == 0 {
				made = e
			}
		}
	}
	return nil, nil
}

func typeExpr(made ast.Expr) ast.Expr {
	switch e := made.(type) {
	case *ast.CallExpr:
		return e.Args[0]
	case *ast.CompositeLit:
		return e.Type
	}
	return made
}

// leaves reports whether a statement neither declares nor assigns a part of an expression, calls
// nothing that could, and continues with the next statement.
func (s *site) leaves(stmt ast.Stmt, e ast.Expr) bool {
	fine := true
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.CallExpr:
			fine = false
		case *ast.Ident:
			if obj := s.pkg.TypesInfo.ObjectOf(n); obj != nil {
				if v, ok := obj.(*types.Var); ok && s.mentions(e, v) {
					fine = false
				}
			}
		}
		return true
	})
	return fine
}
