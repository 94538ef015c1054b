package smallwrites

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// mostCalls is how many calls deep a reply is searched.
const mostCalls = 3

// answered reports whether something that a loop calls waits, such as for the reply to what was
// sent: then the next item cannot be sent before.
func answered(c *finder.Case, p *gocode.Place, loop ast.Node) bool {
	return waitsBelow(c, p, loop, mostCalls, map[ast.Node]bool{})
}

func waitsBelow(c *finder.Case, p *gocode.Place, in ast.Node, steps int, seen map[ast.Node]bool) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || steps == 0 {
			return !found
		}
		body, ok := c.Pass.Syntax.Declared(p.Callee(call))
		if !ok || body.Decl == nil || body.Decl.Body == nil || seen[body.Decl] {
			return true
		}
		seen[body.Decl] = true
		found = loops.Waits(body, body.Decl.Body) || waitsBelow(c, body, body.Decl.Body, steps-1, seen)
		return !found
	})
	return found
}

// built reports whether the source shows that a piece is made for its item: by a function, or by
// appending to an empty buffer. An element of a list may be a page, which takes hardly longer to
// send than a line.
func built(p *gocode.Place, call *ast.CallExpr) bool {
	from := syntax.Origin(p, call.Args[0])
	if _, ok := from.(*ast.CallExpr); ok {
		return true
	}
	v := syntax.Named(p, from)
	if v == nil {
		return false
	}
	made := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || syntax.Named(p, set.Lhs[0]) != v {
			return true
		}
		maker, called := ast.Unparen(set.Rhs[0]).(*ast.CallExpr)
		made = made || called && !funcname.Match(p.CalleeName(maker), "os.ReadFile", "io.ReadAll", "make")
		return true
	})
	return made
}

// addressed returns the address that a call sends a packet to; nil if there is none.
func addressed(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	switch p.CalleeName(call) {
	case "(net.PacketConn).WriteTo", "(*net.UDPConn).WriteTo", "(*net.UDPConn).WriteToUDP", "(*net.UDPConn).WriteToUDPAddrPort":
		return call.Args[1]
	}
	return nil
}

// fixed reports whether the address of a packet is the same in each call of the function of a line,
// as far as the function shows: no parameter has it.
func fixed(p *gocode.Place, call *ast.CallExpr) bool {
	to := addressed(p, call)
	if to == nil {
		return true
	}
	v, _ := syntax.Var(p, to)
	return v != nil && !syntax.Local(p, v)
}
