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
	"errors"
	"fmt"
	"io"
	"sync"
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

func ask(id int) (bool, error) { return id > 3, nil }

func either(id int) error {
	for {
		ok, err := ask(id)
		if err != nil || ok {
			return err
		}
		time.Sleep(time.Millisecond) //@ polls either
	}
}

func tried(id int) error {
	for {
		ok, err := ask(id)
		if err == nil || ok {
			return nil
		}
		time.Sleep(time.Millisecond) //@ retries tried
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

var errPending = errors.New("pending")

type record struct {
	ready  bool
	status int
}

type book interface {
	get(ctx context.Context, id int) (*record, error)
	find(id int) (record, bool, error)
}

type response struct{ StatusCode int }

func until(ctx context.Context, every time.Duration, cond func() (bool, error)) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select { //@ polls until
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		ok, err := cond()
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
	}
}

func attempts(b book, id int) (record, error) {
	for i := 0; i < 50; i++ {
		r, ok, err := b.find(id)
		if err != nil {
			return record{}, fmt.Errorf("attempt %d: %w", i, err)
		}
		if ok {
			return r, nil
		}
		time.Sleep(time.Millisecond) //@ polls attempts
	}
	return record{}, errPending
}

func ranged(ctx context.Context, b book, id int) *record {
	for range 50 {
		r, err := b.get(ctx, id)
		if err != nil {
			break
		}
		switch {
		case r.ready:
			return r
		}
		time.Sleep(time.Millisecond) //@ polls ranged
	}
	return nil
}

func pending(ctx context.Context, b book, id int) (*record, error) {
	for {
		r, err := b.get(ctx, id)
		if err == nil {
			return r, nil
		}
		if !errors.Is(err, errPending) {
			return nil, err
		}
		time.Sleep(time.Millisecond) //@ polls pending
	}
}

func turned(ctx context.Context, b book, id int) (*record, error) {
	for {
		r, err := b.get(ctx, id)
		if err != nil {
			return nil, err
		}
		if !r.ready {
			time.Sleep(time.Millisecond) //@ polls turned
			continue
		}
		return r, nil
	}
}

func timed(d *record) bool {
	for start := time.Now(); time.Since(start) < time.Second; {
		if d.ready {
			return true
		}
		time.Sleep(time.Millisecond) //@ polls timed
	}
	return false
}

func locked(mu *sync.Mutex) {
	for !mu.TryLock() {
		time.Sleep(time.Millisecond) //@ polls locked
	}
}

func both(d *record) {
	for i := 0; i < 9 && !d.ready; i++ {
		time.Sleep(time.Millisecond) //@ polls both
	}
}

func timer(ctx context.Context, d *record) error {
	for !d.ready {
		t := time.NewTimer(time.Millisecond)
		select { //@ polls timer
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
	return nil
}

func retried(ctx context.Context, b book, id int) (*record, error) {
	for i := 0; i < 5; i++ {
		r, err := b.get(ctx, id)
		if err == nil {
			return r, nil
		}
		time.Sleep(time.Millisecond) //@ retried
	}
	return nil, errPending
}

func failing(ctx context.Context, b book, id int) (*record, error) {
	for ctx.Err() == nil {
		r, err := b.get(ctx, id)
		if err != nil {
			time.Sleep(time.Millisecond) //@ failing
			continue
		}
		return r, nil
	}
	return nil, ctx.Err()
}

func unavailable(do func() (*response, error)) (*response, error) {
	for {
		resp, err := do()
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < 500 {
			return resp, nil
		}
		time.Sleep(time.Millisecond) //@ unavailable
	}
}

func longer(d *record) {
	pause := time.Millisecond
	for !d.ready {
		time.Sleep(pause) //@ longer
		pause *= 2
	}
}

func periodic(ctx context.Context, b book) error {
	for {
		if _, err := b.get(ctx, 3); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		default:
		}
		time.Sleep(time.Millisecond) //@ periodic
	}
}

func numbered(b book) {
	for i := 0; i < 9; i++ {
		if _, ok, _ := b.find(i); ok {
			return
		}
		time.Sleep(time.Millisecond) //@ numbered
	}
}

func main() {}
`
	for name, place := range ruletest.Places(t, program) {
		wait := pause(place)
		got := wait != nil && loopOf(place, wait) != nil && pollsAt(place, loopOf(place, wait), wait)
		if want := len(name) > 6 && name[:6] == "polls "; got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
