package goroutineleak

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// localChannel says what is wrong with the end of goroutines that range over a channel which a
// function makes: nothing closes it, or the function returns before it does; nothing for other
// channels.
func localChannel(p *rule.Pass, place *gocode.Place, from ast.Expr) advice {
	in, v := maker(p, place, from)
	if v == nil || !ranges(place, from) {
		return advice{}
	}
	closes, escapes := closing(in, v)
	name, fn := v.Name(), syntax.FuncName(in)
	if closes == token.NoPos {
		if escapes {
			return advice{}
		}
		return advice{fmt.Sprintf("They would end when %s is closed, which %s makes (%s) and does not close.", name, fn, syntax.Where(in, v.Pos())),
			fmt.Sprintf("Close %s in %s when nothing more is sent to it: with defer close(%s) where it is made, or before the line that waits for the goroutines.", name, fn, name), false}
	}
	at, runs := evidence.ReturnBetween(p, in, in.Decl, v.Pos(), closes)
	if at == token.NoPos || !evidence.Hot(p, counts.Executions{PerUnit: runs}) {
		return advice{}
	}
	return advice{fmt.Sprintf("They would end when %s closes %s (%s), but it returns on line %d before that.", fn, name, syntax.Where(in, closes), syntax.Line(in, at)),
		fmt.Sprintf("Close %s on all paths of %s: with defer close(%s), right after it is made.", name, fn, name), false}
}

// maker returns the function that makes the channel of an expression, and its variable there: the
// function around the place, also where a literal in it captures the variable, or the only one that
// passes it; nil for other channels.
func maker(p *rule.Pass, place *gocode.Place, from ast.Expr) (*gocode.Place, *types.Var) {
	v := syntax.LocalVar(place, from)
	if v == nil || p.Syntax == nil {
		return nil, nil
	}
	in := place.Outer()
	if given := flow.Passed(p.Syntax, place, v); len(given) == 1 {
		in = given[0].Outer()
		v = syntax.LocalVar(in, given[0].Value)
	}
	if v == nil || in.Decl == nil || syntax.Param(in, v) {
		return nil, nil
	}
	_, value := syntax.Declared(in, v)
	made, ok := value.(*ast.CallExpr)
	if !ok || in.CalleeName(made) != "make" {
		return nil, nil
	}
	return in, v
}

// ranges reports whether a line iterates over what a channel receives.
func ranges(p *gocode.Place, from ast.Expr) bool {
	for _, n := range p.Nodes {
		if r, ok := n.(*ast.RangeStmt); ok && r.X == from {
			return true
		}
	}
	return false
}

// closing returns where a function closes the channel of a variable, and whether something else may
// close it: a function of the program that gets it, or what keeps or returns it.
func closing(in *gocode.Place, v *types.Var) (at token.Pos, escapes bool) {
	for _, use := range syntax.Uses(in, v) {
		switch up := syntax.Parent(in, use).(type) {
		case *ast.CallExpr:
			if in.CalleeName(up) == "close" {
				at = up.Pos()
			} else if in.CalleeName(up) != "len" && up.Fun != ast.Expr(use) {
				escapes = escapes || !onlyReceives(in, up, use)
			}
		case *ast.RangeStmt, *ast.UnaryExpr, *ast.AssignStmt:
			a, assigned := up.(*ast.AssignStmt)
			escapes = escapes || assigned && a.Tok != token.DEFINE
		case *ast.SendStmt:
			escapes = escapes || up.Value == ast.Expr(use)
		case *ast.ValueSpec:
		default:
			escapes = true
		}
	}
	return at, escapes
}

// onlyReceives reports whether a call gets a channel as one that it cannot close.
func onlyReceives(p *gocode.Place, call *ast.CallExpr, arg ast.Expr) bool {
	sig, ok := p.TypeOf(call.Fun).Underlying().(*types.Signature)
	if !ok {
		return false
	}
	for i, a := range call.Args {
		if a == arg && i < sig.Params().Len() {
			ch, ok := sig.Params().At(i).Type().Underlying().(*types.Chan)
			return ok && ch.Dir() == types.RecvOnly
		}
	}
	return false
}
