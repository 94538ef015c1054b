package chaniter_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/chaniter"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const iterators = `package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
)

type set struct {
	mu sync.RWMutex
	m  map[string]bool
	l  []string
}

func (s *set) Iter() <-chan string {
	ch := make(chan string)
	go func() { //@ + keys of a map
		for k := range s.m {
			ch <- k
		}
		close(ch)
	}()
	return ch
}

func (s *set) Locked() <-chan string {
	ch := make(chan string, len(s.l))
	go func() { //@ + a list, with a lock
		s.mu.RLock()
		defer s.mu.RUnlock()
		defer close(ch)
		for i := 0; i < len(s.l); i++ {
			ch <- s.l[i]
		}
	}()
	return ch
}

type pair struct {
	i int
	v any
}

type iter struct{ ch chan *pair }

func newIter(ch chan *pair) *iter { return &iter{ch: ch} }

func send(ctx context.Context, l []string, ch chan *pair) {
	defer close(ch)
	for i, v := range l {
		select {
		case <-ctx.Done():
			return
		case ch <- &pair{i, v}:
		}
	}
}

func (s *set) Iterate(ctx context.Context) *iter {
	ch := make(chan *pair, len(s.l))
	go send(ctx, s.l, ch) //@ + a function of the package
	return newIter(ch)
}

type iterator struct {
	c    chan string
	stop chan struct{}
}

func newIterator() (*iterator, chan<- string, <-chan struct{}) {
	i := &iterator{make(chan string), make(chan struct{})}
	return i, i.c, i.stop
}

func (s *set) Iterator() *iterator {
	it, ch, stop := newIterator()
	go func() { //@ + stopped by another channel
	L:
		for k := range s.m {
			select {
			case <-stop:
				break L
			case ch <- k:
			}
		}
		close(ch)
	}()
	return it
}

func (s *set) Field() *iterator {
	it := &iterator{c: make(chan string)}
	go func() { //@ + a field of the result
		defer close(it.c)
		for k := range s.m {
			it.c <- k
		}
	}()
	return it
}

func shards(all []*set) (chans []chan string) {
	chans = make([]chan string, len(all))
	for i, s := range all {
		go func(i int, s *set) { //@ + one of several channels
			chans[i] = make(chan string, len(s.m))
			for k := range s.m {
				chans[i] <- k
			}
			close(chans[i])
		}(i, s)
	}
	return chans
}

func (s *set) count() (n int) {
	ch := make(chan string)
	go func(out chan<- string) { //@ + ranged over where it is started
		for k := range s.m {
			out <- k
		}
		close(out)
	}(ch)
	for range ch {
		n++
	}
	return n
}

type tree struct{ l []string }

func (t *tree) Ascend(f func(string) bool) {
	for _, k := range t.l {
		if !f(k) {
			return
		}
	}
}

func (t *tree) Keys() <-chan string {
	ch := make(chan string)
	go func() { //@ + a method that visits
		t.Ascend(func(k string) bool {
			ch <- k
			return true
		})
		close(ch)
	}()
	return ch
}

func work(s string) string {
	for range 100 {
		s += s[:1]
	}
	return s
}

func (s *set) Computed() <-chan string {
	ch := make(chan string)
	go func() { //@ - computes each element
		for k := range s.m {
			ch <- work(k)
		}
		close(ch)
	}()
	return ch
}

func numbers() <-chan int {
	ch := make(chan int)
	go func() { //@ - never ends
		for i := 0; ; i++ {
			ch <- i
		}
	}()
	return ch
}

func files(dir string) <-chan string {
	ch := make(chan string)
	go func() { //@ - reads directories
		filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error {
			ch <- p
			return nil
		})
		close(ch)
	}()
	return ch
}

func double(in <-chan int) <-chan int {
	ch := make(chan int)
	go func() { //@ - a stage of a pipeline
		for v := range in {
			ch <- 2 * v
		}
		close(ch)
	}()
	return ch
}

func divided(all []string, f func(string)) {
	ch := make(chan string)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() { //@ - a worker
			defer wg.Done()
			for s := range ch {
				f(s)
			}
		}()
	}
	go func() { //@ - for workers
		for _, s := range all {
			ch <- s
		}
		close(ch)
	}()
	wg.Wait()
}

func (s *set) feed(ch chan string) {
	go func() { //@ - a channel of the caller
		for k := range s.m {
			ch <- k
		}
		close(ch)
	}()
}

func one(s string) <-chan string {
	ch := make(chan string, 1)
	go func() { //@ - one result
		ch <- work(s)
		close(ch)
	}()
	return ch
}

func first(l []string) chan string {
	ch := make(chan string)
	go func() { //@ - one value, no loop
		ch <- l[0]
		close(ch)
	}()
	return ch
}

func counted(n int) <-chan int {
	ch := make(chan int)
	go func() { //@ - numbers of a loop
		for i := 0; i < n; i++ {
			ch <- i
		}
		close(ch)
	}()
	return ch
}

func ranged(n int) <-chan int {
	ch := make(chan int)
	go func() { //@ - numbers of a range
		for i := range n {
			ch <- i
		}
		close(ch)
	}()
	return ch
}

func main() {
	s := &set{}
	counted(1)
	ranged(1)
	_ = s.count()
	divided(nil, func(string) {})
	for v := range double(numbers()) {
		_ = v
	}
	shards(nil)
	files(".")
	one("")
	first(nil)
	s.feed(nil)
	s.Iter()
	s.Locked()
	s.Iterate(context.Background())
	s.Iterator()
	s.Field()
	s.Computed()
	(&tree{}).Keys()
}
`

// TestAt: goroutines that only go over what is in memory, and others.
func TestAt(t *testing.T) {
	n := 0
	for name, p := range ruletest.Places(t, iterators) {
		n++
		it, ok := chaniter.At(p)
		if want := name[0] == '+'; ok != want {
			t.Errorf("%s: %t", name, ok)
		}
		if ok && len(it.Lines) == 0 {
			t.Errorf("%s: no line that sends", name)
		}
	}
	if n != 19 {
		t.Errorf("%d places", n)
	}
}
