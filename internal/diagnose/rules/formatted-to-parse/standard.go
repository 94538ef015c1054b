package formattedtoparse

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// parsers are functions that parse the text of a single value, formatters those that make one.
var (
	parsers = []string{
		"strconv.ParseFloat", "strconv.ParseInt", "strconv.ParseUint", "strconv.Atoi", "strconv.ParseBool",
		"time.Parse", "time.ParseInLocation", "time.ParseDuration",
		"net/url.Parse", "net.ParseIP", "net.SplitHostPort", "net/netip.ParseAddr", "net/netip.MustParseAddr", "net/netip.ParseAddrPort", "net/netip.ParsePrefix",
		"math/big.(*Int).SetString", "math/big.(*Rat).SetString", "math/big.(*Float).SetString",
		"github.com/shopspring/decimal.NewFromString", "github.com/shopspring/decimal.RequireFromString",
		"github.com/google/uuid.Parse", "github.com/google/uuid.MustParse", "github.com/gofrs/uuid*.FromString",
	}
	formatters = []string{
		"fmt.Sprintf", "fmt.Sprint", "strconv.FormatFloat", "strconv.FormatInt", "strconv.FormatUint", "strconv.Itoa", "strconv.FormatBool",
		"time.Time.Format", "time.Duration.String",
		"net/url.(*URL).String", "net.IP.String", "net/netip.Addr.String", "net/netip.AddrPort.String", "net/netip.Prefix.String",
		"net.(*TCPAddr).String", "net.(*UDPAddr).String",
		"math/big.(*Int).String", "math/big.(*Int).Text", "math/big.(*Rat).String", "math/big.(*Float).String", "math/big.(*Float).Text",
		"github.com/shopspring/decimal.Decimal.String", "github.com/shopspring/decimal.Decimal.StringFixed",
		"github.com/google/uuid.UUID.String", "github.com/gofrs/uuid*.UUID.String",
	}
)

// standard finds texts of numbers, times and addresses that are only parsed again.
func standard() finder.Line {
	return finder.Line{Start: finder.Calls{Functions: append(append([]string{"net.Addr.String"}, parsers...), formatters...)}, Judge: judgeStandard}
}

func judgeStandard(c *finder.Case) bool {
	var found *trip
	ok := c.All(func(call *ast.CallExpr) bool {
		t := tripOf(c.Pass, c.Place, call)
		if t != nil && found == nil {
			found = t
		}
		return t != nil
	})
	if !ok || found == nil {
		return false
	}
	in, out := found.in, found.out
	c.Cause = fmt.Sprintf("%s makes a text of %s, and %s parses it again: the text has no other use.",
		symbol.Short(out.CalleeName(out.Value.(*ast.CallExpr))), found.value, symbol.Short(c.Place.CalleeName(in)))
	c.Fix = found.fix
	return true
}

// trip is a value's way through a text.
type trip struct {
	in    *ast.CallExpr // parses
	out   flow.Argument // the call that formats
	value string
	fix   string
}

// tripOf returns the trip that a call is a part of; nil if the text has another use, or there is no
// shorter way.
func tripOf(pass *rule.Pass, p *gocode.Place, call *ast.CallExpr) *trip {
	name := p.CalleeName(call)
	if !funcname.Match(name, funcname.TypedAll(parsers)...) {
		if call = parsing(p, call); call == nil {
			return nil
		}
		name = p.CalleeName(call)
	}
	var found *trip
	for _, source := range textsOf(pass.Syntax, p, argument(call, name)) {
		out, ok := source.Value.(*ast.CallExpr)
		if !ok {
			return nil
		}
		value, fix := shorter(p, call, name, source.Place, out)
		if fix == "" {
			return nil
		}
		found = &trip{in: call, out: source, value: value, fix: fix}
	}
	return found
}

// argument returns the text that a call parses.
func argument(call *ast.CallExpr, name string) ast.Expr {
	i := 0
	if strings.HasPrefix(name, "time.Parse") && len(call.Args) > 1 {
		i = 1
	}
	if i >= len(call.Args) {
		return nil
	}
	return call.Args[i]
}

// parsing returns the call that parses what another one formats, if the text has no other use; nil
// for none.
func parsing(p *gocode.Place, out *ast.CallExpr) *ast.CallExpr {
	var text ast.Expr = out
	if v := syntax.Result(p, out); v != nil {
		reads := syntax.Reads(p, v)
		if len(reads) != 1 || len(syntax.Assigned(p, v)) != 1 {
			return nil
		}
		text = reads[0]
	}
	in, ok := syntax.Parent(p, text).(*ast.CallExpr)
	if !ok {
		return nil
	}
	name := p.CalleeName(in)
	if !funcname.Match(name, funcname.TypedAll(parsers)...) || ast.Unparen(argument(in, name)) != ast.Unparen(text) {
		return nil
	}
	return in
}

// textsOf returns the calls that make a text, with their places, if the text has no other use:
// directly, through a variable that is read once, through a function that returns what such a call
// returns, or the same for what all callers pass for a parameter. It returns something other than a
// call for texts from elsewhere.
func textsOf(s *gocode.Syntax, p *gocode.Place, e ast.Expr) (all []flow.Argument) {
	if e == nil {
		return nil
	}
	e = ast.Unparen(e)
	v := syntax.LocalVar(p, e)
	if v != nil && len(syntax.Reads(p, v)) != 1 {
		return []flow.Argument{{Place: p, Value: e}}
	}
	made := syntax.Origin(p, e)
	if call, ok := made.(*ast.CallExpr); ok {
		if in, value := syntax.Returned(p, call); in != nil {
			if inner, ok := ast.Unparen(value).(*ast.CallExpr); ok {
				return []flow.Argument{{Place: in, Value: inner}}
			}
		}
		return []flow.Argument{{Place: p, Value: call}}
	}
	if v == nil || s == nil || !syntax.Param(p, v) {
		return []flow.Argument{{Place: p, Value: made}}
	}
	for _, given := range flow.Passed(s, p, v) {
		all = append(all, flow.Argument{Place: given.Place, Value: ast.Unparen(given.Value)})
	}
	return all
}

// shorter returns what a text is of, and how its value gets to where it is parsed without it; "" if
// that is not known.
func shorter(p *gocode.Place, in *ast.CallExpr, parser string, at *gocode.Place, out *ast.CallExpr) (value, fix string) {
	formatter := at.CalleeName(out)
	switch {
	case strings.HasPrefix(parser, "time.Parse") && parser != "time.ParseDuration":
		return times(p, in, at, out, formatter)
	case strings.HasPrefix(parser, "strconv."):
		return numbers(p, in, parser, at, out, formatter)
	case parser == "net.SplitHostPort" || parser == "net/netip.ParseAddrPort":
		of := syntax.Receiver(out)
		if formatter != "(net.Addr).String" || of == nil {
			return "", ""
		}
		return syntax.Text(of), fmt.Sprintf("Assert the type: %s.(*net.TCPAddr) has the IP and the Port, and AddrPort returns both as one value that can be compared.", syntax.Text(of))
	}
	of := syntax.Receiver(out)
	if of == nil {
		return "", ""
	}
	value = syntax.Text(of)
	switch from, to := named(at.TypeOf(of)), named(resultOf(p, in)); {
	case from == "" || to == "" || formatter == "" || strings.HasPrefix(formatter, "fmt."):
		return "", ""
	case from == "net.IP" && to == "net/netip.Addr":
		return value, fmt.Sprintf("Convert the bytes: netip.AddrFromSlice(%s), with Unmap for an IPv4 address in 16 bytes.", value)
	case from == "net/netip.Addr" && to == "net.IP":
		return value, fmt.Sprintf("Convert the bytes: net.IP(%s.AsSlice()).", value)
	case from != to || len(out.Args) > 0 && !strings.HasSuffix(formatter, ".Text"):
		return "", ""
	case from == "net/url.URL":
		return value, fmt.Sprintf("Copy the struct: u := *%s. Its User is a pointer to a value that never changes.", strings.TrimPrefix(value, "*"))
	case strings.HasPrefix(from, "math/big."):
		return value, fmt.Sprintf("Copy the number: new(big.%s).Set(%s).", strings.TrimPrefix(from, "math/big."), value)
	}
	return value, fmt.Sprintf("Use %s itself: it has the same type.", value)
}

// resultOf returns the type of a call's first result.
func resultOf(p *gocode.Place, call *ast.CallExpr) types.Type {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Results().Len() == 0 {
		return nil
	}
	return fn.Signature().Results().At(0).Type()
}

// named returns the name of a named type, or of the one that a pointer points to.
func named(t types.Type) string {
	if t == nil {
		return ""
	}
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return ""
	}
	return n.String()
}
