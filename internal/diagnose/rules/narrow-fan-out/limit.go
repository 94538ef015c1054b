package narrowfanout

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// limit is how many goroutines of a request run at a time.
type limit struct {
	n     int64  // 0 when that is not known
	name  string // in the source: "g.SetLimit(4)"
	where string
}

// words returns the limit with its place and its value, if that is not in the name.
func (l *limit) words() string {
	value := ""
	if n := fmt.Sprint(l.n); l.n > 0 && !strings.Contains(l.name, n) {
		value = " = " + n
	}
	return fmt.Sprintf("%s%s (%s)", l.name, value, l.where)
}

// limitAt returns the limit at which a line waits, if the function around it makes the limit: of a
// group of goroutines, a channel that has room for some, or workers that it starts; nil for others.
func limitAt(p *rule.Pass, place *gocode.Place) *limit {
	outer := place.Outer()
	if outer.Decl == nil {
		return nil
	}
	for _, n := range place.Nodes {
		if syntax.Line(place, n.Pos()) != place.Line {
			continue
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			if l := ofGroup(p, outer, n); l != nil {
				return l
			}
		case *ast.SendStmt:
			if l := ofChannel(p, outer, n); l != nil {
				return l
			}
		}
	}
	return nil
}

// ofGroup returns the limit of the group whose method Go a call calls.
func ofGroup(p *rule.Pass, outer *gocode.Place, call *ast.CallExpr) *limit {
	fn := outer.Callee(call)
	if fn == nil || fn.Name() != "Go" && fn.Name() != "Submit" || fn.Pkg() == nil || fn.Pkg() == outer.Pkg {
		return nil
	}
	group := syntax.LocalVar(outer, syntax.Receiver(call))
	if group == nil || syntax.Param(outer, group) {
		return nil
	}
	var found *limit
	ast.Inspect(outer.Decl.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.CallExpr)
		if !ok || found != nil || len(set.Args) != 1 {
			return found == nil
		}
		to := outer.Callee(set)
		if to == nil || to.Pkg() != fn.Pkg() || !strings.HasPrefix(to.Name(), "SetLimit") && !strings.HasPrefix(to.Name(), "WithMaxGoroutines") {
			return true
		}
		if v := syntax.LocalVar(outer, syntax.Receiver(set)); v == group || syntax.Inside(declaration(outer, group), set.Pos()) {
			found = &limit{n: value(p, outer, set.Args[0]), name: syntax.Text(set.Fun) + "(" + syntax.Text(set.Args[0]) + ")", where: syntax.Where(outer, set.Pos())}
			found.passed(p, outer, set.Args[0])
		}
		return true
	})
	return found
}

// declaration returns the statement that declares a local variable.
func declaration(p *gocode.Place, v *types.Var) ast.Node {
	stmt, _ := syntax.Declared(p, v)
	if stmt == nil {
		return &ast.BadStmt{}
	}
	return stmt
}

// ofChannel returns the limit of a channel that the function makes and a line sends to: its room if
// the function's goroutines receive from it when they are done, or the number of workers that the
// function starts.
func ofChannel(p *rule.Pass, outer *gocode.Place, send *ast.SendStmt) *limit {
	ch := syntax.LocalVar(outer, send.Chan)
	if ch == nil || syntax.Param(outer, ch) {
		return nil
	}
	made, ok := ast.Unparen(syntax.Origin(outer, send.Chan)).(*ast.CallExpr)
	if !ok || outer.CalleeName(made) != "make" {
		return nil
	}
	if len(made.Args) == 2 && token(outer, ch) {
		l := &limit{n: value(p, outer, made.Args[1]), name: "the room of " + syntax.Text(send.Chan), where: syntax.Where(outer, made.Pos())}
		l.passed(p, outer, made.Args[1])
		return l
	}
	loop, bound := starts(outer, ch)
	if loop == nil {
		return nil
	}
	l := &limit{n: value(p, outer, bound), name: "the number of workers", where: syntax.Where(outer, loop.Pos())}
	l.passed(p, outer, bound)
	return l
}

// passed names the argument of the only call that passes the limit to the function, if that is a
// number: other callers may need another one.
func (l *limit) passed(p *rule.Pass, outer *gocode.Place, e ast.Expr) {
	v := syntax.LocalVar(outer, e)
	if v == nil || !syntax.Param(outer, v) {
		return
	}
	above, call := flow.RunningCall(p, outer)
	if call == nil {
		return
	}
	arg := flow.ArgumentFor(outer, call, v)
	if arg == nil {
		return
	}
	if _, constant := above.Const(arg); constant {
		l.name, l.where = fmt.Sprintf("the argument %s of %s", syntax.Text(arg), syntax.Text(call.Fun)), syntax.Where(above, arg.Pos())
	}
}

// token reports whether a channel holds values without content.
func token(p *gocode.Place, ch *types.Var) bool {
	t, ok := ch.Type().Underlying().(*types.Chan)
	if !ok {
		return false
	}
	switch e := t.Elem().Underlying().(type) {
	case *types.Struct:
		return e.NumFields() == 0
	case *types.Basic:
		return e.Kind() == types.Bool
	}
	return false
}

// starts returns the loop of a function that starts goroutines which use a channel, and how often
// it does so.
func starts(p *gocode.Place, ch *types.Var) (loop ast.Node, bound ast.Expr) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		g, ok := n.(*ast.GoStmt)
		if !ok || loop != nil || !syntax.Mentions(p, g, ch) {
			return loop == nil
		}
		switch l := p.LoopAround(g).(type) {
		case *ast.RangeStmt:
			if b, ok := p.TypeOf(l.X).Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
				loop, bound = l, l.X
			}
		case *ast.ForStmt:
			if c, ok := l.Cond.(*ast.BinaryExpr); ok {
				loop, bound = l, c.Y
			}
		}
		return loop == nil
	})
	return loop, bound
}

// value returns the only constant that an expression can have; 0 for others.
func value(p *rule.Pass, place *gocode.Place, e ast.Expr) int64 {
	values := flow.Constants(p.Syntax, place, e)
	if len(values) != 1 {
		return 0
	}
	n, _ := constant.Int64Val(constant.ToInt(values[0]))
	return n
}
