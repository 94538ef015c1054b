// Package smallwrites finds loops that write piece by piece to a file or connection.
package smallwrites

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is small-writes.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "small-writes",
		Kind:  rule.IO,
		Title: "Loop writes piece by piece, a system call each",
		Doc:   doc,
		Uses:  []rule.Need{rule.NeedCounts, rule.NeedInputs, rule.NeedTrace},
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// The rows are the write calls. A line of 50 bytes fits 80 times into a buffer of 4
				// KiB, so nearly all of the calls go; copying the bytes to the kernel remains.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
				Specificity: 1,
				Sends:       true,
			},
			Lines: []finder.Line{{Start: writing(), Judge: judge}, {Start: executing(), Judge: judgeTemplate}, {Start: writing(), Judge: judgePart}, {Start: writing(), Judge: judgeMessage}, {Start: writing(), Judge: judgeQueued}, {Start: flushing(), Judge: judgeQueued}, {Start: finder.Frames(passer), Judge: judgePassed}},
		},
	}
}

// writing starts from calls that write one piece.
func writing() finder.Calls {
	return finder.Calls{
		Functions: append([]string{
			"fmt.Fprint*", "fmt.Print*", "io.WriteString", "encoding/json.(*Encoder).Encode", "encoding/gob.(*Encoder).Encode",
			"encoding/binary.Write", "net.(*TCPConn).Write", "net.(*UnixConn).Write", "net.(*UDPConn).Write", "crypto/tls.(*Conn).Write",
		}, outlets...),
		Types: []string{
			"fmt.Fprint*", "fmt.Print*", "io.WriteString", "(*encoding/json.Encoder).Encode", "(*encoding/gob.Encoder).Encode",
			"encoding/binary.Write", "(io.Writer).Write", "(io.StringWriter).WriteString",
			"(*os.File).Write", "(*os.File).WriteString", "(net.Conn).Write", "(*net.conn).Write", "(*crypto/tls.Conn).Write",
			"(net.PacketConn).WriteTo", "(*net.UDPConn).WriteTo", "(*net.UDPConn).WriteToUDP*",
		},
		Keep: stacks.Reaches([]string{"fmt.", "io.", "os.", "net.", "encoding/", "crypto/tls."}, outlets...),
	}
}

// executing starts from templates, which write each text and each value by itself.
func executing() finder.Calls {
	return finder.Calls{
		Functions: []string{"text/template.(*Template).Execute*", "html/template.(*Template).Execute*"},
		Keep:      stacks.Reaches([]string{"fmt.", "io.", "os.", "net.", "text/template.", "html/template."}, outlets...),
	}
}

func judgeTemplate(c *finder.Case) bool {
	c.Callees = outlets
	c.Cause = fmt.Sprintf("%s writes directly to %s: a system call for each text and each value of the template.", symbol.Short(c.Name()), syntax.Text(c.Calls[0].Args[0]))
	c.Fix = "Execute it into a bufio.Writer, call Flush afterwards and check its error."
	return true
}

const doc = `fmt.Fprintf to an *os.File or a net.Conn makes a system call for every piece:
half a microsecond and more, and perhaps a packet on a connection, while copying
a line into a buffer takes ten nanoseconds.

Put a bufio.Writer in front, call Flush after the loop and check its error. A
template writes piece by piece as well. So does a function that writes the header
of a message and then its body: put both into one slice, or use net.Buffers.

A module may do that: a function that gets a connection as an io.Writer writes a
header and a body to it. Pass it a bufio.Writer instead. The rule reports lines
that pass a file or a connection itself, if counts show several short writes for
each call, or the line is in a loop that does not wait.

So is a goroutine that takes messages from a channel and writes each of them, if
the trace shows that the next ones were there: flush when the channel is empty.

It is fine for interactive output, and where a crash must not lose a line. The
rule also finds loops in callers, through methods, locks, function values and
writers of the program that pass on what they get. It leaves alone loops that
wait between iterations (channels, reads, sleeps), writers that the loop creates,
and pieces that may be large: where the source does not show their size, those
that take more CPU than a short one does. On a connection it leaves alone what
waits for replies, in the loop or in what the loop calls.

A client that writes each message to its connection immediately, such as each
metric to a socket, is found if counts show that a function of the program sends
several in a row, and that they are short. Collect the messages in a buffer, and
send it when it is full or after a short time. Several messages in a UDP packet
need a receiver that separates them. The rule leaves alone packets of which each
is the encoding of a value, or has an address of its own.

Seen in the field: segmentio/parquet-go#157, dmachard/DNS-collector#1125,
quipo/statsd#30, DataDog/datadog-go#91 (a packet for each metric), gobwas/ws#62
(two writes for each frame).`

// outlets are the functions of the standard library that end in write(2), send(2) and the like.
var outlets = []string{"os.(*File).Write", "os.(*File).WriteString", "net.(*conn).Write", "net.(*UDPConn).WriteTo*"}

func judge(c *finder.Case) bool {
	var loop ast.Node
	in, known := "", true
	ok := !synced(c.Place) && c.All(func(call *ast.CallExpr) bool {
		if separate(c, call) {
			return false
		}
		if !small(c, call) {
			if !cheap(c) || connected(c) && !built(c.Place, call) {
				return false
			}
			known = false
		}
		if loop = loops.Repeating(c.Place, call); loop == nil {
			loop = loops.Each(c.Place)
		}
		if loop == nil {
			loop, in = above(c, call)
			return loop != nil && fixed(c.Place, call)
		}
		if to := addressed(c.Place, call); to != nil && !loops.FromOutside(c.Place, loop, to) {
			return false
		}
		return !waits(c, &c.Site.Frame, c.Place, loop, callersOf(c)) && outside(c.Place, loop, call) &&
			(!connected(c) || !answered(c, c.Place, loop)) && (known || often(c, &c.Site.Frame, c.Place, loop, call))
	})
	if !ok {
		return false
	}
	spent, samples := stacks.Sum(c.CPU)
	c.Callees = outlets
	c.Cause = fmt.Sprintf("The loop on line %d%s writes directly to %s: a system call for each piece.", syntax.Line(c.Place, loop.Pos()), in, writerText(c.Place, c.Calls[0]))
	c.Fix = "Write through a bufio.Writer and call Flush after the loop, checking its error."
	if in != "" {
		c.Fix = "Put a bufio.Writer in front of it and call Flush, checking its error: after the loop, or from time to time if the writer is kept longer. Or append the pieces to one slice and write that once."
	}
	if connected(c) {
		c.Cause = strings.Replace(c.Cause, "a system call for each piece", "a system call for each piece, and perhaps a packet", 1)
		c.Fix = "Collect the pieces in a buffer, and send it when it has some KiB and after the last one: with a bufio.Writer and Flush, or by appending them to one slice."
	}
	if datagrams(c, c.Calls[0]) {
		c.Cause = strings.Replace(c.Cause, "a system call for each piece, and perhaps a packet", "a system call and a packet for each piece", 1)
		c.Fix = "Append pieces to one slice up to about 1,400 bytes, which a UDP packet carries, and send that, if the receiver takes several in one, such as lines." + batched
		c.Confidence = rule.Likely
	}
	if !known {
		c.Confidence = rule.Likely // the pieces are small by what their writes cost
		c.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.5, High: 1}
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:    "CPU in the write calls of this line",
		Value:   fmt.Sprintf("%s (%s)", units.Seconds(float64(spent)/1e9), units.Some(float64(samples), "sample")),
		Command: evidence.ListCommand(c.Pass, "cpu", c.Site.Function),
	})
	return true
}

// synced reports whether a function waits for the disk after it wrote: a buffer would save little.
func synced(p *gocode.Place) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && p.CalleeName(call) == "(*os.File).Sync"
		return !found
	})
	return found
}

// writer returns the expression that a call writes to; nil for standard output.
func writer(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	switch name := p.CalleeName(call); {
	case strings.HasPrefix(name, "fmt.Print"):
		return nil
	case strings.HasPrefix(name, "fmt.Fprint"), name == "io.WriteString", name == "encoding/binary.Write":
		return call.Args[0]
	case strings.HasSuffix(name, ".Encoder).Encode"):
		if made, ok := syntax.Origin(p, syntax.Receiver(call)).(*ast.CallExpr); ok && len(made.Args) == 1 {
			return made.Args[0]
		}
	}
	return syntax.Receiver(call)
}

func writerText(p *gocode.Place, call *ast.CallExpr) string {
	if w := writer(p, call); w != nil {
		return syntax.Text(w)
	}
	return "standard output"
}

// outside reports whether the writer is the same in every iteration.
func outside(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	w := writer(p, call)
	return w == nil || loops.FromOutside(p, loop, w)
}
