package channelhandoff

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// room is the capacity of a channel, as far as the source shows it.
type room int

const (
	unknown room = iota
	none
	some
)

// channel is what the source shows about a channel.
type channel struct {
	name string // its name on one of its sides; "" when there is no source
	size string // the capacity argument of make; "" when there is none
	room room
}

// channelOf examines the source of both sides. Either may have the channel as a parameter only.
func channelOf(p *rule.Pass, h *handoff) channel {
	var c channel
	for _, l := range []exectrace.Line{h.sender, h.receiver} {
		s := traced.SiteAt(p, l)
		if s == nil {
			continue
		}
		place := p.Place(s)
		if place == nil {
			continue
		}
		x := operand(place)
		if x == nil {
			continue
		}
		if c.name == "" {
			c.name = syntax.Text(x)
		}
		if m := syntax.MadeAs(place, x); m != nil {
			c.room, c.size = roomOf(place, m)
			return c
		}
	}
	return c
}

// operand returns the channel that the place's line sends to or receives from.
func operand(p *gocode.Place) ast.Expr {
	var x ast.Expr
	for _, n := range p.Nodes {
		if syntax.Line(p, n.Pos()) != p.Line {
			continue
		}
		switch n := n.(type) {
		case *ast.SendStmt:
			x = n.Chan
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				x = n.X
			}
		case *ast.RangeStmt:
			if t := p.TypeOf(n.X); t != nil {
				if _, ok := t.Underlying().(*types.Chan); ok {
					x = n.X
				}
			}
		}
	}
	return x
}

// sendsAt reports whether a line sends.
func sendsAt(p *rule.Pass, l exectrace.Line) bool {
	s := traced.SiteAt(p, l)
	if s == nil {
		return false
	}
	place := p.Place(s)
	if place == nil {
		return false
	}
	for _, n := range place.Nodes {
		if send, ok := n.(*ast.SendStmt); ok && syntax.Line(place, send.Arrow) == place.Line {
			return true
		}
	}
	return false
}

// roomOf returns the capacity that the second argument of make gives.
func roomOf(p *gocode.Place, m *ast.CallExpr) (room, string) {
	if len(m.Args) < 2 {
		return none, ""
	}
	size := syntax.Text(m.Args[1])
	if v, ok := p.Const(m.Args[1]); ok {
		if n, exact := constant.Int64Val(constant.ToInt(v)); exact && n == 0 {
			return none, size
		}
		return some, size
	}
	return unknown, size
}
