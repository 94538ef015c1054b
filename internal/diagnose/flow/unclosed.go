package flow

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// releases are methods that give up what a value holds.
func releases() []string {
	return []string{"Close", "Release", "Rollback", "Commit", "Unsubscribe", "Disconnect", "Shutdown"}
}

// Unclosed returns a value from a call on the line that its function does not close on all paths:
// rows of a query, which keep their connection, a statement, a file, a subscription. It returns the
// cause and the fix as sentences; "" when there is none. It is not a proof: what a profile shows
// must agree.
func Unclosed(p *gocode.Place) (cause, fix string) {
	for _, call := range syntax.Calls(p) {
		t := firstResult(p, call)
		method := releasing(t)
		if method == "" {
			continue
		}
		text := syntax.Text(call.Fun)
		if dropped(p, call) {
			fix := fmt.Sprintf("Assign what %s returns, and call its %s.", text, method)
			if strings.HasPrefix(t.String(), "*database/sql.") {
				fix = "Use Exec for a statement that returns no rows, or close the rows: until then they keep their connection, and the next query opens another."
			}
			return fmt.Sprintf("What %s returns holds it until its %s is called, and %s drops it.", text, method, syntax.FuncName(p)), fix
		}
		v := syntax.Result(p, call)
		if v == nil || !syntax.Local(p, v) {
			continue
		}
		if why := leftOpen(p, call, v); why != "" {
			return fmt.Sprintf("What %s returns holds it until %s.%s is called, and %s.", text, v.Name(), method, why),
				fmt.Sprintf("Defer %s.%s() right after the check of the error, before any other return.", v.Name(), method)
		}
	}
	return "", ""
}

// firstResult returns the type of the first result of a call; nil for none.
func firstResult(p *gocode.Place, call *ast.CallExpr) types.Type {
	sig, ok := p.TypeOf(call.Fun).(*types.Signature)
	if !ok || sig.Results().Len() == 0 {
		return nil
	}
	return sig.Results().At(0).Type()
}

// releasing returns the method that releases values of a type; "" for none.
func releasing(t types.Type) string {
	if t == nil {
		return ""
	}
	for _, name := range releases() {
		o, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
		if fn, ok := o.(*types.Func); ok && fn.Signature().Params().Len() == 0 {
			return name
		}
	}
	return ""
}

// dropped reports whether nothing gets the first result of a call.
func dropped(p *gocode.Place, call *ast.CallExpr) bool {
	if _, alone := syntax.Parent(p, call).(*ast.ExprStmt); alone {
		return true
	}
	id, ok := syntax.AssignedTo(p, call).(*ast.Ident)
	return ok && id.Name == "_"
}

// leftOpen says on which path a function leaves the value of a variable open that a call returns;
// "" if it closes it, or passes it to something that may.
func leftOpen(p *gocode.Place, call *ast.CallExpr, v *types.Var) string {
	closed, drained, ours := Closing(p, call, v)
	if !ours || drained {
		return ""
	}
	switch line, leaves := early(p, call, closed); {
	case closed == nil:
		return syntax.FuncName(p) + " never calls it"
	case line > 0:
		return fmt.Sprintf("%s %s on line %d without that", syntax.FuncName(p), leaves, line)
	}
	return ""
}

// Closing returns where a function first closes the value of a variable that a call returns (nil:
// nowhere), and whether it reads it to the end, which closes rows of a database. ours is false if
// it passes the value to something that may close it.
func Closing(p *gocode.Place, call *ast.CallExpr, v *types.Var) (closed ast.Node, drained, ours bool) {
	return closing(p, call.End(), v, mostSteps)
}

// closing is [Closing] for what comes after a position. The functions of the package that get the
// value are followed.
func closing(p *gocode.Place, after token.Pos, v *types.Var, steps int) (closed ast.Node, drained, ours bool) {
	for _, id := range syntax.Uses(p, v) {
		if id.Pos() < after || p.Info.Defs[id] != nil {
			continue
		}
		path := p.Enclosing(id)
		if len(path) < 2 {
			return nil, false, false // in another function
		}
		switch n := path[0].(type) {
		case *ast.SelectorExpr:
			if slices.Contains(releases(), n.Sel.Name) && (closed == nil || id.Pos() < closed.Pos()) {
				closed = id
			}
			drained = drained || n.Sel.Name == "Next" && exhausts(path)
		case *ast.BinaryExpr:
		case *ast.CallExpr:
			if fn := p.Callee(n); fn != nil && fn.Pkg() != nil && symbol.Standard(fn.Pkg().Path()) {
				continue
			}
			read, reads := readBy(p, n, id, steps)
			if !reads {
				return nil, false, false
			}
			drained = drained || read
		default:
			return nil, false, false
		}
	}
	return closed, drained, true
}

// readBy reports whether a call is of a function of the package that only reads a value which it
// gets: it neither closes it nor passes it on; and whether it reads it to the end.
func readBy(p *gocode.Place, call *ast.CallExpr, arg ast.Expr, steps int) (drained, ok bool) {
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	i := slices.Index(call.Args, arg)
	if decl == nil || decl.Body == nil || i < 0 || steps == 0 || fn.Signature().Variadic() {
		return false, false
	}
	for r := range fn.Signature().Results().Variables() {
		if !syntax.PlainData(r.Type()) && !syntax.IsError(r.Type()) {
			return false, false // it may have the value
		}
	}
	closed, drained, ours := closing(p.Entry(decl), decl.Body.Pos(), fn.Origin().Signature().Params().At(i), steps-1)
	return drained, ours && closed == nil
}

// exhausts reports whether a call of Next, whose path is given, is the condition of a loop that is
// left only when there is nothing more: rows of a database are then closed.
func exhausts(path []ast.Node) bool {
	for i, n := range path {
		if loop, ok := n.(*ast.ForStmt); ok {
			return i > 0 && path[i-1] == ast.Node(loop.Cond) && !leaves(loop.Body)
		}
	}
	return false
}

func leaves(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt:
			found = true
		}
		return !found
	})
	return found
}

// early returns the line of the first return after a call and before a node (nil: anywhere) that is
// not under a condition on an error, or of the first continue of the loop around the call, and what
// the function does there; 0 for none.
func early(p *gocode.Place, call *ast.CallExpr, before ast.Node) (line int, does string) {
	loop := p.LoopAround(call)
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == p.Func
		case *ast.ReturnStmt:
			what = "returns"
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE && loop != nil && p.LoopAround(n) == loop {
				what = "continues its loop"
			}
		}
		if what != "" && line == 0 && n.Pos() > call.End() && (before == nil || n.End() <= before.Pos()) && !ofError(p, n) {
			line, does = syntax.Line(p, n.Pos()), what
		}
		return line == 0
	})
	return line, does
}

// ofError reports whether a return is under a condition on an error: seldom, or for the call
// itself, which then returned nothing.
func ofError(p *gocode.Place, ret ast.Node) bool {
	for _, n := range p.Enclosing(ret) {
		cond, ok := n.(*ast.IfStmt)
		if !ok {
			continue
		}
		found := false
		ast.Inspect(cond.Cond, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				t := p.TypeOf(e)
				found = found || t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}
