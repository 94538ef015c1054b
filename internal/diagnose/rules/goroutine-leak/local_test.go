package goroutineleak

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestLocalChannel: channels that a function makes and does not close, and others.
func TestLocalChannel(t *testing.T) {
	const program = `package main

func pool(items []int) (sum int) {
	jobs := make(chan int)
	for range 2 {
		go func() {
			for n := range jobs { //@ is closed, which pool makes (main.go:4) and does not close
				_ = n
			}
		}()
	}
	for _, n := range items {
		jobs <- n
	}
	return sum
}

func passed(items []int) {
	jobs := make(chan int, 4)
	go work(jobs)
	for _, n := range items {
		jobs <- n
	}
}

func work(jobs <-chan int) {
	for range jobs { //@ is closed, which passed makes (main.go:19) and does not close
	}
}

func closed(items []int) {
	jobs := make(chan int)
	defer close(jobs)
	go func() {
		for range jobs { //@ none
		}
	}()
}

func handed(items []int) {
	jobs := make(chan int)
	go func() {
		for range jobs { //@ none
		}
	}()
	feed(jobs)
}

func feed(jobs chan int) { close(jobs) }

func one() int {
	c := make(chan int)
	go func() { c <- 1 }()
	return <-c //@ none
}

func kept() chan int {
	c := make(chan int)
	go func() {
		for range c { //@ none
		}
	}()
	return c
}

func main() {}
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		want := names[s.Line]
		a := ended(p, s, nil)
		if (a.cause == "") != (want == "none") || want != "none" && !strings.Contains(a.cause, want) {
			t.Errorf("line %d: %q, want %q", s.Line, a.cause, want)
		}
	}
}
