package sleeppolling

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestTicks: loops that check at each tick whether they may end, and loops that are paced, that
// take events, or that try again.
func TestTicks(t *testing.T) {
	const program = `package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

func done(id int) (string, bool) { return "", id > 3 }

func ping() error { return nil }

func ranges(id int) string {
	t := time.NewTicker(time.Millisecond)
	for range t.C { //@ polls ranges
		if s, ok := done(id); ok {
			return s
		}
	}
	return ""
}

func selects(ctx context.Context, id int) (string, error) {
	t := time.NewTicker(time.Millisecond)
	limit := time.After(time.Second)
	for {
		select { //@ polls selects
		case <-ctx.Done():
			return "", ctx.Err()
		case <-limit:
			return "", fmt.Errorf("no result for %d", id)
		case <-t.C:
			if s, ok := done(id); ok {
				return s, nil
			}
		}
	}
}

func first(ctx context.Context, id int) string {
	for {
		if s, ok := done(id); ok {
			return s
		}
		select { //@ polls first
		case <-ctx.Done():
			return ""
		case <-time.After(time.Millisecond):
		}
	}
}

func alone(id int) {
	for {
		if _, ok := done(id); ok {
			break
		}
		<-time.After(time.Millisecond) //@ polls alone
	}
}

func paced(ctx context.Context, w io.Writer) {
	t := time.NewTicker(time.Millisecond)
	for {
		select { //@ paced
		case <-ctx.Done():
			return
		case <-t.C:
			fmt.Fprintln(w, "tick")
		}
	}
}

func events(ctx context.Context, c chan int) int {
	t := time.NewTicker(time.Millisecond)
	for {
		select { //@ events
		case n := <-c:
			return n
		case <-t.C:
			if _, ok := done(3); ok {
				return 0
			}
		}
	}
}

func retries() {
	for range time.Tick(time.Millisecond) { //@ retries
		if ping() == nil {
			return
		}
	}
}

func counts() {
	for i := 0; i < 3; i++ {
		<-time.After(time.Millisecond) //@ counts
		if _, ok := done(i); ok {
			return
		}
	}
}

func forever(ctx context.Context) {
	for {
		select { //@ forever
		case <-ctx.Done():
			return
		case <-time.After(time.Millisecond):
			done(3)
		}
	}
}

func main() {}
`
	for name, place := range ruletest.Places(t, program) {
		if got, want := ticks(place), len(name) > 6 && name[:6] == "polls "; got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
