package goroutineleak

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// sending is a send at which goroutines wait, and the call that makes its channel.
type sending struct {
	pass    *rule.Pass
	at      *gocode.Place
	stmt    *ast.SendStmt
	in      *gocode.Place // the function that makes the channel
	made    *ast.CallExpr
	started *site.Frame // the go statement; nil if that is not known
}

// sends says why nothing receives what goroutines send on a line, and what ends them: that depends
// on how many values are sent to one channel.
func sends(p *rule.Pass, s *site.Site, started *site.Frame) advice {
	at := p.Place(s)
	if at == nil || p.Syntax == nil {
		return advice{}
	}
	var stmt *ast.SendStmt
	for _, n := range at.Nodes {
		if send, ok := n.(*ast.SendStmt); ok && stmt == nil {
			stmt = send
		}
	}
	if stmt == nil {
		return advice{}
	}
	from := flow.Sources(p.Syntax, at, stmt.Chan)
	if len(from) != 1 {
		return advice{}
	}
	made, ok := ast.Unparen(from[0].Value).(*ast.CallExpr)
	if !ok || from[0].CalleeName(made) != "make" || from[0].Decl == nil {
		return advice{}
	}
	w := &sending{p, at, stmt, from[0].Outer(), made, started}
	switch room, several := w.senders(); {
	case loops.Same(at, stmt, stmt.Chan) != nil && !syntax.Inside(loops.Same(at, stmt, stmt.Chan), made.Pos()):
		return w.stream()
	case several:
		return w.all(room)
	}
	return w.one()
}

// name returns the channel's name where it is made.
func (w *sending) name() string {
	if to := syntax.AssignedTo(w.in, w.made); to != nil {
		return syntax.Text(to)
	}
	return syntax.Text(w.stmt.Chan)
}

// senders returns the number of goroutines that send to one channel, as an expression, and whether
// they are several: a loop starts them, and the channel is made before it.
func (w *sending) senders() (room string, several bool) {
	if w.started == nil {
		return "", false
	}
	at, ok := w.pass.Syntax.At(w.started.File, w.started.Line)
	if !ok || at.Decl != w.in.Decl {
		return "", false
	}
	for _, n := range at.Nodes {
		start, ok := n.(*ast.GoStmt)
		if !ok {
			continue
		}
		for _, loop := range loops.Around(at, start) {
			if syntax.Inside(loop, w.made.Pos()) {
				continue
			}
			room, ok := loops.Iterations(at, loop)
			if !ok || loops.Evaluates(at, loop) || !w.known(loop) {
				room = ""
			}
			return room, true
		}
	}
	return "", false
}

// stream is the advice for goroutines that send one value after the other.
func (w *sending) stream() advice {
	name := w.name()
	cause := fmt.Sprintf("Each sends one value after the other to %s%s.", name, w.leaves())
	fix := fmt.Sprintf("Tell the sender when nobody reads %s any more: pass a context that the reader cancels when it returns (defer cancel()), and select between the send and ctx.Done(). A larger channel only blocks later. An iterator (iter.Seq) needs no goroutine.", name)
	return advice{cause, fix, false}
}

// all is the advice for several goroutines that send one value each to the same channel.
func (w *sending) all(room string) advice {
	name, elem := w.name(), w.elem()
	cause := fmt.Sprintf("Several goroutines send to the same channel, %s%s.", name, w.leaves())
	fix := fmt.Sprintf("Give %s room for the values of all senders (%s), ", name, syntax.Where(w.in, w.made.Pos()))
	if room != "" {
		fix = fmt.Sprintf("Give %s room for the values of all senders: make(chan %s, %s) (%s), ", name, elem, room, syntax.Where(w.in, w.made.Pos()))
	}
	return advice{cause, fix + "not for one. Better, also cancel a context when the function returns (defer cancel()) that ends the work of the others, whose results nobody needs.", false}
}

// one is the advice for a goroutine that sends one value.
func (w *sending) one() advice {
	if len(w.made.Args) > 1 {
		return advice{} // made with room already
	}
	name := w.name()
	return advice{fmt.Sprintf("Each sends one value to %s%s.", name, w.leaves()),
		fmt.Sprintf("Give %s room for this value: make(chan %s, 1) (%s). The goroutine then ends, whether or not something receives the value.", name, w.elem(), syntax.Where(w.in, w.made.Pos())), false}
}

func (w *sending) elem() string {
	ch, ok := w.in.TypeOf(w.made).Underlying().(*types.Chan)
	if !ok {
		return "T"
	}
	return syntax.TypeText(w.in, ch.Elem())
}

// known reports whether the variables that bound a loop exist where the channel is made.
func (w *sending) known(loop ast.Node) bool {
	var bound ast.Expr
	switch l := loop.(type) {
	case *ast.RangeStmt:
		bound = l.X
	case *ast.ForStmt:
		bound = l.Cond
	}
	known := bound != nil
	ast.Inspect(bound, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, _ := w.in.Object(id).(*types.Var)
			later := v != nil && syntax.Inside(w.in.Decl, v.Pos()) && v.Pos() > w.made.Pos()
			known = known && (!later || syntax.Inside(loop, v.Pos()))
		}
		return known
	})
	return known
}

// leaves says where whoever receives stops to do so; "" if that is not known.
func (w *sending) leaves() string {
	if where := w.left(w.in, syntax.LocalVar(w.in, syntax.AssignedTo(w.in, w.made))); where != "" {
		return where
	}
	for _, g := range flow.Returned(w.pass.Syntax, w.in, w.made) {
		if g.Wrapped || g.Decl == nil {
			continue
		}
		if where := w.left(g.Outer(), syntax.LocalVar(g.Place, result(g.Place, g.Call))); where != "" {
			return where
		}
	}
	return ""
}

// result returns what the first result of a call is assigned to; nil for nothing.
func result(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if a, ok := syntax.Parent(p, call).(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
		return a.Lhs[0]
	}
	return syntax.AssignedTo(p, call)
}

// left says where a function that receives from a channel in a loop, or in a select, leaves that
// before it has received everything; "" if it does not receive, or that is not known.
func (w *sending) left(in *gocode.Place, v *types.Var) string {
	receive := receives(in, v)
	if receive == nil {
		return ""
	}
	who := fmt.Sprintf(", but %s, which receives on line %d, ", syntax.FuncName(in), syntax.Line(in, receive.Pos()))
	var scope ast.Node
	if around := loops.Around(in, receive); len(around) > 0 {
		scope = around[len(around)-1]
	} else if r, ok := receive.(*ast.RangeStmt); ok {
		scope = r
	} else if scope = selects(in, receive); scope == nil {
		return who + "does so only once"
	}
	if at := w.exit(in, scope); at != token.NoPos {
		return fmt.Sprintf("%sleaves on line %d before it has received everything", who, syntax.Line(in, at))
	}
	return ""
}

// receives returns the first receive from the channel of a variable in a function itself; nil for
// none.
func receives(in *gocode.Place, v *types.Var) (found ast.Node) {
	if v == nil || in.Decl == nil {
		return nil
	}
	of := func(e ast.Expr) bool { return syntax.LocalVar(in, e) == v }
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && of(n.X) && found == nil {
				found = n
			}
		case *ast.RangeStmt:
			if of(n.X) && found == nil {
				found = n
			}
		}
		return found == nil
	})
	return found
}

// selects returns the select that a receive is a case of; nil for none.
func selects(in *gocode.Place, receive ast.Node) ast.Node {
	for _, n := range in.Enclosing(receive) {
		switch n := n.(type) {
		case *ast.SelectStmt:
			return n
		case *ast.FuncLit, *ast.BlockStmt:
			if _, ok := syntax.Parent(in, n).(*ast.SelectStmt); !ok {
				return nil
			}
		}
	}
	return nil
}

// exit returns where a function leaves a loop or select by a return or break: the one that runs
// most often or, if executions were not counted, the only one.
func (w *sending) exit(in *gocode.Place, scope ast.Node) (at token.Pos) {
	most, n := 0.0, 0
	visit := func(pos token.Pos) {
		e, ok := evidence.ExecutionsAt(w.pass, in, pos)
		n++
		switch {
		case ok && e.PerUnit > most:
			at, most = pos, e.PerUnit
		case !ok && n == 1:
			at = pos
		case !ok:
			at = token.NoPos
		}
	}
	ast.Inspect(scope, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			visit(x.Pos())
		case *ast.BranchStmt:
			if x.Tok == token.BREAK && syntax.BreakTarget(in.Enclosing(x)) == scope {
				visit(x.Pos())
			}
		}
		return true
	})
	return at
}
