package unbufferedlog

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastPassed is the minimum number of writes of a writer for each line that it gets: one that
	// collects lines writes less often.
	leastPassed = 0.9
	// mostText is the maximum mean size of what a writer gets, in bytes: more is a batch already.
	mostText = 2048
)

// written returns the writers of the program and of its modules through which a logger writes to a
// file in a row, the innermost first; false if it does not write, or has a buffer in between.
func written(r *site.Row, logs func(*site.Frame) bool) (writers []*site.Frame, ok bool) {
	below := false
	for _, f := range r.Stack {
		switch {
		case f.Function == "os.(*File).Write":
			below = true
		case !below:
		case logs(f):
			return writers, true
		case funcname.Match(f.Function, "io.*", "fmt.Fprint*", "gopkg.in/natefinch/lumberjack*", "github.com/natefinch/lumberjack*"):
		case (f.Owner.Kind == gocode.Main || f.Owner.Kind == gocode.Dependency) && isWrite(f):
			writers = append(writers, f)
		default:
			return nil, false
		}
	}
	return nil, false
}

// isWrite reports whether a frame is in a method Write or WriteString.
func isWrite(f *site.Frame) bool {
	return strings.HasSuffix(f.Function, ".Write") || strings.HasSuffix(f.Function, ".WriteString")
}

// has reports whether a frame is of the functions that users of the logger call.
func (l logger) has(f *site.Frame) bool { return funcname.Match(f.Function, l.calls...) }

// prints reports whether a frame is of the function that passes lines to the logger's writer.
func (l logger) prints(f *site.Frame) bool { return f.Function == l.output }

// event returns the index of the frame whose line logs; -1 for rows that are not below the logger.
func (l logger) event(r *site.Row) int {
	for i, f := range r.Stack {
		if i == 0 || !l.has(r.Stack[i-1]) || l.has(f) {
			continue
		}
		if k := f.Owner.Kind; k == gocode.Main || k == gocode.Dependency {
			return i
		}
		return -1
	}
	return -1
}

// through judges a line whose logger has a writer of the program: one that counts, that starts a
// new file when the last one is full, or that writes to several.
func (l logger) through(c *finder.Case) bool {
	var spent, part, samples int64
	var writer *site.Frame
	for _, r := range c.CPU {
		spent += r.Value
		writers, ok := written(r, l.prints)
		if ok = ok && len(writers) > 0; ok {
			writer = writers[0]
		}
		if ok || queues(r) {
			part, samples = part+r.Value, samples+r.Count
		}
	}
	if writer == nil || !each(c.Pass, &c.Site.Frame, writer) {
		return false
	}
	c.Allocs = nil
	share := float64(part) / float64(max(spent, 1))
	c.Fraction = buffered(share)
	name, known := l.called(c.Place)
	if !known {
		name = unknown
	}
	own := symbol.Short(funcname.Typed(writer.Function))
	c.Cause = fmt.Sprintf("%s passes each line to %s, which writes it directly to a file, pipe or terminal: a system call per line.", name, own)
	if size, ok := textSize(c.Pass, writer); ok {
		c.Cause = fmt.Sprintf("%s passes each line to %s, which writes it directly to a file, pipe or terminal: a system call per line, of %s on average.", name, own, units.Bytes(size))
	}
	c.Fix = "Put a bufio.Writer between the logger and this writer, and flush it after a short time, such as a second, and at exit. A goroutine that takes what it logs from a queue can flush whenever the queue is empty."
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:    "of the log line's CPU in write(2) and in waiting for it",
		Value:   fmt.Sprintf("%s (%s)", units.Percent(share), units.Some(float64(samples), "sample")),
		Command: evidence.ListCommand(c.Pass, "cpu", writer.Function),
	})
	return true
}

// each reports whether a writer writes each line that it gets to the file, as counted, or as its
// source shows, and does not have to wait for the disk.
func each(p *rule.Pass, line, writer *site.Frame) bool {
	place, ok := p.Syntax.At(writer.File, writer.Line)
	if !ok || len(syncs(place)) > 0 {
		return false
	}
	if from, ok := p.Syntax.At(line.File, line.Line); ok && len(syncs(from)) > 0 {
		return false
	}
	if size, ok := textSize(p, writer); ok && size > mostText {
		return false
	}
	logged, counted := evidence.Executions(p, *line)
	writes, known := evidence.Executions(p, *writer)
	if counted && known && logged.PerUnit > 0 {
		return writes.PerUnit >= leastPassed*logged.PerUnit
	}
	sig := syntax.SignatureOf(place)
	for _, call := range syntax.CallsOf(place, "(*os.File).Write", "(*os.File).WriteString", "(io.Writer).Write") {
		if v := syntax.LocalVar(place, call.Args[0]); v != nil && sig != nil && syntax.ParamIndex(sig, v) >= 0 {
			return true
		}
	}
	return false
}

// syncs returns the calls of a method Sync in the function of a place.
func syncs(p *gocode.Place) (calls []*ast.CallExpr) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && strings.HasSuffix(p.CalleeName(call), ").Sync") {
			calls = append(calls, call)
		}
		return true
	})
	return calls
}

// textSize returns the mean number of bytes that a writer gets to write, as counted.
func textSize(p *rule.Pass, writer *site.Frame) (float64, bool) {
	f := p.Inputs.Of(writer.Function)
	if f == nil {
		return 0, false
	}
	for i := range f.Given {
		if f.Given[i].Texts > 0 {
			return f.Given[i].Mean(), true
		}
	}
	return 0, false
}
