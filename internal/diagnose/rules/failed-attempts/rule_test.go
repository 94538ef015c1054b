package failedattempts

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestTries: pauses in loops that try again until a call succeeds, and in others.
func TestTries(t *testing.T) {
	const program = `package main

import (
	"context"
	"errors"
	"net/http"
	"time"
)

func call() error                          { return nil }
func value() (int, error)                  { return 0, nil }
func ready() bool                          { return true }
func retryable(err error) bool             { return err != nil }
func harmless(err error) bool              { return err == nil }
func fetch(i int) (*http.Response, error)  { return nil, nil }

func loops(ctx context.Context, list []int) (int, error) {
	for range 3 {
		if err := call(); err == nil {
			return 0, nil
		}
		time.Sleep(time.Second) //@ again counts
	}
	var err error
	for i := 0; i < 3; i++ {
		var n int
		if n, err = value(); err != nil {
			time.Sleep(time.Second) //@ again continues
			continue
		}
		return n, nil
	}
	for {
		_, err = value()
		if err == nil {
			break
		}
		if !retryable(err) {
			return 0, err
		}
		select { //@ again with a context
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Second):
		}
	}
	for {
		n, err := value()
		if !retryable(err) {
			return n, err
		}
		time.Sleep(time.Second) //@ again as a function says
	}
	for range 3 {
		n, err := value()
		switch {
		case err == nil:
			return n, nil
		case !retryable(err):
			return 0, err
		}
		time.Sleep(time.Second) //@ again a switch
	}
	for range 3 {
		n, err := value()
		if retryable(err) {
			time.Sleep(time.Second) //@ again as long as a function says so
			continue
		}
		return n, err
	}
	for i := range 4 {
		resp, err := fetch(i)
		if err == nil && resp.StatusCode < 500 {
			return resp.StatusCode, nil
		}
		time.Sleep(time.Second) //@ again a status
	}
	for i := range 4 {
		resp, err := fetch(i)
		if err != nil || resp.StatusCode >= 500 {
			<-time.After(time.Second) //@ again a timer
			continue
		}
		return resp.StatusCode, nil
	}
	for {
		if err := call(); err != nil {
			time.Sleep(time.Second) //@ again otherwise
		} else {
			break
		}
	}
	for _, x := range list {
		_, err := fetch(x)
		if !harmless(err) {
			return 0, err
		}
		time.Sleep(time.Second) //@ none paces, but for some errors
	}
	for !ready() {
		time.Sleep(time.Second) //@ none polls
	}
	for _, x := range list {
		if _, err := fetch(x); err != nil {
			return 0, err
		}
		time.Sleep(time.Second) //@ none paces
	}
	for _, x := range list {
		if _, err := fetch(x); err != nil {
			continue
		}
		time.Sleep(time.Second) //@ none skips what fails
	}
	for {
		if err = call(); errors.Is(err, context.Canceled) {
			return 0, err
		}
		time.Sleep(time.Second) //@ none never ends
	}
}

func main() { loops(nil, nil) }
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		want, got := names[s.Line], "none"
		if want == "" {
			continue
		}
		place := p.Place(s)
		if wait := pause(place); wait == nil {
			t.Errorf("line %d: no pause", s.Line)
		} else if try, _ := tries(place, place.LoopAround(wait)); try != nil {
			got = "again"
		}
		if !strings.HasPrefix(want, got) {
			t.Errorf("line %d: %s, want %q", s.Line, got, want)
		}
	}
}

// TestReplyAt: selects that wait for an answer until a timer ends the wait, and others.
func TestReplyAt(t *testing.T) {
	const program = `package main

import (
	"context"
	"time"
)

type job struct{ done chan int }

func begin(chan<- int) {}

func asks(ctx context.Context, jobs chan job, news chan int, d time.Duration) int {
	reply := make(chan int, 1)
	begin(reply)
	select { //@ reply
	case n := <-reply:
		return n
	case <-time.After(d):
	}
	j := &job{done: make(chan int)}
	jobs <- *j
	t := time.NewTimer(d)
	select { //@ j.done
	case n := <-j.done:
		return n
	case <-ctx.Done():
		return 0
	case <-t.C:
	}
	hedged := make(chan int, 2)
	begin(hedged)
	select { //@ none another attempt
	case n := <-hedged:
		return n
	case <-time.After(d):
		begin(hedged)
	}
	select { //@ none the last attempt
	case n := <-hedged:
		return n
	case <-time.After(d):
	}
	select { //@ none news of others
	case n := <-news:
		return n
	case <-time.After(d):
	}
	full := make(chan struct{})
	select { //@ none a window
	case <-full:
	case <-time.After(d):
	}
	select { //@ none a pause
	case <-ctx.Done():
	case <-time.After(d):
	}
	again := make(chan int)
	for {
		select { //@ none a loop
		case n := <-again:
			return n
		case <-time.After(d):
		}
	}
}

func main() { asks(nil, nil, nil, 0) }
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		want, got := names[s.Line], replyAt(p.Place(s))
		if got == "" {
			got = "none"
		}
		if want != "" && !strings.HasPrefix(want, got) {
			t.Errorf("line %d: %s, want %q", s.Line, got, want)
		}
	}
}
