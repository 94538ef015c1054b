package rewrite

import (
	"errors"
	"go/ast"
	"go/types"
	"slices"
)

// buffered collects the small writes of a loop in a bufio.Writer. Readers see them later, and a
// program that crashes loses them, so the change is only proposed.
func buffered(s *site, n ast.Node) (*proposal, error) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	to := s.destination(call)
	if to == nil {
		return nil, nil
	}
	v, ok := s.pkg.TypesInfo.Uses[to].(*types.Var)
	if !ok || v.Parent() == s.pkg.Types.Scope() {
		return nil, errors.New("the writer is not a local variable")
	}
	loop := s.outermostLoop(v)
	if loop == nil {
		return nil, errors.New("no loop writes")
	}
	edits, ok := s.writesIn(loop, v)
	if !ok {
		return nil, errors.New("the loop uses the writer for something other than writing")
	}
	lib, ok := s.qualify("bufio", loop.Pos())
	if !ok {
		return nil, errors.New("another name hides the package bufio there")
	}
	name := s.freeName("buffered")
	for i := range edits {
		edits[i].text = name
	}
	edits = append(edits,
		edit{loop.Pos(), loop.Pos(), name + " := " + lib + ".NewWriter(" + v.Name() + ")\n"},
		edit{loop.End(), loop.End(), "\n" + name + ".Flush() // check its error, which is that of all writes before; flush before each return from the loop, too"})
	return &proposal{risk: Judgement, edits: edits,
		why: "readers get what is written when the buffer is full or flushed, and a program that crashes loses what is in it: whether that is fine, you have to judge"}, nil
}

// destination returns the variable that a call writes to.
func (s *site) destination(call *ast.CallExpr) *ast.Ident {
	var e ast.Expr
	switch s.callee(call) {
	case "fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln", "io.WriteString":
		e = call.Args[0]
	case "(*os.File).Write", "(*os.File).WriteString", "(net.Conn).Write", "(*net.conn).Write", "(*net.TCPConn).Write", "(io.Writer).Write":
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			e = sel.X
		}
	}
	id, _ := e.(*ast.Ident)
	return id
}

// outermostLoop returns the outermost loop around the node, in its function or literal, that uses a
// variable from outside.
func (s *site) outermostLoop(v *types.Var) (loop ast.Stmt) {
	for _, n := range slices.Backward(s.path) {
		switch l := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if v.Pos() < l.Pos() || v.Pos() >= l.End() {
				loop = l.(ast.Stmt)
			}
		case *ast.FuncLit:
			return loop
		}
	}
	return loop
}

// writesIn returns the places in a loop that write to a variable; false if it has other uses.
func (s *site) writesIn(loop ast.Node, v *types.Var) (edits []edit, ok bool) {
	uses := 0
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if id := s.destination(n); id != nil && s.pkg.TypesInfo.Uses[id] == v {
				edits = append(edits, edit{id.Pos(), id.End(), ""})
			}
		case *ast.Ident:
			if s.pkg.TypesInfo.Uses[n] == v {
				uses++
			}
		}
		return true
	})
	return edits, uses == len(edits)
}
