package smallwrites

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// shortMessage is the maximum mean size of messages, in bytes: several fit into a packet.
	shortMessage = 512
	// packet is the number of bytes that a UDP packet carries over most networks.
	packet = 1400
	// mostOffered is the maximum number of names that a fix mentions.
	mostOffered = 4
)

// burst is a function that has a client send several messages in a row.
type burst struct {
	place *gocode.Place
	lines []int
	sends float64 // messages for each call of the function
}

// judgeMessage judges a client that writes each message to its connection immediately, and gets
// many short ones in a row, each with a call of its own.
func judgeMessage(c *finder.Case) bool {
	row := stacks.Largest(c.CPU)
	if row == nil || row.Owner < 0 || len(c.Calls) > 1 || !connected(c) || separate(c, c.Calls[0]) {
		return false
	}
	call := c.Calls[0]
	size, ok := messageSize(c, row, call)
	if !ok || size > shortMessage {
		return false
	}
	b := burstOf(c, row, call)
	if b == nil {
		return false
	}
	each := max(2, min(b.sends, packet/max(1, size)))
	c.Callees = outlets
	c.Confidence = rule.Likely // the receiver may take one message in a packet only
	c.Fraction = &rule.Fraction{Expect: 0.9 * (1 - 1/each), Low: 0.5 * (1 - 1/each), High: 1}
	c.Cause = fmt.Sprintf("%s writes each message, of %s on average, to %s immediately, and %s sends %s messages in a row (%s), without waiting for replies: a system call for each message, and perhaps a packet.",
		symbol.Short(funcname.Typed(c.Site.Function)), units.Bytes(size), writerText(c.Place, call), syntax.FuncName(b.place), strings.TrimSuffix(evidence.Times(b.sends), " times"), lineList(b.lines))
	c.Fix = "Collect the messages in a buffer, and send it when it is full or after a short time, such as 100 ms. On UDP, fill packets to about 1,400 bytes, if the receiver takes several messages in one, such as lines." + offered(c)
	if datagrams(c, call) {
		c.Fix += batched
	}
	spent, samples := stacks.Sum(c.CPU)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:    "CPU in the write calls of this line",
		Value:   fmt.Sprintf("%s (%s)", units.Seconds(float64(spent)/1e9), units.Some(float64(samples), "sample")),
		Command: evidence.ListCommand(c.Pass, "cpu", c.Site.Function),
	})
	return true
}

// messageSize returns the mean number of bytes that the function of a line gets to write, as
// counted.
func messageSize(c *finder.Case, row *site.Row, call *ast.CallExpr) (float64, bool) {
	f := c.Pass.Inputs.Of(row.Stack[row.Owner].Function)
	sig := syntax.SignatureOf(c.Place)
	if f == nil || sig == nil || len(call.Args) == 0 {
		return 0, false
	}
	v := syntax.LocalVar(c.Place, call.Args[0])
	if v == nil {
		return 0, false
	}
	i := syntax.ParamIndex(sig, v)
	if i < 0 || i >= len(f.Given) || f.Given[i].Texts == 0 {
		return 0, false
	}
	return f.Given[i].Mean(), true
}

// burstOf returns the function nearest to a line that sends several messages each time that it is
// called, to the same connection; nil if there is none, or if something waits for replies.
func burstOf(c *finder.Case, row *site.Row, call *ast.CallExpr) *burst {
	w := followed{at: c.Place, to: writer(c.Place, call)}
	// The other patterns judge loops of the program, if the syntax shows that a piece is small.
	client := c.Site.Owner.Kind == gocode.Dependency || !small(c, call) && !built(c.Place, call)
	for i := row.Owner + 1; i < len(row.Stack) && i <= row.Owner+mostFrames; i++ {
		f := row.Stack[i]
		place, ok := c.Pass.Syntax.At(f.File, f.Line)
		if k := f.Owner.Kind; !ok || k != gocode.Main && k != gocode.Dependency || replied(c, w.at, syntax.Body(w.at)) {
			return nil
		}
		up := w.called(place, row.Stack[i-1].Function)
		if up == nil {
			return nil
		}
		if b := bursting(c, f, place, w.to); b != nil {
			loop := repeating(place, up)
			switch {
			case !client && loop != nil:
				return nil
			case loop == nil && waitsAmong(place, b.lines) || reads(c.Pass, f):
				return nil
			case loop != nil && (replied(c, place, loop) || waits(c, f, place, loop, row.Stack[i+1:]) || w.to != nil && !loops.FromOutside(place, loop, w.to)):
				return nil
			}
			return b
		}
		client = client || f.Owner.Kind == gocode.Dependency
	}
	return nil
}

// bursting returns the lines of a function that lead to the writes of a match, if it writes often
// each time that it is called, as counted.
func bursting(c *finder.Case, f *site.Frame, p *gocode.Place, to ast.Expr) *burst {
	b := &burst{place: p}
	perUnit := 0.0
	for _, r := range c.CPU {
		i := slices.IndexFunc(r.Stack, func(at *site.Frame) bool { return at.Function == f.Function && at.File == f.File })
		if i < 0 || slices.Contains(b.lines, r.Stack[i].Line) {
			continue
		}
		at := *r.Stack[i]
		e, ok := evidence.Executions(c.Pass, at)
		place, known := c.Pass.Syntax.At(at.File, at.Line)
		if !ok || !known || !evidence.Hot(c.Pass, e) || !sends(place, to) {
			continue
		}
		b.lines, b.sends, perUnit = append(b.lines, at.Line), b.sends+e.PerCall, perUnit+e.PerUnit
	}
	writes, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || b.sends < leastEach || writes.PerUnit < 0.5*perUnit {
		return nil
	}
	slices.Sort(b.lines)
	return b
}

// sends reports whether a line has a call that gets the client, as its receiver or an argument.
func sends(p *gocode.Place, client ast.Expr) bool {
	for _, call := range syntax.Calls(p) {
		for _, e := range append(slices.Clone(call.Args), syntax.Receiver(call)) {
			if client == nil || e != nil && syntax.Same(p, e, client) {
				return true
			}
		}
	}
	return false
}

// mostReplied is how many calls deep a reply to a message is searched.
const mostReplied = 6

// replied reports whether code that sends a message waits for a reply to it.
func replied(c *finder.Case, p *gocode.Place, in ast.Node) bool {
	found := loops.Waits(p, in) || waitsBelow(c, p, in, mostReplied, map[ast.Node]bool{})
	ast.Inspect(in, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found && p.Callee(call) != nil {
			name := strings.ToLower(p.Callee(call).Name())
			found = slices.ContainsFunc([]string{"read", "recv", "receive", "await", "wait", "roundtrip", "expect"}, func(reads string) bool { return strings.HasPrefix(name, reads) })
		}
		return !found
	})
	return found
}

// waitsAmong reports whether a function waits between two of the lines.
func waitsAmong(p *gocode.Place, lines []int) bool {
	var first, last ast.Node
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && slices.Contains(lines, syntax.Line(p, call.Pos())) {
			if first == nil {
				first = call
			}
			last = call
		}
		return true
	})
	return first != nil && loops.WaitsBetween(p, first, last)
}

// reads reports whether the profile shows that a function reads from connections, or that
// something that it calls does.
func reads(p *rule.Pass, f *site.Frame) bool {
	found := false
	p.EachRow(func(r *site.Row) {
		i := slices.IndexFunc(r.Stack, func(at *site.Frame) bool { return at.Function == f.Function })
		found = found || slices.ContainsFunc(r.Stack[:max(i, 0)], func(at *site.Frame) bool {
			return funcname.Match(at.Function, "net.(*conn).Read", "net.(*UDPConn).Read*", "os.(*File).Read")
		})
	})
	return found
}

// offered names what the package of a dependency has that may collect messages, by its name.
func offered(c *finder.Case) string {
	names := syntax.Offered(c.Place, "Buffered", "Batch")
	if c.Site.Owner.Kind != gocode.Dependency || len(names) == 0 || len(names) > mostOffered {
		return ""
	}
	return fmt.Sprintf(" Package %s has %s: see whether that collects messages.", c.Place.Pkg.Name(), funcname.List(names))
}

// lineList writes lines: "line 5", "lines 5, 7 and 9".
func lineList(lines []int) string {
	var words []string
	for _, l := range lines {
		words = append(words, strconv.Itoa(l))
	}
	if len(words) == 1 {
		return "line " + words[0]
	}
	return "lines " + funcname.List(words)
}
