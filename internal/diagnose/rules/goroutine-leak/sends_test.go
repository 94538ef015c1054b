package goroutineleak

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/site"
)

// TestSends: goroutines that wait to send, and what the source says about their number and about
// the reader. A go statement is marked with the name that its send has in brackets.
func TestSends(t *testing.T) {
	const program = `package main

import (
	"context"
	"time"
)

type source interface{ ask() int }

func first(sources []source) int {
	answers := make(chan int)
	for _, s := range sources {
		go ask(s, answers) //@ go ask
	}
	for range sources {
		if n := <-answers; n > 0 {
			return n
		}
	}
	return 0
}

func ask(s source, to chan<- int) {
	to <- s.ask() //@ [ask] room for the values of all senders: make(chan int, len(sources)) (main.go:11)
}

func grows(sources map[string]source) int {
	answers := make(chan int)
	more := len(sources) / 2
	for i := 0; i < more; i++ {
		go func() { //@ go grows
			answers <- i //@ [grows] the values of all senders (main.go:28), not for one
		}()
	}
	return <-answers
}

func pages() <-chan string {
	out := make(chan string, 8)
	go func() {
		defer close(out)
		for {
			out <- "page" //@ [] but find, which receives on line 51, leaves on line 53 before
		}
	}()
	return out
}

func find(name string) bool {
	all := pages()
	for p := range all {
		if p == name {
			return true
		}
	}
	return false
}

func late(ctx context.Context) error {
	done := make(chan error)
	go func() {
		time.Sleep(time.Second)
		done <- nil //@ [] room for this value: make(chan error, 1) (main.go:60)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func tick(t *time.Ticker) {
	for range t.C { //@ [] Stop does not close
	}
}

type request struct{ reply chan int }

func serve(reqs chan request) {
	for r := range reqs {
		r.reply <- 1 //@ [] none
	}
}

func twice(a, b chan int) {
	serve(nil)
	to := a
	if len(b) > 0 {
		to = b
	}
	to <- 2 //@ [] none
}

func main() {}
`
	p, names := ruletest.MadeUp(t, program)
	starts := map[string]*site.Frame{}
	for _, s := range p.Table.Sites {
		if name, ok := strings.CutPrefix(names[s.Line], "go "); ok {
			starts["["+name+"]"] = &s.Frame
		}
	}
	for _, s := range p.Table.Sites {
		name, want, ok := strings.Cut(names[s.Line], " ")
		if !ok || name == "go" {
			continue
		}
		a := ended(p, s, starts[name])
		if a.cause == "" {
			a = sends(p, s, starts[name])
		}
		if text := a.cause + " " + a.fix; (a.cause == "") != (want == "none") || want != "none" && !strings.Contains(text, want) {
			t.Errorf("line %d: %q, want %q", s.Line, text, want)
		}
	}
}
