package smallwrites

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// batched is the advice for packets that cannot be put together.
const batched = " WriteBatch of golang.org/x/net/ipv4 sends many packets with one system call on Linux, if each piece needs a packet of its own."

// datagrams reports whether a call writes to a socket on which each write is a packet, such as one
// of UDP: the type of the writer says so, or what dials it.
func datagrams(c *finder.Case, call *ast.CallExpr) bool {
	to := writer(c.Place, call)
	if to == nil {
		return false
	}
	if addressed(c.Place, call) != nil {
		return true
	}
	t := c.Place.TypeOf(to)
	if t == nil {
		return false
	}
	if slices.Contains([]string{"*net.UDPConn", "*net.IPConn", "net.PacketConn"}, types.TypeString(t, nil)) {
		return true
	}
	from := flow.Sources(c.Pass.Syntax, c.Place, to)
	return len(from) > 0 && !slices.ContainsFunc(from, func(a flow.Argument) bool { return !dials(a) })
}

// dials reports whether an expression makes a connection that sends packets.
func dials(a flow.Argument) bool {
	call, ok := ast.Unparen(a.Value).(*ast.CallExpr)
	if !ok {
		return false
	}
	name := a.Place.CalleeName(call)
	if funcname.Match(name, "net.DialUDP", "net.ListenUDP", "net.DialIP", "net.ListenPacket") {
		return true
	}
	if !funcname.Match(name, "net.Dial*", "(*net.Dialer).Dial*") {
		return false
	}
	for _, arg := range call.Args {
		if network, ok := syntax.ConstString(a.Place, arg); ok {
			return strings.HasPrefix(network, "udp") || strings.HasPrefix(network, "ip") || network == "unixgram"
		}
	}
	return false
}

// separate reports whether a call sends a whole message in a packet of its own: the encoding of a
// value, of which a receiver expects one for each packet.
func separate(c *finder.Case, call *ast.CallExpr) bool {
	if len(call.Args) == 0 || !datagrams(c, call) {
		return false
	}
	return slices.ContainsFunc(flow.Sources(c.Pass.Syntax, c.Place, call.Args[0]), encoding)
}

// encoding reports whether an expression is the encoding of a value: the result of an encoder, of a
// method that is named as one, or a variable that is assigned such.
func encoding(a flow.Argument) bool {
	if call, ok := ast.Unparen(a.Value).(*ast.CallExpr); ok {
		return encodes(a.Place, call)
	}
	v := syntax.Named(a.Place, a.Value)
	return v != nil && syntax.Local(a.Place, v) && slices.ContainsFunc(syntax.Assigned(a.Place, v), func(e ast.Expr) bool {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		return ok && encodes(a.Place, call)
	})
}

func encodes(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	name := fn.Name()
	return funcname.Match(p.CalleeName(call), funcname.TypedAll(codecs.Encoders())...) ||
		strings.HasPrefix(name, "Marshal") || strings.HasPrefix(name, "marshal") || strings.HasPrefix(name, "Pack") || strings.HasPrefix(name, "Seal")
}
