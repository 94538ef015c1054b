package goroutineleak

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/site"
)

// TestUnclosed: the line that gets what belongs to a goroutine, if nothing ends it.
func TestUnclosed(t *testing.T) {
	const program = `package main

import "io"

func copied(r io.Reader) {}

func output() *io.PipeWriter {
	r, w := io.Pipe()
	go copied(r) //@ a result of output (main.go:42), and nothing calls Close on it
	return w
}

type feed struct{ c chan int }

func (f *feed) read() {}

func (f *feed) Stop() {}

func open() (*feed, error) {
	f := &feed{}
	go f.read() //@ none
	return f, nil
}

type counter struct{}

func (c *counter) run() {}

func count() *counter {
	c := &counter{}
	go c.run() //@ none
	return c
}

func idle() *feed {
	f := &feed{}
	go f.read() //@ none
	return f
}

func main() {
	_ = output()
	f, _ := open()
	defer f.Stop()
	count()
}
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		want := names[s.Line]
		a := unclosed(p, &site.Frame{Function: s.Function, File: s.File, Line: s.Line})
		cause, fix := a.cause, a.fix
		if (cause == "") != (want == "none") || want != "none" && !strings.Contains(cause, want) || (cause == "") != (fix == "") {
			t.Errorf("line %d: %q, want %q", s.Line, cause, want)
		}
	}
}
