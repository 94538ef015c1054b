package wall

import "github.com/hone-go/hone/exectrace"

// lines numbers the lines that Blame returns, with one call per stack.
type lines struct {
	byStack []int32 // StackID → number plus one
	number  map[exectrace.Line]int32
	list    []exectrace.Line
}

// of returns the number of the line that Blame returns for a stack.
func (l *lines) of(t *exectrace.Trace, s exectrace.StackID) int32 {
	for int(s) >= len(l.byStack) {
		l.byStack = append(l.byStack, make([]int32, max(256, len(l.byStack)))...)
	}
	if n := l.byStack[s]; n > 0 {
		return n - 1
	}
	line := t.Blame(s)
	n, ok := l.number[line]
	if !ok {
		if l.number == nil {
			l.number = map[exectrace.Line]int32{}
		}
		n = int32(len(l.list))
		l.number[line] = n
		l.list = append(l.list, line)
	}
	l.byStack[s] = n + 1
	return n
}
