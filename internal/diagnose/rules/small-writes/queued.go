package smallwrites

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastQueued is how many messages a goroutine must write, on average, each time that it is
	// woken: the others were in its channel already.
	leastQueued = 3
	// mostQueued is the number of messages that one write takes at most, for the prediction.
	mostQueued = 32
	// leastSeen is the minimum number of waits at both ends of the channel: the trace, which may be
	// shorter than the run, shows the loop.
	leastSeen = 20
	// leastWritten is the minimum number of writes during the trace.
	leastWritten = 500
)

// flushing starts from buffers that are flushed, which may be after each message.
func flushing() finder.Calls {
	return finder.Calls{Functions: []string{"bufio.(*Writer).Flush"}}
}

// queued is a loop that takes messages from a channel and writes each of them.
type queued struct {
	place *gocode.Place
	loop  ast.Node
	from  ast.Expr // the channel
	file  string   // of the loop, as in profiles
	each  float64  // messages that it writes each time that it is woken
}

// judgeQueued judges a goroutine that writes each message of a channel by itself, although the next
// ones are in the channel: the trace shows that it seldom waits for one.
func judgeQueued(c *finder.Case) bool {
	row := stacks.Largest(c.CPU)
	if row == nil || row.Owner < 0 || len(c.Calls) > 1 || synced(c.Place) || c.Pass.Trace == nil || !cheap(c) || inParts(c.Place, c.Calls[0]) || separate(c, c.Calls[0]) {
		return false
	}
	q := queueOf(c, row, c.Calls[0])
	if q == nil {
		return false
	}
	each := min(q.each, mostQueued)
	c.Callees = outlets
	c.Confidence = rule.Likely // a message may have to go out before the next is taken
	c.Fraction = &rule.Fraction{Expect: 0.9 * (1 - 1/each), Low: 0.4 * (1 - 1/each), High: 1}
	c.Cause = fmt.Sprintf("The loop on line %d of %s takes messages from %s and writes each of them to %s by itself, a system call each, although the next ones are there: it writes %s messages for each time that it waits for one.",
		syntax.Line(q.place, q.loop.Pos()), syntax.FuncName(q.place), syntax.Text(q.from), writerText(c.Place, c.Calls[0]), units.Number(q.each))
	c.Fix = fmt.Sprintf("Write into a bufio.Writer, and flush it only when %s is empty: take the next message in a select with a default case that flushes, or while len(%s) > 0. No message then waits longer than now.",
		syntax.Text(q.from), syntax.Text(q.from))
	if datagrams(c, c.Calls[0]) {
		c.Fix = fmt.Sprintf("Append messages to one slice up to about 1,400 bytes, which a UDP packet carries, while len(%s) > 0, and send that, if the receiver takes several in one, such as lines.", syntax.Text(q.from)) + batched
	}
	c.Evidence = append(c.Evidence, rule.Evidence{What: "messages written for each wait of the goroutine in the trace", Value: units.Number(q.each), Command: evidence.ViewCommand(c.Pass, "blocking")})
	return true
}

// queueOf returns the loop nearest to a line that takes a message from a channel for each write.
func queueOf(c *finder.Case, row *site.Row, call *ast.CallExpr) *queued {
	w, at := followed{at: c.Place, to: writer(c.Place, call)}, call
	for i := row.Owner; i < len(row.Stack) && i <= row.Owner+mostFrames; i++ {
		f := row.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			return nil
		}
		if i > row.Owner {
			place, ok := c.Pass.Syntax.At(f.File, f.Line)
			if !ok {
				return nil
			}
			if at = w.called(place, row.Stack[i-1].Function); at == nil {
				return nil
			}
			w.at = place
		}
		for _, loop := range loops.Around(w.at, at) {
			from := received(w.at, loop, at)
			if from == nil || w.to != nil && !loops.FromOutside(w.at, loop, w.to) || reads(c.Pass, f) {
				return nil
			}
			return seldomWaits(c, &queued{place: w.at, loop: loop, from: from, file: f.File})
		}
	}
	return nil
}

// inParts reports whether a function has another call like one that writes: judgePart knows more.
func inParts(p *gocode.Place, write *ast.CallExpr) bool {
	w, found := writer(p, write), false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && call != write && p.CalleeName(call) == p.CalleeName(write) {
			to := writer(p, call)
			found = found || w == nil || to != nil && syntax.Same(p, to, w)
		}
		return !found
	})
	return found
}

// received returns the channel that a loop takes its messages from, each before the write; nil when
// it takes them from none, or from several.
func received(p *gocode.Place, loop, write ast.Node) (from ast.Expr) {
	if r, ok := loop.(*ast.RangeStmt); ok {
		if message(p, r.X) {
			return r.X
		}
		return nil
	}
	n := 0
	ast.Inspect(loops.Body(loop), func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			n += 2 // it may take several messages before it writes
		case *ast.UnaryExpr:
			if x.Op == token.ARROW && message(p, x.X) && x.Pos() < write.Pos() {
				from = x.X
				n++
			}
		}
		return true
	})
	if n != 1 {
		return nil
	}
	return from
}

// message reports whether a channel carries messages: no signals, ticks or errors.
func message(p *gocode.Place, channel ast.Expr) bool {
	t := p.TypeOf(channel)
	if t == nil {
		return false
	}
	of, ok := t.Underlying().(*types.Chan)
	if !ok {
		return false
	}
	if s, ok := of.Elem().Underlying().(*types.Struct); ok && s.NumFields() == 0 {
		return false
	}
	return !funcname.Match(of.Elem().String(), "time.Time", "error", "bool", "os.Signal", "chan *")
}

// leastRoom is the minimum number of messages that a channel has room for.
const leastRoom = 4

// buffered reports whether the source shows that a channel has room for messages.
func buffered(p *gocode.Place, channel ast.Expr) bool {
	made := syntax.MadeAs(p, channel)
	if made == nil || len(made.Args) < 2 {
		return false
	}
	n, constant := syntax.ConstInt(p, made.Args[1])
	return !constant || n >= leastRoom
}

// seldomWaits completes a loop whose goroutines wait seldom for a message; nil for others.
func seldomWaits(c *finder.Case, q *queued) *queued {
	written := writtenTraced(c)
	if written < leastWritten {
		return nil
	}
	first, last := syntax.Line(q.place, q.loop.Pos()), syntax.Line(q.place, q.loop.End())
	in := func(l exectrace.Line) bool { return l.File == q.file && l.Line >= first && l.Line <= last }
	full := buffered(q.place, q.from) // then senders wait too, for room
	waits, seen := int64(0), int64(0)
	for _, h := range c.Pass.Trace.Blocking.Handoffs {
		if in(h.Waiter) || in(h.Waker) {
			seen += h.Count
		}
		if in(h.Waiter) || !full && in(h.Waker) {
			waits += h.Count
		}
	}
	q.each = written / float64(max(1, waits))
	if seen < leastSeen || q.each < leastQueued {
		return nil
	}
	return q
}

// writtenTraced returns about how often a line ran during the trace; 0 when that is unknown.
func writtenTraced(c *finder.Case) float64 {
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok {
		return 0
	}
	ph, _ := c.Pass.Phase(recording.PhaseTrace)
	work, seconds := float64(ph.Requests), ph.Seconds
	if c.Pass.Manifest.Unit() == "run" {
		work, seconds = 1, ph.Seconds/float64(max(1, ph.Runs)) // the trace may be of one run
	}
	if length := c.Pass.Trace.Parallelism.Length; seconds > length {
		work *= length / seconds
	}
	return work * e.PerUnit
}
