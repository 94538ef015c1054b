package locks

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// receivers says that a line of a section sends something to each of many receivers, and what to do
// about it; "" if it does not.
func (s *Section) receivers(line int) (cause, fix string) {
	for _, call := range s.Calls() {
		if syntax.Line(s.place, call.Lparen) != line || !sends(s.place.CalleeName(call)) {
			continue
		}
		loop, ok := s.place.LoopAround(call).(*ast.RangeStmt)
		if !ok || loop.Pos() < s.start {
			continue
		}
		all := syntax.Text(loop.X)
		return fmt.Sprintf(" It does so for each of %s: the slowest of them holds up all others, and everything that needs %s.", all, syntax.Text(s.Mutex)),
			fmt.Sprintf("Give each of %s a queue of limited size and a goroutine that sends what is in it. With %s held, only put the message into the queues, and drop a receiver whose queue is full.", all, syntax.Text(s.Mutex))
	}
	return "", ""
}

// sends reports whether a function sends something, by its name.
func sends(name string) bool {
	words := awaited.Words(name[strings.LastIndexByte(name, '.')+1:])
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"send", "write", "flush", "deliver", "notify", "push", "publish", "emit", "broadcast", "post"}, w)
	})
}

// stream returns the writer, a field beside the mutex, to which a line of a section sends
// something; "" if it sends nothing. It must not be used without the mutex.
func (s *Section) stream(line int) string {
	beside := ast.Unparen(s.Mutex)
	if sel, ok := beside.(*ast.SelectorExpr); ok {
		beside = sel.X
	}
	for _, call := range s.Calls() {
		if syntax.Line(s.place, call.Lparen) != line {
			continue
		}
		sending := sends(s.place.CalleeName(call))
		for i, e := range append([]ast.Expr{syntax.Receiver(call)}, call.Args...) {
			field, ok := e.(*ast.SelectorExpr)
			if !ok || i == 0 && !sending || !syntax.Same(s.place, field.X, beside) {
				continue
			}
			if t := s.place.TypeOf(field); t != nil && writes(t.String()) {
				return syntax.Text(field)
			}
		}
	}
	return ""
}

// writes reports whether values of a type are writers that one goroutine uses at a time.
func writes(t string) bool {
	return slices.Contains([]string{"net.Conn", "io.Writer", "io.WriteCloser", "io.ReadWriter", "io.ReadWriteCloser", "net/http.ResponseWriter",
		"*bufio.Writer", "*bufio.ReadWriter", "*net.TCPConn", "*net.UnixConn", "*crypto/tls.Conn", "*encoding/json.Encoder", "*encoding/gob.Encoder",
		"*encoding/xml.Encoder", "*encoding/csv.Writer", "*compress/gzip.Writer"}, t)
}
