package narrowfanout

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestLimit: limits that a function makes for its own goroutines, and other channels.
func TestLimit(t *testing.T) {
	const program = `package main

import "sync"

type asker struct{ most int }

func rooms(hosts []string) {
	room := make(chan bool, 3)
	for range hosts {
		room <- true //@ the room of room = 3 (main.go:8)
		go func() { <-room }()
	}
}

func (a *asker) field(hosts []string) {
	room := make(chan struct{}, a.most)
	for range hosts {
		room <- struct{}{} //@ the room of room = 4 (main.go:16)
		go func() { <-room }()
	}
}

func workers(hosts []string) {
	jobs := make(chan string, 10)
	for i := 0; i < 2; i++ {
		go work(jobs)
	}
	for _, h := range hosts {
		jobs <- h //@ the number of workers = 2 (main.go:25)
	}
}

func work(jobs chan string) {
	for range jobs {
	}
}

func passed[T any](most int, hosts []T) {
	room := make(chan struct{}, most)
	for range hosts {
		room <- struct{}{} //@ the argument 5 of passed (main.go:78)
		go func() { <-room }()
	}
}

func shared(room chan struct{}) {
	room <- struct{}{} //@ none
}

func results(hosts []string) {
	out := make(chan string)
	for _, h := range hosts {
		go func() { out <- h }() //@ none
	}
	for range hosts {
		<-out
	}
}

func one(hosts []string) {
	jobs := make(chan string)
	go work(jobs)
	for _, h := range hosts {
		jobs <- h //@ none
	}
}

func waits(hosts []string) {
	var wg sync.WaitGroup
	for range hosts {
		wg.Go(func() {}) //@ none
	}
	wg.Wait()
}

func main() {
	(&asker{most: 4}).field(nil)
	passed(5, []string{""})
}
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		place := p.Place(s)
		got := "none"
		if l := limitAt(p, place); l != nil {
			got = l.words()
		}
		if got != names[s.Line] {
			t.Errorf("line %d: %s, want %s", s.Line, got, names[s.Line])
		}
	}
}
