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
		if !ok || loop.Pos() < s.Lock.End() {
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
