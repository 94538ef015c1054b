package goroutineleak

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestEnded: functions that close the channel, and contexts, that would end the goroutine that
// waits on a line.
func TestEnded(t *testing.T) {
	const program = `package main

import (
	"context"
	"time"
)

type watch struct {
	stop, events chan int
	ctx          context.Context
}

func (w *watch) Close() { close(w.stop) }

func (w *watch) loop(t *time.Ticker) {
	for {
		select { //@ when (*main.watch).Close closes w.stop
		case <-t.C:
		case <-w.stop:
			return
		}
	}
}

func (w *watch) bound(t *time.Ticker) {
	for {
		select { //@ with the context w.ctx
		case n := <-w.events:
			_ = n
		case <-w.ctx.Done():
			return
		}
	}
}

func (w *watch) either(ctx context.Context) {
	for {
		select { //@ with one of the contexts w.ctx and ctx
		case <-w.ctx.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

func (w *watch) drain() {
	for range w.stop { //@ when (*main.watch).Close closes
	}
}

func (w *watch) one() int {
	n := <-w.stop //@ when (*main.watch).Close closes
	return n
}

func (w *watch) never() {
	for range w.events { //@ none
	}
}

func (w *watch) send() {
	w.events <- 3 //@ none
}

func local(c chan int) {
	<-c //@ none
}

func main() {}
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		want := names[s.Line]
		a := ended(p, s, nil)
		cause, fix := a.cause, a.fix
		if (cause == "") != (want == "none") || want != "none" && !strings.Contains(cause, want) || (cause == "") != (fix == "") {
			t.Errorf("line %d: %q, want %q", s.Line, cause, want)
		}
	}
}
